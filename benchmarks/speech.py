"""What hearing and speaking cost: decode time by length, the detector's time a frame, the voice's first sound.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/speech.py [MODEL]   (default tiny.en)
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from functools import partial

import numpy as np

from voiceagent import weights
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.engines import Timing, sound_of
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.segmenter import Segmenter
from voiceagent.speech.settings import HearingSettings
from voiceagent.speech.whisper import WhisperEngine

ROUNDS = 7

TEXT = (
    "The library is open on Saturday from nine to five, and on Sunday from ten to four. You can keep a book for three weeks, "
    "and borrow ten of them at once. Please leave your name at the desk when you come for the first time."
)

SENTENCES = {
    "4 words": "The library is open.",
    "12 words": "You can keep a book for three weeks and borrow ten more.",
    "25 words": "You can keep a book for three weeks and borrow ten of them at once,"
    " when you leave your name at the desk before six.",
}


async def first_sound(voice: PiperEngine, text: str) -> None:
    """Waits for the first piece of sound only."""
    async with aclosing(voice.speak(text)) as stream:  # type: ignore[type-var]
        async for piece in stream:
            if not isinstance(piece, Timing):
                return


async def clocked(work: Callable[[], Awaitable[object]]) -> str:
    """Median wall time and CPU time of all threads, in milliseconds."""
    walls, cpus = [], []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        await work()
        walls.append((time.perf_counter() - wall) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    return f"{statistics.median(walls):6.0f} ms   CPU {statistics.median(cpus):6.0f} ms"


def microseconds_a_frame(sounds: Iterable[Samples], hear: Callable[[Samples], object]) -> str:
    """What `hear` takes for each frame of 20 ms."""
    costs = []
    for sound in sounds:
        for at in range(0, len(sound) - FRAME_SAMPLES + 1, FRAME_SAMPLES):
            began = time.perf_counter()
            hear(sound[at : at + FRAME_SAMPLES])
            costs.append((time.perf_counter() - began) * 1e6)
    return f"mean {statistics.mean(costs):5.0f} us   p99 {statistics.quantiles(costs, n=100)[98]:5.0f} us"


async def main(name: str) -> None:
    """Prints every figure."""
    voice = PiperEngine(weights.path("en_US-joe-medium"))
    whisper = WhisperEngine(weights.path(name))
    speech = await sound_of(voice, TEXT)
    print(f"decode, {name}")
    for seconds in (1, 3, 5, 10):
        part = speech[: seconds * RATE]
        print(f"  {seconds:2d} s  {await clocked(partial(whisper.transcribe, part))}")
    detector = GatedDetector(Silero())
    segmenter = Segmenter(HearingSettings())
    quiet = np.zeros(10 * RATE, dtype=np.int16)
    noise = (np.random.default_rng(0).normal(size=10 * RATE) * 1000).astype(np.int16)
    print("a frame of 20 ms")
    for label, sound in (("silence", quiet), ("white noise", noise), ("speech", speech)):
        print(f"  detector, {label:12s}  {microseconds_a_frame([sound], detector.probability)}")
    print(f"  segmenter, speech       {microseconds_a_frame([speech], lambda frame: segmenter.hear(frame, 0.9))}")
    print("first sound of a sentence, Piper")
    for label, text in SENTENCES.items():
        print(f"  {label:9s} {await clocked(partial(first_sound, voice, text))}")
    print("all of it")
    for label, text in SENTENCES.items():
        print(f"  {label:9s} {await clocked(partial(sound_of, voice, text))}")
    whisper.close()
    voice.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "tiny.en"))
