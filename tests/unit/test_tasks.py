"""Calls and tasks that panic or will not end."""

import asyncio

import pytest

from voiceagent import clock
from voiceagent.room.bounded import TIDY_MS, PanicError, TooLateError, bounded
from voiceagent.room.cause import ROWS, Allowance


class PanicException(BaseException):
    """As a library in another language raises it."""


async def test_a_panic_is_an_error_of_the_call() -> None:
    async def panics() -> None:
        raise PanicException("boom")

    with pytest.raises(PanicError, match="PanicException: boom"):
        await bounded(panics(), 1_000)


async def test_a_call_that_ignores_its_end_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("nobody reads this")

    began = clock.now()
    with pytest.raises(TooLateError):
        await bounded(stubborn(), 100)
    took = clock.now() - began
    over.set()
    await asyncio.sleep(0.01)
    assert 100 <= took < 100 + 10 * TIDY_MS
    assert "left behind" in caplog.text


def test_an_answer_counts_once_and_has_an_end() -> None:
    allowance = Allowance(2)
    assert all(allowance.draw("one") for _ in range(ROWS + 1))
    assert not allowance.draw("one")
    assert allowance.draw()
    assert not allowance.draw("two")
    assert not allowance.draw("two")
    assert (allowance.refuse(), allowance.refuse()) == (True, False)
