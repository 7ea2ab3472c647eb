"""Calls into what is plugged in end in time, and fail as an Exception."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from voiceagent.room.bounded import PanicError, TooLateError, bounded


async def sound() -> int:
    return 7


async def hangs() -> int:
    await asyncio.Event().wait()
    return 7


async def stubborn() -> int:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.Event().wait()
    return 7


async def own_timeout() -> int:
    raise TimeoutError("mine")


async def gives_itself_up() -> int:
    raise asyncio.CancelledError


async def test_a_result_in_time_is_the_result() -> None:
    assert await bounded(sound(), 1_000) == 7


@pytest.mark.parametrize("late", [hangs, stubborn])
async def test_what_is_late_is_too_late_whatever_it_returns(late: Callable[[], Awaitable[int]]) -> None:
    with pytest.raises(TooLateError, match="no result within 1 ms"):
        await bounded(late(), 1)


async def test_a_timeout_of_its_own_is_another_error() -> None:
    with pytest.raises(TimeoutError, match="mine") as caught:
        await bounded(own_timeout(), 1_000)
    assert not isinstance(caught.value, TooLateError)


async def test_a_call_that_gives_itself_up_cancels_nobody() -> None:
    with pytest.raises(RuntimeError, match="cancelled from within"):
        await bounded(gives_itself_up(), 1_000)


async def test_a_call_that_raises_what_closes_coroutines_closes_nobody() -> None:
    async def ends() -> int:
        raise GeneratorExit

    with pytest.raises(PanicError):
        await bounded(ends(), 1_000)


async def test_a_caller_that_is_cancelled_is_cancelled() -> None:
    waiting = asyncio.create_task(bounded(asyncio.sleep(60), 60_000))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_what_cannot_be_awaited_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        await bounded(7, 1_000)  # type: ignore[arg-type]
