"""What one loudspeaker is to play, and what it has played."""

import contextlib
from collections.abc import Iterator
from typing import Final

import numpy as np

from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.transport.speaker.devices import Device, playing
from voiceagent.transport.speaker.ring import Ring

AHEAD_MS: Final = 200
"""Never more waits for the device, as on every line."""


class Playout:
    """`blocks` counts how often the device has asked: while it stands still, the device is gone. Counts are at 16 kHz."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.blocks = 0
        self._waiting = Ring(device.rate * AHEAD_MS // 1000)
        self._sounded = Ring(device.rate)
        self._there = Resampler(RATE, device.rate, live=True)
        self._back = Resampler(device.rate, RATE, live=True)
        self._latency_ms = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The device plays while inside; blocks to open and close. Raises TransportError."""
        with playing(self.device, self._give) as latency:
            self._latency_ms = round(latency * 1000)
            yield

    def play(self, samples: Samples) -> int:
        """Takes 16 kHz mono sound; returns how many samples were lost since too much waited."""
        return self._to_inner(self._waiting.write(self._there.process(samples)))

    def clear(self) -> int:
        """Drops what the device has not been given, the resampler's end of it too; returns how much that was."""
        self._there.reset()
        return self._to_inner(self._waiting.clear())

    @property
    def queued(self) -> int:
        """What the device has not been given."""
        return self._to_inner(len(self._waiting))

    @property
    def behind(self) -> int:
        """What the device itself holds, by its own word."""
        return to_samples(self._latency_ms)

    def sounded(self) -> Samples:
        """What the device was given since, its silence included, 16 kHz mono."""
        return self._back.process(self._sounded.read(self.device.rate))

    def _give(self, count: int) -> Samples:
        samples = self._waiting.read(count)
        self._sounded.write(np.pad(samples, (0, count - samples.size)))
        self.blocks += 1
        return samples

    def _to_inner(self, samples: int) -> int:
        return samples * RATE // self.device.rate
