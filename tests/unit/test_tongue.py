"""What a person has spoken so far, and what it weighs."""

import numpy as np
import pytest

from voiceagent.audio.frame import Samples, to_samples
from voiceagent.speech.chain import RecognizerChain
from voiceagent.speech.engines import Transcript
from voiceagent.speech.tongue import NO_ODDS, Odds, Tongue, words_of

WHERE = Transcript("¿A qué hora abren?", "es", confidence=-0.4, no_speech=0.1)


def of(ms: int) -> Samples:
    return np.zeros(to_samples(ms), dtype=np.int16)


def test_of_one_who_has_said_nothing_yet_nothing_is_likely() -> None:
    assert Tongue().odds(of(700)) == {}


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (WHERE, "es"),
        (Transcript("No.", "en", confidence=-0.3), None),
        (Transcript("I am not sure", "en", confidence=-0.9), None),
        (Transcript("you and you and you", "en", confidence=-0.5, no_speech=0.7), None),
    ],
    ids=["a sentence", "a lone word", "not sure", "perhaps nobody"],
)
def test_a_sentence_that_was_surely_said_tells_their_language(words: Transcript, language: str | None) -> None:
    tongue = Tongue()
    tongue.heard(words)
    assert tongue.language == language


def test_the_shorter_it_is_the_more_it_weighs_and_the_last_sentence_counts() -> None:
    tongue = Tongue()
    tongue.heard(WHERE)
    assert [tongue.odds(of(ms))["es"] for ms in (900, 1_300, 2_000, 8_000)] == [200, 200, 20, 5]
    tongue.heard(Transcript("What time do you open?", "en", confidence=-0.3))
    assert list(tongue.odds(of(900))) == ["en"]


class Choosing:
    """Hears Spanish where that is likely."""

    def __init__(self) -> None:
        self.told: list[tuple[Odds, bool]] = []

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        return await self.transcribe_in(sound, NO_ODDS, partial=partial)

    async def transcribe_in(self, sound: Samples, odds: Odds, *, partial: bool = False) -> Transcript:
        self.told.append((odds, partial))
        return Transcript("no", "es" if odds.get("es", 1.0) > 100 else "en")


class English:
    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        return Transcript("no", "en")


async def test_a_recognizer_that_chooses_is_told_also_through_a_chain_and_any_other_is_not() -> None:
    odds = {"es": 200.0}
    choosing = Choosing()
    heard = [
        await words_of(stt, of(700), odds, partial=partial)
        for stt in (choosing, RecognizerChain([choosing, English()]), English())
        for partial in (False, True)
    ]
    assert [words.language for words in heard] == ["es", "es", "es", "es", "en", "en"]
    assert choosing.told == [(odds, False), (odds, True)] * 2
