"""Calls into what is plugged in (hooks, policies, memories): within a time, and failing in one way, by an Exception."""

import asyncio
import logging
from collections.abc import Awaitable
from types import TracebackType
from typing import Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

TIDY_MS: Final = 50
"""How long a call that is cancelled may take to put away what it has open, before it is left behind."""

_left_behind: set["asyncio.Task[object]"] = set()  # the loop itself keeps no task alive


class TooLateError(TimeoutError):
    """A call took longer than it was given; a TimeoutError of its own making is another matter."""


class PanicError(RuntimeError):
    """What was called raised something that is no Exception, as libraries of other languages do when they panic."""


_AS_THEY_ARE: Final = (Exception, asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit)


class contained:  # a block, in the small letters of a function: as a class it costs much less than as a generator
    """Raises a PanicError for what is no Exception in this block; cancellation and the end of the program stay as they are."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and not isinstance(error, _AS_THEY_ARE):
            raise PanicError(f"{type(error).__name__}: {error}") from error


async def bounded(call: Awaitable[T], ms: int) -> T:
    """What `call` returns within `ms`; it runs in a task of its own.

    Raises TooLateError when it takes longer, RuntimeError when it ends as cancelled though nobody cancelled the caller,
    PanicError for what is no Exception, and otherwise what it raises itself. A call that is late, or whose caller is cancelled,
    is cancelled; one that goes on all the same is left behind, and what it comes to is of no interest to anybody.
    """
    task = asyncio.ensure_future(_awaited(call))
    try:
        await asyncio.sleep(0)  # what waits for nothing ends in its first step, and needs no timer
        if not task.done():
            await asyncio.wait((task,), timeout=ms / 1000)
        late = not task.done()
    finally:
        if not task.done():
            await _put_away(task)
    if late:
        raise TooLateError(f"no result within {ms} ms")
    if task.cancelled():
        raise RuntimeError("the call was cancelled from within")
    return _result(task)


async def watched(call: Awaitable[T], ms: int) -> T:
    """As `bounded`, in the caller's own task, for a caller that nobody waits for: it goes on as long as the call does."""
    try:
        async with asyncio.timeout(ms / 1000) as bound:
            result = await _awaited(call)
    except TimeoutError:
        if bound.expired():
            raise TooLateError(f"no result within {ms} ms") from None
        raise
    except asyncio.CancelledError as error:
        if not from_within():
            raise
        raise RuntimeError("the call was cancelled from within") from error
    if bound.expired():  # it took the cancellation for something to be ignored
        raise TooLateError(f"no result within {ms} ms")
    return result


def from_within() -> bool:
    """Whether a cancellation that the running task has caught is the doing of what it called: nobody cancelled the task."""
    task = asyncio.current_task()
    return task is not None and not task.cancelling()


def _result(task: "asyncio.Task[T]") -> T:
    try:
        return task.result()
    except GeneratorExit as error:  # nobody closed the task: it is the call's own
        raise PanicError("GeneratorExit") from error


async def _awaited(call: Awaitable[T]) -> T:
    with contained():
        return await call


async def _put_away(task: "asyncio.Task[T]") -> None:
    """Cancels a call and waits a moment for it."""
    task.cancel()
    task.add_done_callback(_forgotten)
    _left_behind.add(task)
    await asyncio.wait((task,), timeout=TIDY_MS / 1000)
    if not task.done():
        log.warning("a call goes on though it was cancelled, and is left behind: %r", task.get_coro())


def _forgotten(task: "asyncio.Task[object]") -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()  # nobody else asks for it
