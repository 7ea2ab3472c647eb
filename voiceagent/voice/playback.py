"""The account of one reply on one line: what was handed over, what was dropped, what the listener has heard of it."""

from collections import deque
from typing import Final

from voiceagent.audio.frame import FRAME_SAMPLES, to_ms

REMEMBERED: Final = 512
"""Frames whose owner is remembered: 10 s, fifty times what a line may hold."""


class Playback:
    """Counts in samples of the reply's own sound.

    A line carries other sound too (people, the silence between sentences): what waits at its end is told apart by the order
    in which it was handed over. A position never goes back, and never passes what was handed over and not dropped.
    """

    def __init__(self) -> None:
        self.handed = 0
        self.dropped = 0
        self._heard = 0
        self._frames: deque[bool] = deque(maxlen=REMEMBERED)

    def hand(self, *, own: bool) -> None:
        """A frame went to the line; `own`: it held sound of this reply."""
        self._frames.append(own)
        if own:
            self.handed += FRAME_SAMPLES

    def drop(self, samples: int) -> None:
        """The line threw away the last `samples` that were handed to it."""
        self.dropped += min(self._own_in_last(samples), self.handed - self.dropped - self._heard)
        for _ in range(min(len(self._frames), -(-samples // FRAME_SAMPLES))):
            self._frames.pop()

    def lose(self, samples: int, queued: int) -> None:
        """The line, which holds `queued` samples now, threw away the `samples` that had waited longest before those."""
        own = self._own_in_last(queued + samples) - self._own_in_last(queued)
        self.dropped += min(own, self.handed - self.dropped - self._heard)
        behind = len(self._frames) - -(-queued // FRAME_SAMPLES)
        for _ in range(min(max(0, behind), -(-samples // FRAME_SAMPLES))):
            behind -= 1
            del self._frames[behind]

    def played(self, queued: int) -> int:
        """Samples of the reply that have left for the listener, when the line still holds `queued` samples of whatever."""
        waiting = self._own_in_last(queued)
        self._heard = max(self._heard, self.handed - self.dropped - waiting)
        return self._heard

    def played_ms(self, queued: int) -> int:
        """The same in whole milliseconds: 0 before the first frame was handed over."""
        return to_ms(self.played(queued))

    def through(self, queued: int) -> bool:
        """Whether everything handed over has left."""
        return self.played(queued) >= self.handed - self.dropped

    def _own_in_last(self, samples: int) -> int:
        """How many of the last `samples` handed to the line were the reply's own."""
        own = 0
        for frame in reversed(self._frames):
            if samples <= 0:
                break
            part = min(samples, FRAME_SAMPLES)
            own += part if frame else 0
            samples -= part
        return own
