"""Samples on their way between a device's own thread and the loop: bounded, the oldest go first."""

import threading

import numpy as np

from voiceagent.audio.frame import Samples


class Ring:
    """Holds at most `capacity` samples, of any rate. Every method may be called from any thread, and none waits for long."""

    def __init__(self, capacity: int) -> None:
        """Raises ValueError for a capacity below one sample."""
        if capacity < 1:
            raise ValueError("a ring holds at least one sample")
        self._sound: Samples = np.zeros(capacity, dtype=np.int16)
        self._first = 0
        self._count = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    def write(self, samples: Samples) -> int:
        """Adds samples at the end; returns how many were lost for want of room, the oldest first."""
        capacity = self._sound.size
        with self._lock:
            lost = max(0, self._count + samples.size - capacity)
            samples = samples[-capacity:]
            gone = min(self._count, lost)
            self._first = (self._first + gone) % capacity
            self._count -= gone
            at = (self._first + self._count) % capacity
            ahead = min(samples.size, capacity - at)
            self._sound[at : at + ahead] = samples[:ahead]
            self._sound[: samples.size - ahead] = samples[ahead:]
            self._count += samples.size
        return lost

    def read(self, most: int) -> Samples:
        """Takes out up to so many of the oldest samples."""
        capacity = self._sound.size
        with self._lock:
            count = min(most, self._count)
            ahead = min(count, capacity - self._first)
            taken: Samples = np.concatenate((self._sound[self._first : self._first + ahead], self._sound[: count - ahead]))
            self._first = (self._first + count) % capacity
            self._count -= count
        return taken

    def clear(self) -> int:
        """Takes out all; returns how many there were."""
        with self._lock:
            count, self._count = self._count, 0
        return count
