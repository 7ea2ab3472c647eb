"""How loud one reply sounds while people speak over it: who presses on it, the ramps down and up, and where that began."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_samples

RAMP_MS: Final = 40
"""From silence to full; from full to lowered, or back, takes no longer."""


class Duck:
    """Of one reply. Positions are 16 kHz samples of it, `who` is a call, times are clock.now().

    It is lowered while anybody presses on it, and paused once one of them has asked for that, until all have let go.
    """

    def __init__(self, duck_db: float) -> None:
        """`duck_db` is how much quieter it is while lowered."""
        self.since = 0
        self.paused = False
        self._low = float(10 ** (-duck_db / 20))
        self._step = 1.0 / to_samples(RAMP_MS)
        self._pressing: set[str] = set()
        self._began = 0
        self._gain = 1.0

    @property
    def lowered(self) -> bool:
        """Whether anybody presses on it."""
        return bool(self._pressing)

    def press(self, who: str, position: int, now: int) -> bool:
        """Somebody sounds over it; `position` is the first sample that is lowered for that. Whether nobody did before."""
        begins = not self._pressing
        if begins:
            self.since, self._began = position, now
        self._pressing.add(who)
        return begins

    def pause(self, who: str) -> bool:
        """It stops for the time being; False when it had, or when they do not press on it."""
        if self.paused or who not in self._pressing:
            return False
        self.paused = True
        return True

    def release(self, who: str) -> bool:
        """They let go; whether they were the last, and it is to come back."""
        if who not in self._pressing:
            return False
        if self._pressing == {who}:
            return True
        self._pressing.discard(who)
        return False

    def held_since(self, time: int) -> bool:
        """Whether it has been lowered since `time` or before."""
        return self.lowered and self._began <= time

    def restore(self, *, faded: bool) -> None:
        """Nobody presses on it any more; `faded`: it begins again, from silence."""
        self._pressing.clear()
        self.paused = False
        if faded:
            self._gain = 0.0

    def shape(self, frame: Samples) -> Samples:
        """20 ms as they are to sound now; the very frame where nothing is to be done."""
        goal = self._low if self._pressing else 1.0
        if self._gain == goal:
            return frame if goal == 1.0 else _scaled(frame, np.full(FRAME_SAMPLES, goal))
        step = self._step if goal > self._gain else -self._step
        ramp = self._gain + step * np.arange(1, FRAME_SAMPLES + 1)
        ramp = np.minimum(ramp, goal) if step > 0 else np.maximum(ramp, goal)
        self._gain = goal if abs(ramp[-1] - goal) < self._step / 2 else float(ramp[-1])
        return _scaled(frame, ramp)


def _scaled(frame: Samples, gain: NDArray[np.float64]) -> Samples:
    return np.rint(frame * gain).astype(np.int16)
