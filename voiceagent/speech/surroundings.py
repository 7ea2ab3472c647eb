"""A voice as it may be heard on another day: in noise, and from farther off. Made once, where somebody is enrolled."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import Samples, to_samples

Wave = NDArray[np.float64]

_NOISE_DB: Final = 6.0
_FAR_NOISE_DB: Final = 15.0
_TAIL_MS: Final = 200
_TAIL: Final = 0.08
"""The tail's first sample, to the direct sound's 1; it falls by 60 dB."""


def surroundings(voice: Samples) -> tuple[Samples, ...]:
    """The voice (16 kHz mono) as it is, with a noise 6 dB under it, and with the tail of a room; the same each time.

    The noise has the voice's own spectrum, its phases drawn anew: of all noises it hides the most.
    """
    random = np.random.default_rng(0)
    length = to_samples(_TAIL_MS)
    tail = random.normal(size=length) * 10 ** (-3 * np.arange(length) / length) * _TAIL
    tail[0] = 1.0
    size = voice.size + length
    far = np.fft.irfft(np.fft.rfft(voice, size) * np.fft.rfft(tail, size), size)[: voice.size]
    return voice, _noisy(voice.astype(np.float64), _NOISE_DB, random), _noisy(far, _FAR_NOISE_DB, random)


def _noisy(voice: Wave, db: float, random: np.random.Generator) -> Samples:
    spectrum = np.fft.rfft(voice)
    noise = np.fft.irfft(np.abs(spectrum) * np.exp(1j * random.uniform(0, 2 * np.pi, spectrum.size)), voice.size)
    return np.clip(voice + noise * 10 ** (-db / 20), -32_768, 32_767).astype(np.int16)
