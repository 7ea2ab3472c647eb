"""A watch on the event loop: which of its callbacks took how much of the thread's own CPU time, and where."""

import asyncio
import gc
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import pytest

MOST_MS: Final = 10
"""The bound of one callback; models and codecs work in threads of their own."""

_LOOK_S: Final = 0.004
_DEEPEST: Final = 6


@dataclass(slots=True)
class Stalls:
    """How many callbacks ran once they counted, and those over the bound: how long each took, how much of it in the collector of
    garbage, and where it was seen at work."""

    over: list[str] = field(default_factory=list)
    counts: bool = False
    callbacks: int = 0
    worst_ms: float = 0.0
    _collecting_ms: float = 0.0
    _running: bool = False
    _seen: list[str] = field(default_factory=list)
    _began_ns: int = 0

    def count(self) -> None:
        """Callbacks count from this one on: what a program does before the first call is not meant."""
        self.counts = True

    def begin(self) -> None:
        """A callback begins."""
        self._collecting_ms, self._seen, self._running = 0.0, [], True

    def end(self, what: str, took_ms: float) -> None:
        """It has ended."""
        self._running = False
        if not self.counts:
            return
        self.callbacks += 1
        self.worst_ms = max(self.worst_ms, took_ms)
        if took_ms > MOST_MS:
            places = " | ".join(dict.fromkeys(self._seen))
            self.over.append(f"{took_ms:.1f} ms ({self._collecting_ms:.1f} of garbage) {what}: {places}")

    def look(self, thread: int) -> None:
        """Notes where the loop's thread is, if it runs a callback; from another thread."""
        frame = sys._current_frames().get(thread)
        if self._running and frame is not None:
            stack = traceback.extract_stack(frame)[-_DEEPEST:]
            self._seen.append(" > ".join(f"{one.filename.rpartition('/')[2]}:{one.lineno} {one.name}" for one in stack))

    def collecting(self, phase: Literal["start", "stop"], _: dict[str, int]) -> None:
        """The collector of garbage begins and ends, in whatever thread; other threads' time is none of the loop's."""
        if phase == "start":
            self._began_ns = time.thread_time_ns()
        else:
            self._collecting_ms += max(0, time.thread_time_ns() - self._began_ns) / 1e6


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stalls]:
    """Measures every callback on this thread, of loops written in Python, meanwhile. CPU time, since other work on a
    machine stalls a clock, too."""
    found, run, thread, over = Stalls(), asyncio.Handle._run, threading.get_ident(), threading.Event()

    def timed(handle: asyncio.Handle) -> None:
        if threading.get_ident() != thread:
            run(handle)
            return
        found.begin()
        began = time.thread_time_ns()
        run(handle)
        found.end(repr(handle), (time.thread_time_ns() - began) / 1e6)

    def look() -> None:
        while not over.wait(_LOOK_S):
            found.look(thread)

    watcher = threading.Thread(target=look, name="watch of the loop")
    watcher.start()
    gc.callbacks.append(found.collecting)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(asyncio.Handle, "_run", timed)
            yield found
    finally:
        gc.callbacks.remove(found.collecting)
        over.set()
        watcher.join()
