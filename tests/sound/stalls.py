"""A watch on the event loop: which of its callbacks took how much of the thread's own CPU time."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

MOST_MS = 10
"""The bound of one callback; models and codecs work in threads of their own."""


@dataclass
class Stalls:
    """The callbacks over the bound, as `ms what`, and how many there were in all."""

    over: list[str] = field(default_factory=list)
    callbacks: int = 0
    counts: bool = False

    def count(self) -> None:
        """From here on they count: what a program does to begin is not meant."""
        self.counts = True


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stalls]:
    """Measures every callback of every loop in Python meanwhile. CPU time, since neighbours on a machine stall a clock, too."""
    found, run = Stalls(), asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began = time.thread_time_ns()
        run(handle)
        took_ms = (time.thread_time_ns() - began) / 1e6
        found.callbacks += found.counts
        if found.counts and took_ms > MOST_MS:
            found.over.append(f"{took_ms:.1f} {handle!r}")

    with monkeypatch.context() as patched:
        patched.setattr(asyncio.Handle, "_run", timed)
        yield found
