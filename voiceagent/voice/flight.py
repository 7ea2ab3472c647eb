"""What has left for a listener and is not heard yet: it lies in their jitter buffer, or in the device that plays it."""

from voiceagent.audio.frame import FRAME_MS, to_samples


class Flight:
    """Pure: the line says how long its sound takes to the ear, this how much of what was handed over that still concerns.

    While frames follow each other, all of that delay is filled with sound; from the end of the last frame on it drains.
    """

    def __init__(self) -> None:
        self._leaves_at = 0

    def hand(self, now: int) -> None:
        """20 ms more leave, behind those that still wait to."""
        self._leaves_at = max(self._leaves_at, now) + FRAME_MS

    def drop(self, now: int) -> None:
        """What waited does not leave."""
        self._leaves_at = min(self._leaves_at, now)

    def samples(self, behind: int, now: int) -> int:
        """How many of the samples that left last have not been heard, where sound is heard `behind` samples after it left."""
        return max(0, behind - to_samples(max(0, now - self._leaves_at)))
