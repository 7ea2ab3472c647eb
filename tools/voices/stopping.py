"""How often a stop is heard by a line that sleeps while the agent sounds, and how late; in real time, by the real recognizer."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.voices.material import ESPEAK, espeak_says, in_room
from tools.voices.waking import PAUSE, TAKES, frames
from voiceagent.audio.frame import FRAME_MS, Samples, to_ms
from voiceagent.judgment.evaluation.measures import Share
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.engines import SpeechToText, TextToSpeech, sound_of
from voiceagent.voice.stopping import StopListener

WORDS: Final = ("Stop.", "Wait.")
OTHERS: Final = ("Pass me the salt.", "That is what I said.", "Good morning.")
_LOUD: Final = 300


@dataclass(frozen=True, slots=True)
class Stops:
    """What of it was heard, how many ms after its end, and what else was taken for a stop."""

    heard: Share
    late_ms: tuple[int, ...]
    wrongly: Share


async def stops(piper: TextToSpeech, recognizer: SpeechToText) -> Stops:
    """All the sayings, close to the microphone and some metres off."""
    wanted, others = await _sayings(WORDS, piper), await _sayings(OTHERS, piper)
    silero = Silero()
    late = [await _late(sound, recognizer, silero) for sound in wanted]
    wrongly = [await _late(sound, recognizer, silero) for sound in others]
    found = tuple(ms for ms in late if ms is not None)
    return Stops(Share(len(found), len(late)), found, Share(sum(ms is not None for ms in wrongly), len(wrongly)))


async def _sayings(texts: Sequence[str], piper: TextToSpeech) -> list[Samples]:
    joe = [await sound_of(piper, text) for text in texts for _ in range(TAKES)]
    espeak = [espeak_says(voice, text) for text in texts for voice in ESPEAK]
    whole = [np.concatenate([PAUSE // 2, sound, PAUSE]) for sound in (*joe, *espeak)]
    return [*whole, *(in_room(sound, seed=seed) for seed, sound in enumerate(whole))]


async def _late(sound: Samples, recognizer: SpeechToText, silero: Silero) -> int | None:
    """Milliseconds of real time from its last loud sample until it is taken for a stop; None when it is not."""
    listener = StopListener(recognizer, GatedDetector(silero))
    loud = np.flatnonzero(np.abs(sound[: -PAUSE.size // 2].astype(np.int32)) > max(_LOUD, int(np.abs(sound).max()) // 10))
    ended, began = to_ms(int(loud[-1])), time.perf_counter()
    try:
        for number, frame in enumerate(frames(sound), 1):
            await asyncio.sleep(max(0.0, began + number * FRAME_MS / 1000 - time.perf_counter()))
            if listener.hear(frame) is not None:
                return round(1000 * (time.perf_counter() - began)) - ended
        return None
    finally:
        listener.forget()
