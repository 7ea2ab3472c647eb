"""A caller whose microphone picks up what they are played: later, quieter, through a room, and with its noise."""

from collections.abc import AsyncIterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import FRAME_SAMPLES, RATE, AudioFrame, Samples, to_samples
from voiceagent.transport.file import FileCall

NOISE: Final = 33.0
"""Standard deviation of the microphone's noise, in samples: -60 dBFS."""

LONGEST_S: Final = 120


def room(ring_ms: int = 200, seed: int = 1) -> NDArray[np.float64]:
    """The answer of a small loudspeaker in a small room: direct sound, then a tail that falls by 60 dB within `ring_ms`."""
    length = to_samples(ring_ms)
    tail = np.random.default_rng(seed).normal(size=length) * 10 ** (-3 * np.arange(length) / length) * 0.06
    tail[0] = 1.0
    spectrum = np.fft.rfft(tail, 2 * length)
    hertz = np.fft.rfftfreq(2 * length, 1 / RATE)
    small = 1 / np.sqrt(1 + (250 / np.maximum(hertz, 1)) ** 4) / np.sqrt(1 + (hertz / 6_000) ** 8)
    answer: NDArray[np.float64] = np.fft.irfft(spectrum * small)[:length]
    answer *= float((answer**2).sum()) ** -0.5
    return answer


def echo_of(sound: Samples, level_db: float, delay_ms: int, seed: int = 1) -> NDArray[np.float64]:
    """The echo of a whole sound, as long as it, without noise."""
    late = np.concatenate([np.zeros(to_samples(delay_ms)), sound])[: sound.size]
    answer = room(seed=seed)
    size = late.size + answer.size
    heard: NDArray[np.float64] = np.fft.irfft(np.fft.rfft(late, size) * np.fft.rfft(answer, size), size)[: sound.size]
    return heard * 10 ** (level_db / 20)


class EchoingCall(FileCall):
    """A FileCall with such a microphone."""

    level_db = -6.0
    delay_ms = 80

    async def frames(self) -> AsyncIterator[AudioFrame]:
        answer = room()[::-1] * 10 ** (self.level_db / 20)
        noise = np.random.default_rng(2)
        played = np.zeros(LONGEST_S * RATE)
        before, seen = to_samples(self.delay_ms) + answer.size - 1, 0
        async for frame in super().frames():
            heard = self.heard()
            for stretch in heard[seen:]:
                at = to_samples(stretch.at_ms) + before
                played[at : at + stretch.samples.size] = stretch.samples
            seen = len(heard)
            around = played[frame.at : frame.at + FRAME_SAMPLES + answer.size - 1]
            echo = np.correlate(around, answer, "valid") if around.any() else 0.0
            picked_up = frame.samples + echo + noise.normal(size=FRAME_SAMPLES) * NOISE
            yield AudioFrame(np.clip(picked_up, -32768, 32767).astype(np.int16), frame.at)
