"""Whether a sound has just begun that may be a voice: told within 40 ms, on a line's frames alone, before a model is sure."""

import math
from collections import deque
from typing import Final

import numpy as np
import webrtcvad

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples

DOUBT_MS: Final = 360
"""How long a sound that no voice is found in may be one. Silero finds one 80 ms after the gate at the median, 300 at the 95th
percentile, 340 at the latest in all our clips but one."""

APART_MS: Final = 200
"""Silence after which a sound is another one."""

GAP_MS: Final = 60
"""Silence within a sound that goes on."""

IN_VAIN: Final = 3
"""Sounds in a row that were no voice, after which this tells of none for a while: something keeps making a noise there."""

DEAF_MS: Final = 20_000
"""That while. A voice that is found ends it."""

_GATE_MODE: Final = 2
_RECENT: Final = 3
_ENOUGH: Final = 2
_LOUD_DB: Final = 15.0
_LEAST_FLOOR_DB: Final = 20.0
_FALL: Final = 0.3
_RISE_DB: Final = 0.06
"""The floor falls within a few frames and rises by 3 dB a second, so that a steady noise is soon the floor."""


class Onset:
    """One line's. Two of three frames that webrtcvad calls speech and that are 15 dB over the line's floor begin a sound.

    Measured on 15 recordings of speech on a line that is otherwise silent, ms from where they are 35 dB under their loudest, and
    as sounds in 40 s of a crowd over faint noise. With noise of -60 dBFS the chosen gate (the first row) is at 45 and 312.

        gate 2, 2 of 3, 15 dB     p50 30, p95 48, latest 63    3
        gate 2, 2 of 3, 6 dB          28      48         63   10
        gate 2, 3 of 4, 15 dB         50      78        195    2
        gate 1, 2 of 3, 15 dB         28      38         42    3
        gate 3, 2 of 3, 15 dB         36     219        308    1
        Silero, 3 frames at 0.5      305     477          -    7
        Silero, 2 frames at 0.2      167     341        354    6

    A cough, a slam, laughter, a horn, a steady tone and white noise begin one sound each, a dog's barks one each.
    """

    def __init__(self) -> None:
        self._gate = webrtcvad.Vad(_GATE_MODE)
        self._recent: deque[bool] = deque(maxlen=_RECENT)
        self._floor: float | None = None
        self._at = self._last = 0
        self._since: int | None = None
        self._judged = False
        self._vain = 0
        self._deaf_until = 0

    @property
    def lasting(self) -> bool:
        """Whether the sound goes on, but for gaps as there are between syllables."""
        return self._since is not None and self._at - self._last <= GAP_MS

    def hear(self, samples: Samples, *, voiced: bool, own: bool = False) -> bool:
        """Takes 20 ms (shape (320,), int16); whether a sound began within DOUBT_MS that may be a voice and is not known to be.

        `voiced`: a model finds one in it; `own`: what is in it is what the line's listener is being played.
        """
        self._at += FRAME_MS
        loud = self._loud(samples, rising=not voiced)
        sounds = loud and not own and self._gate.is_speech(samples.tobytes(), RATE)
        self._recent.append(sounds)
        if sounds:
            self._last = self._at
        if voiced:
            self._vain = self._deaf_until = 0
            self._judged = self._since is not None
        self._follow()
        return self._since is not None and not self._judged and self._at > self._deaf_until

    def _follow(self) -> None:
        """Where a sound begins, comes to nothing, and ends."""
        if self._since is None:
            if sum(self._recent) >= _ENOUGH and self._recent[-1]:
                self._since, self._judged = self._at, False
            return
        if not self._judged and self._at - self._since >= DOUBT_MS:
            self._judged = True
            self._vain += 1
            if self._vain >= IN_VAIN:
                self._deaf_until = self._at + DEAF_MS
        if self._judged and self._at - self._last > APART_MS:
            self._since = None

    def _loud(self, samples: Samples, *, rising: bool) -> bool:
        if samples.size != FRAME_SAMPLES:
            return False
        wide = samples.astype(np.float64)
        level = 10 * math.log10(max(1.0, float(wide @ wide) / FRAME_SAMPLES))
        floor = level if self._floor is None else self._floor
        self._floor = (
            floor + (level - floor) * _FALL if level < floor else floor + (min(_RISE_DB, level - floor) if rising else 0)
        )
        return level > max(floor, _LEAST_FLOOR_DB) + _LOUD_DB
