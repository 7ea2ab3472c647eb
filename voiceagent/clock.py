"""The only file that reads a clock: now() in whole milliseconds, utc(), and the loop whose time is the sound's own."""

import asyncio
import contextlib
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final, TypeVar, TypeVarTuple

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

_VIRTUAL_START = datetime(2026, 1, 1, tzinfo=UTC)


def now() -> int:
    """Milliseconds on the running loop's clock; only differences mean anything."""
    return round(asyncio.get_running_loop().time() * 1000)


def utc() -> datetime:
    """The calendar's time, in UTC; on a virtual loop, its start plus the loop's own time."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return datetime.now(UTC)
    if isinstance(loop, VirtualLoop):
        return _VIRTUAL_START + timedelta(seconds=loop.time())
    return datetime.now(UTC)


async def sleep_until(at_ms: int) -> None:
    """Returns once now() has reached at_ms; yields to the loop once even when it already has."""
    await asyncio.sleep(max(0.0, at_ms / 1000 - asyncio.get_running_loop().time()))


def outside() -> AbstractContextManager[None]:
    """Marks a wait for something that runs outside the loop (a database thread, a network): virtual time stands still in it."""
    loop = asyncio.get_running_loop()
    return _Hold(loop) if isinstance(loop, VirtualLoop) else _NO_HOLD


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer when nothing is ready, so that a minute of talk takes milliseconds.

    Work given to executors runs inline and takes no time on this clock; waits inside `outside()` stop it. Everything is
    therefore ordered by the program alone, and the same input gives the same order every time.
    """

    def __init__(self) -> None:
        self.holds = 0
        self._seconds = 0.0
        super().__init__(_JumpingSelector(self))
        self._clock_resolution = 1e-6  # a year on, asyncio's own nanosecond is lost in the last digit of the time

    def time(self) -> float:
        """Seconds since the loop was made, on its own clock."""
        return self._seconds

    def advance(self, seconds: float) -> None:
        """Moves the clock forward; the selector calls it when nothing but a timer is left."""
        self._seconds += seconds

    def run_in_executor(self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts) -> asyncio.Future[_T]:
        """Runs func at once, on this thread, and returns its settled future."""
        future: asyncio.Future[_T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - handed to whoever awaits, as an executor would
            future.set_exception(error)
        return future


class _Hold:
    """Keeps a virtual loop's time from jumping while it is entered."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def __enter__(self) -> None:
        self._loop.holds += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._loop.holds -= 1


_NO_HOLD: Final = contextlib.nullcontext()


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for real input only while something outside is awaited or no timer is set; otherwise moves the clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self._loop.holds:
            return super().select(None)
        self._loop.advance(timeout)
        return ready
