"""What a recognizer, a voice and a detector must offer: a third party implements any of these in a page of code."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from voiceagent.audio.frame import Samples
from voiceagent.speech.traits import Traits


@dataclass(frozen=True, slots=True)
class Word:
    """One recognized or spoken word and its place in the sound, in milliseconds from the sound's start."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a recognizer made of one stretch of sound; `text` is empty when it heard no words.

    `no_speech` is the recognizer's own probability (0..1) that nobody spoke, `compression` the text's zlib ratio (above 2.4
    it repeats itself), `confidence` the mean log probability of its tokens. `traits` are its speaker's, on a line that tells
    people apart.
    """

    text: str
    language: str = "en"
    no_speech: float = 0.0
    compression: float = 1.0
    confidence: float = 0.0
    words: tuple[Word, ...] = ()
    traits: Traits | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Timing:
    """Where words of the sentence that is being spoken lie in its sound, in the order in which they are said.

    Milliseconds from the sentence's first sample; `Word.text` as it stands in the text handed in, or near enough to be found
    there. A voice that tells its words in several goes gives several of these, each before or with the sound it is about.
    """

    words: tuple[Word, ...]


class SpeechToText(Protocol):
    """Turns one stretch of speech into words; called from the event loop and must not block it."""

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        """Words of `sound` (16 kHz mono int16, any length). `partial`: the speaker has not finished; speed before care.

        Raises SpeechError when the engine fails.
        """
        ...


class TextToSpeech(Protocol):
    """Turns one sentence into sound, piece by piece."""

    def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """Yields 16 kHz mono int16 pieces of any length, the first as early as the engine can, and Timing where the voice knows
        its words' places; where it never does, what was heard is estimated by letters. Raises SpeechError."""
        ...


async def sound_of(voice: TextToSpeech, text: str) -> Samples:
    """All of a sentence's sound, without its timing. Raises SpeechError."""
    pieces = [piece async for piece in voice.speak(text) if not isinstance(piece, Timing)]
    return np.concatenate([np.zeros(0, dtype=np.int16), *pieces])


class VoiceDetector(Protocol):
    """Says how surely a 20 ms frame holds a voice; one object a line, since it remembers the frames before."""

    def probability(self, frame: Samples) -> float:
        """0..1 for a frame of shape (320,). Must take well under a millisecond: it is called on the event loop."""
        ...

    def reset(self) -> None:
        """Forgets the frames before."""
        ...
