"""What a line sends in pieces of any length, at whatever pace, as one frame every 20 ms: pauses become silence."""

from collections import deque
from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, AudioFrame, Samples, to_ms, to_samples

LATE_MS: Final = 60
"""How long the next piece may be overdue before silence takes its place."""

SHORT_MS: Final = 400
LONG_MS: Final = 2_000
"""A piece counts as covering the time that it lasts, since a line that is live sends the next one when it is over; at least
SHORT_MS may be ahead so, and LONG_MS at most: what comes in one go was recorded before, and nothing follows it."""

MOST_MS: Final = 60_000
"""Sound that may wait to be heard; what would go beyond is refused."""

HURRY_MS: Final = 1
"""Time that a frame takes when others wait behind it: a recording is heard twenty times as fast as it was spoken, no faster, so
that it holds up nobody else."""


class Pieces:
    """Decides which 20 ms come next, from sound as it arrives and from the clock when none does.

    Nothing that arrives is dropped, and no silence comes into the middle of it. Time runs by what was said: a recording that
    arrives at once is over at once, and the silence behind it goes on at the pace of the clock.
    """

    def __init__(self, now: int) -> None:
        self._frames: deque[Samples] = deque()
        self._rest: Samples = np.zeros(0, dtype=np.int16)
        self._given = 0
        self._covered = now
        self._longest = SHORT_MS
        self._next = now

    @property
    def waiting(self) -> int:
        """Samples that have not been given."""
        return len(self._frames) * FRAME_SAMPLES + self._rest.size

    @property
    def given_ms(self) -> int:
        """The place on the line that has been reached."""
        return self._given * FRAME_MS

    def add(self, samples: Samples, now: int) -> bool:
        """Takes 16 kHz mono samples; False, and none of them, when too much waits."""
        if self.waiting + samples.size > to_samples(MOST_MS):
            return False
        self._longest = max(self._longest, min(to_ms(samples.size), LONG_MS))
        self._covered = min(max(self._covered, now) + to_ms(samples.size), now + self._longest)
        whole = np.concatenate((self._rest, samples))
        count = whole.size // FRAME_SAMPLES
        self._frames.extend(whole[: count * FRAME_SAMPLES].reshape(count, FRAME_SAMPLES))
        self._rest = whole[count * FRAME_SAMPLES :]
        return True

    def clear(self) -> None:
        """Lets go of what waits."""
        self._frames.clear()
        self._rest = self._rest[:0]

    def take(self, now: int) -> AudioFrame | None:
        """The next frame, if its sound is here or its time is over; None: ask again at `due`, or when more was added."""
        if now < self.due:
            return None
        if self._frames:
            self._next = max(self._next, now) + HURRY_MS
            return self._frame(self._frames.popleft())
        self._covered += FRAME_MS
        samples = SILENCE
        if self._rest.size:
            samples = np.pad(self._rest, (0, FRAME_SAMPLES - self._rest.size))
            self._rest = self._rest[:0]
        return self._frame(samples)

    @property
    def due(self) -> int:
        """When the next frame may be taken, in milliseconds on the loop's clock."""
        return self._next if self._frames else self._covered + LATE_MS

    def _frame(self, samples: Samples) -> AudioFrame:
        frame = AudioFrame(samples, self._given * FRAME_SAMPLES)
        self._given += 1
        return frame
