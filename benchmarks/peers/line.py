"""A person's line in memory: what they say at the pace of sound, and what they hear."""

import asyncio
from collections.abc import AsyncIterator

import numpy as np

from benchmarks.peers.speaker import RATE, Samples, Speaker

FRAME = RATE // 50
"""A frame is 20 ms."""


class Line:
    """One continuous call. Frame n is due (n + 1) * 20 ms after the opening, never drifting; under everything lies white noise
    of `floor_dbfs`, as under every real line (None: digital silence)."""

    def __init__(self, floor_dbfs: float | None = -60.0, seed: int = 0) -> None:
        self.speaker = Speaker()
        self.late_ms: list[float] = []
        self._noise = _noise(floor_dbfs, seed)
        self._said: list[tuple[int, Samples]] = []
        self._next = 0
        self._opened: float | None = None
        self._over = False
        self._came = asyncio.Event()

    def now(self) -> int:
        """The position of the line, in samples since it opened."""
        if self._opened is None:
            return 0
        return int((asyncio.get_running_loop().time() - self._opened) * RATE)

    def say(self, sound: Samples) -> int:
        """The person says this from the next frame on; returns the position at which it begins."""
        at = self._next * FRAME
        self._said.append((at, sound))
        return at

    def hang_up(self) -> None:
        """No further frame comes."""
        self._over = True

    async def frame(self) -> None:
        """Returns when the next frame of the line comes."""
        await self._came.wait()

    async def frames(self) -> AsyncIterator[Samples]:
        """The person's sound, 20 ms at a time, shape (320,)."""
        loop = asyncio.get_running_loop()
        self._opened = loop.time()
        while not self._over:
            due = self._opened + (self._next + 1) * FRAME / RATE
            await asyncio.sleep(max(0.0, due - loop.time()))
            self.late_ms.append((loop.time() - due) * 1000)
            at = self._next * FRAME
            self._next += 1
            came, self._came = self._came, asyncio.Event()
            came.set()
            yield self._frame(at)

    async def until(self, position: int) -> None:
        """Returns once the line has come so far."""
        await asyncio.sleep(max(0.0, (position - self.now()) / RATE))

    async def quiet(self, ms: int) -> None:
        """Returns once the agent has not sounded for so long."""
        while self.speaker.queued(self.now()) or self.now() - self.speaker.sounded_last(self.now()) < RATE * ms // 1000:
            await self.frame()

    async def sounds(self, after: int, timeout_ms: int) -> bool:
        """Returns once the agent sounds at or after this position; False when the time is over first."""
        deadline = max(self.now(), after) + RATE * timeout_ms // 1000
        while self.speaker.sounded_last(self.now()) <= after:
            if self.now() > deadline:
                return False
            await self.frame()
        return True

    def _frame(self, at: int) -> Samples:
        begin = at % (self._noise.size - FRAME)
        mixed = self._noise[begin : begin + FRAME].astype(np.int32)
        for start, sound in self._said[-4:]:
            low, high = max(at, start), min(at + FRAME, start + sound.size)
            if low < high:
                mixed[low - at : high - at] += sound[low - start : high - start]
        return mixed.clip(-32768, 32767).astype(np.int16)


def _noise(dbfs: float | None, seed: int) -> Samples:
    """Ten seconds of white noise, used round and round."""
    if dbfs is None:
        return np.zeros(10 * RATE, dtype=np.int16)
    drawn = np.random.default_rng(seed).normal(size=10 * RATE) * 32768 * 10 ** (dbfs / 20)
    return drawn.round().astype(np.int16)
