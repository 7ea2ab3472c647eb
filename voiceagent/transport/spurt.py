"""Talk spurts as Opus packets: one encoding for all listeners who are sent the same frames from its beginning."""

from collections import deque
from typing import Final

import numpy as np

from voiceagent.audio.frame import Samples
from voiceagent.transport.opus import OpusEncoder

WINDOW: Final = 16
"""Packets kept for listeners who are behind the foremost: more than an outbox may hold."""

OPEN: Final = 64


class Spurt:
    """One encoder and its latest packets. A packet depends on those before it, so frames come in order and each once."""

    def __init__(self) -> None:
        self._encoder = OpusEncoder()
        self._made: deque[tuple[Samples, bytes]] = deque(maxlen=WINDOW)
        self._count = 0

    def begins_with(self, samples: Samples) -> bool:
        """Whether this is the object that it began with, and the packet of it is still here."""
        return 0 < self._count <= WINDOW and self._made[0][0] is samples

    def packet(self, index: int, samples: Samples) -> bytes | None:
        """The packet of its frame `index`; None when that was another frame, or is too long ago."""
        if index == self._count:
            packet = self._encoder.encode(samples)
            self._made.append((samples, packet))
            self._count += 1
            return packet
        back = self._count - index
        if not 0 < back <= len(self._made):
            return None
        made, packet = self._made[-back]
        return packet if made is samples or np.array_equal(made, samples) else None


class Spurts:
    """The spurts that have just begun, for others to join; shared by the lines of whoever opens them."""

    def __init__(self) -> None:
        self._open: deque[Spurt] = deque(maxlen=OPEN)

    def begin(self, samples: Samples) -> Spurt:
        """The spurt that began with this very array, or another one."""
        for spurt in self._open:
            if spurt.begins_with(samples):
                return spurt
        spurt = Spurt()
        self._open.append(spurt)
        return spurt


class Listener:
    """One listener's place in a spurt.

    Who is sent something else than the others goes on with another encoder (alone, or with those who fell out at the same
    frame) until the spurt is over: an encoder that begins in mid-speech needs nothing of what the listener's decoder has heard.
    """

    def __init__(self, spurts: Spurts) -> None:
        self._spurts = spurts
        self._spurt: Spurt | None = None
        self._index = 0

    def encode(self, samples: Samples) -> bytes:
        """The packet of the listener's next frame."""
        if self._spurt is None:
            self._spurt, self._index = self._spurts.begin(samples), 0
        packet = self._spurt.packet(self._index, samples)
        if packet is None:
            self._spurt, self._index = self._spurts.begin(samples), 0
            packet = self._spurt.packet(0, samples)
        self._index += 1
        return packet or b""

    def pause(self) -> None:
        """Nothing is sent for a while: the next frame begins a spurt."""
        self._spurt = None
