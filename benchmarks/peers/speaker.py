"""A person's loudspeaker in memory: what was handed to it, and what of it sounded when."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]
"""16 kHz mono int16."""

RATE = 16_000
JITTER = RATE // 50
"""What comes this late (20 ms) still follows without a gap, as it would in any device's own buffer."""

LOUD = 150
"""A sample above this (-47 dBFS) sounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A stretch that sounds from position `at` of the line on; positions are samples since the line opened."""

    at: int
    samples: Samples

    @property
    def end(self) -> int:
        """The position behind it."""
        return self.at + self.samples.size


class Speaker:
    """Plays in order, each piece at once or behind the one before it; `now` is a position of the line everywhere."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._held: list[Samples] | None = None

    def play(self, samples: Samples, now: int) -> None:
        """Takes sound of any length; kept back while paused."""
        if self._held is not None:
            self._held.append(samples)
            return
        free = self._pieces[-1].end if self._pieces else -RATE
        self._pieces.append(Piece(free if now - free <= JITTER else now, samples))

    def clear(self, now: int) -> int:
        """Throws away what has not sounded; returns how many samples that was."""
        dropped = sum(part.size for part in self._held or ()) + sum(part.size for part in self._cut(now))
        if self._held is not None:
            self._held = []
        return dropped

    def pause(self, now: int) -> None:
        """Falls silent, and keeps what has not sounded."""
        if self._held is None:
            self._held = self._cut(now)

    def resume(self, now: int) -> None:
        """Goes on where it was paused."""
        held, self._held = self._held or [], None
        for samples in held:
            self.play(samples, now)

    def queued(self, now: int) -> int:
        """Samples that have not sounded yet."""
        waiting = sum(part.size for part in self._held or ())
        return waiting + (max(0, self._pieces[-1].end - now) if self._pieces else 0)

    def sounded_last(self, now: int) -> int:
        """The position behind the last loud sample so far; 0 when there was none."""
        for piece in reversed(self._pieces):
            loud = np.flatnonzero(np.abs(piece.samples[: max(0, now - piece.at)].astype(np.int32)) > LOUD)
            if loud.size:
                return piece.at + int(loud[-1]) + 1
        return 0

    def recording(self, begin: int, end: int) -> Samples:
        """What the ear got from `begin` to `end`, silence where nothing sounded."""
        heard = np.zeros(max(0, end - begin), dtype=np.int16)
        for piece in self._pieces:
            low, high = max(begin, piece.at), min(end, piece.end)
            if low < high:
                heard[low - begin : high - begin] = piece.samples[low - piece.at : high - piece.at]
        return heard

    def _cut(self, now: int) -> list[Samples]:
        """Takes back everything from `now` on."""
        taken: list[Samples] = []
        while self._pieces and self._pieces[-1].end > now:
            piece = self._pieces.pop()
            heard = max(0, now - piece.at)
            taken.insert(0, piece.samples[heard:])
            if heard:
                self._pieces.append(Piece(piece.at, piece.samples[:heard]))
                break
        return taken
