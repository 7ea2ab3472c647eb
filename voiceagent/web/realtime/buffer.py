"""What a client has appended and not committed, when it says itself where a message ends."""

import numpy as np

from voiceagent.audio.frame import Samples, to_ms, to_samples

MOST_MS = 60_000
"""The longest message; what would go beyond is refused."""

LEAST_MS = 100
"""The shortest, as the protocol has it."""


class Buffer:
    """One client's sound, 16 kHz mono."""

    def __init__(self) -> None:
        self._pieces: list[Samples] = []
        self._size = 0

    @property
    def ms(self) -> int:
        """How much is in it."""
        return to_ms(self._size)

    def add(self, samples: Samples) -> bool:
        """More sound; False, and none of it, when it would be too much."""
        if self._size + samples.size > to_samples(MOST_MS):
            return False
        self._pieces.append(samples)
        self._size += samples.size
        return True

    def take(self) -> Samples:
        """All of it; the buffer is empty then."""
        whole = np.concatenate(self._pieces) if self._pieces else np.zeros(0, dtype=np.int16)
        self._pieces, self._size = [], 0
        return whole
