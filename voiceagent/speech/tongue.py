"""Which languages one person has spoken so far, and how much that weighs for the next thing they say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from voiceagent.audio.frame import Samples, to_ms
from voiceagent.speech.engines import SpeechToText, Transcript

SURE: Final = -0.65
DOUBTED: Final = 0.4
LEAST_WORDS: Final = 3
"""What tells a person's language: at least so many words, of such a confidence, of which nobody doubts that they were spoken."""

WEIGHTS: Final = ((1_300, 200.0), (2_500, 20.0))
LONG_WEIGHT: Final = 5.0
"""How many times as likely the person's own language is in sound of up to so many ms, and in longer sound. Measured with
Whisper's base on made speech: a lone Spanish "sí" passes for English 140 times as likely as for Spanish, "no" and "vale" 3 times,
and short French words at most 10 times; a sentence is 30 to 1,000 times as likely what it is."""

Odds = Mapping[str, float]
"""By the code of a language: how many times as likely it is before anything is heard as one that is not named."""

NO_ODDS: Final[Odds] = MappingProxyType({})


class Tongue:
    """One person's, for as long as a call lasts."""

    def __init__(self) -> None:
        self.language: str | None = None

    def heard(self, words: Transcript) -> None:
        """What they said; enough of it, and sure enough, is their language until they speak another."""
        if len(words.text.split()) >= LEAST_WORDS and words.confidence >= SURE and words.no_speech < DOUBTED:
            self.language = words.language

    def odds(self, sound: Samples) -> Odds:
        """What is likely for this `sound` (16 kHz) by its length alone."""
        if self.language is None:
            return NO_ODDS
        weight = next((weight for most_ms, weight in WEIGHTS if to_ms(sound.size) <= most_ms), LONG_WEIGHT)
        return {self.language: weight}


@runtime_checkable
class Multilingual(Protocol):
    """A recognizer that chooses among languages, and can be told which one is likely."""

    async def transcribe_in(self, sound: Samples, odds: Odds, *, partial: bool = False) -> Transcript:
        """As SpeechToText.transcribe."""
        ...


async def words_of(stt: SpeechToText, sound: Samples, odds: Odds, *, partial: bool = False) -> Transcript:
    """What a recognizer hears, with regard to the odds where it can. Raises what it raises."""
    if odds and isinstance(stt, Multilingual):
        return await stt.transcribe_in(sound, odds, partial=partial)
    return await stt.transcribe(sound, partial=partial)
