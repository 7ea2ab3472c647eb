"""The sound of one reply on its way out: frames are taken from it in order, and it can be wound back a little."""

from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_samples

KEPT: Final = to_samples(15_000)
"""Samples that are kept after they were given."""


class Tape:
    """Positions are 16 kHz samples from the reply's first one, and stay what they are whatever is forgotten."""

    def __init__(self) -> None:
        self._sound: Samples = np.zeros(0, dtype=np.int16)
        self._begins = 0
        self._at = 0

    @property
    def at(self) -> int:
        """Where the next frame comes from."""
        return self._at

    @property
    def ahead(self) -> int:
        """Samples that have not been given."""
        return self._begins + self._sound.size - self._at

    def add(self, piece: Samples) -> None:
        """More sound follows."""
        forget = max(0, self._at - KEPT - self._begins)
        self._sound = np.concatenate((self._sound[forget:], piece))
        self._begins += forget

    def frame(self) -> Samples | None:
        """The next 20 ms; None while there is less."""
        return self._take(FRAME_SAMPLES) if self.ahead >= FRAME_SAMPLES else None

    def rest(self) -> Samples | None:
        """What is left, filled up to 20 ms with silence; None when nothing is."""
        left = min(self.ahead, FRAME_SAMPLES)
        return np.pad(self._take(left), (0, FRAME_SAMPLES - left)) if left > 0 else None

    def rewind(self, position: int) -> int:
        """Frames come from `position` on again, from the earliest that is kept if that is later; returns where from."""
        self._at = min(self._at, max(position, self._begins))
        return self._at

    def _take(self, samples: int) -> Samples:
        """A copy, so that who keeps a frame does not keep all the sound around it."""
        begin = self._at - self._begins
        self._at += samples
        taken: Samples = self._sound[begin : begin + samples].copy()
        return taken
