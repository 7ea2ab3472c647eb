"""Calls into what is plugged in (hooks, policies, memories): within a time, and failing in one way, by an Exception."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class TooLateError(TimeoutError):
    """A call took longer than it was given; a TimeoutError of its own making is another matter."""


async def bounded(call: Awaitable[T], ms: int) -> T:
    """What `call` returns within `ms`.

    Raises TooLateError when it takes longer, RuntimeError when it ends as cancelled though nobody cancelled the caller, and
    otherwise what it raises itself.
    """
    try:
        async with asyncio.timeout(ms / 1000) as bound:
            result = await call
    except TimeoutError:
        if bound.expired():
            raise TooLateError(f"no result within {ms} ms") from None
        raise
    except asyncio.CancelledError as error:
        caller = asyncio.current_task()
        if caller is None or caller.cancelling():
            raise
        raise RuntimeError("the call was cancelled from within") from error
    if bound.expired():  # it took the cancellation for something to be ignored
        raise TooLateError(f"no result within {ms} ms")
    return result
