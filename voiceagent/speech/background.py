"""Whether what sounds is a steady background (babble, music, a fan) that the detector half takes for a voice."""

import math
from typing import Final

import numpy as np

from voiceagent.audio.frame import Samples

_WINDOW_FRAMES: Final = 75
_FLAT_DB: Final = 9.0
_LIVELY_DB: Final = 12.0
_DOUBTFUL: Final = 0.75
_SURE: Final = 0.85
_NOTHING: Final = 0.3
_FLOOR: Final = 1.0


class Background:
    """Calls sound background when for 1.5 s its level stays within 9 dB and the detector is never sure of a voice.

    Measured over windows of 1.5 s, as the distance of the 10th from the 95th percentile of frame levels and the mean
    probability: a crowd 3-11 dB and 0.40-0.72; clean speech 12-40 dB; speech at 5 dB over noise 5-13 dB, but at 0.75 and more.
    Quiet is at 0, and is no background that speech would have to be told from.
    """

    def __init__(self) -> None:
        self._levels = np.zeros(_WINDOW_FRAMES)
        self._probabilities = np.zeros(_WINDOW_FRAMES)
        self._heard = 0
        self._steady = False
        self._level = 0.0

    @property
    def level(self) -> float:
        """The last frame's level in decibels over one step of a 16-bit sample; 0 is quiet."""
        return self._level

    def hear(self, samples: Samples, probability: float) -> bool:
        """Takes the next frame and its probability of a voice; says whether it belongs to a steady background."""
        slot = self._heard % _WINDOW_FRAMES
        wide = samples.astype(np.float64)
        self._level = 10 * math.log10(max(_FLOOR, float(wide @ wide) / len(wide)))
        self._levels[slot] = self._level
        self._probabilities[slot] = probability
        self._heard += 1
        if self._heard >= _WINDOW_FRAMES and self._heard % 5 == 0:
            self._steady = self._judge()
        return self._steady

    def _judge(self) -> bool:
        ordered = np.sort(self._levels)
        spread = ordered[_WINDOW_FRAMES * 95 // 100] - ordered[_WINDOW_FRAMES // 10]
        sureness = float(self._probabilities.mean())
        if self._steady:
            return bool(spread < _LIVELY_DB and sureness < _SURE)
        return bool(spread < _FLAT_DB and _NOTHING < sureness < _DOUBTFUL)
