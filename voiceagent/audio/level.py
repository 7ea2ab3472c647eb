"""How loud sound is, in decibels of full scale: of a stretch, and as a meter that follows it."""

import math
from typing import Final

import numpy as np

from voiceagent.audio.frame import RATE, Samples

FLOOR_DBFS: Final = -100.0
"""What digital silence reads; less than half of the last bit."""

_FULL_SCALE: Final = 32768.0


def dbfs(samples: Samples) -> float:
    """Root mean square of int16 samples against full scale, -100 to 0; a full-scale sine reads -3, no samples read -100."""
    return _decibels(_power(samples))


class Level:
    """A meter for one line: smoothed loudness, and a peak that falls back slowly."""

    def __init__(self, *, settle_ms: int = 100, peak_fall_db_s: float = 20.0) -> None:
        """`settle_ms`: time in which a jump is followed to 63 %. `peak_fall_db_s`: decibels a second the peak falls by."""
        self._settle = settle_ms * RATE / 1000
        self._fall = peak_fall_db_s / RATE
        self._smoothed = 0.0
        self._peak = FLOOR_DBFS

    @property
    def rms(self) -> float:
        """Smoothed loudness in dBFS, -100 to 0."""
        return _decibels(self._smoothed)

    @property
    def peak(self) -> float:
        """The loudest sample of late, in dBFS, -100 to 0."""
        return self._peak

    def add(self, samples: Samples) -> None:
        """Takes the next stretch of 16 kHz mono sound, any length."""
        if not samples.size:
            return
        keep = math.exp(-samples.size / self._settle)
        self._smoothed = keep * self._smoothed + (1 - keep) * _power(samples)
        highest = float(np.abs(samples.astype(np.float32)).max()) / _FULL_SCALE
        self._peak = max(_decibels(highest * highest), self._peak - self._fall * samples.size, FLOOR_DBFS)

    def reset(self) -> None:
        """Back to silence."""
        self._smoothed, self._peak = 0.0, FLOOR_DBFS


def _power(samples: Samples) -> float:
    """Mean square of full scale, 0 to 1."""
    if not samples.size:
        return 0.0
    scaled = samples.astype(np.float32) / _FULL_SCALE
    return float(np.dot(scaled, scaled)) / samples.size


def _decibels(power: float) -> float:
    return max(FLOOR_DBFS, 10 * math.log10(power)) if power > 0 else FLOOR_DBFS
