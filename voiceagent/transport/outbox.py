"""What waits to leave for a listener: when a talk spurt starts, what is sent in each 20 ms, what a cut drops."""

from collections import deque

import numpy as np

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, Samples

CUSHION_FRAMES = 2
"""A spurt starts when so much waits, so that an uneven hand-over is not heard."""

MOST_FRAMES = 10
"""Never more than 200 ms ahead of the listener."""

TAIL_FRAMES = 3
"""Silent frames sent behind the last sound: the listener's loss concealment then fades silence, not a vowel."""

_FADE = np.linspace(1.0, 0.0, 80)


class Outbox:
    """Frames in order, taken one a slot of 20 ms while anything waits; between spurts nothing is taken at all."""

    def __init__(self) -> None:
        self._frames: deque[Samples] = deque()
        self._spurt = False
        self._since = 0
        self._quiet = TAIL_FRAMES
        self._last = 0

    @property
    def queued(self) -> int:
        """Samples that wait."""
        return len(self._frames) * FRAME_SAMPLES

    @property
    def idle(self) -> bool:
        """Nothing waits and the tail has been sent: no slot needs to be kept."""
        return not self._frames and not self._spurt

    def put(self, samples: Samples, now: int) -> int:
        """Adds a frame; drops the oldest when more than 200 ms would wait, and returns how many samples that was."""
        if self.idle:
            self._since = now
        self._frames.append(samples)
        if len(self._frames) <= MOST_FRAMES:
            return 0
        return self._frames.popleft().size

    def clear(self) -> int:
        """Drops what waits; returns how many samples that was."""
        dropped = self.queued
        self._frames.clear()
        return dropped

    def ready_at(self, now: int) -> int:
        """When the next slot may be taken: at once within a spurt, with the cushion at the start of one."""
        if self._spurt or len(self._frames) >= CUSHION_FRAMES:
            return now
        return self._since + CUSHION_FRAMES * FRAME_MS

    def take(self) -> Samples | None:
        """What this slot sends; None when it sends nothing (silence that has lasted longer than the tail)."""
        if self._frames:
            self._spurt = True
            samples = self._frames.popleft()
        else:
            samples = self._fading()
        if samples.any():
            self._quiet = 0
        else:
            self._quiet = min(self._quiet + 1, TAIL_FRAMES + 1)
            if not self._frames and self._quiet >= TAIL_FRAMES:
                self._spurt = False
        self._last = int(samples[-1])
        return samples if self._quiet <= TAIL_FRAMES else None

    def _fading(self) -> Samples:
        if self._last == 0:
            return SILENCE
        faded = SILENCE.copy()
        faded[: len(_FADE)] = (self._last * _FADE).astype(np.int16)
        return faded
