"""The virtual loop jumps from timer to timer, runs executors' work inline, and stands still while the outside is awaited."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from voiceagent import clock
from voiceagent.clock import VirtualLoop

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs to the end on a fresh virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def test_an_hour_of_sleep_takes_no_time_and_moves_the_clock_by_an_hour() -> None:
    async def main() -> tuple[int, int]:
        before = clock.now()
        await asyncio.sleep(3600)
        return before, clock.now()

    began = time.monotonic()
    assert run(main()) == (0, 3_600_000)
    assert time.monotonic() - began < 5


def test_timers_fire_in_the_order_of_their_times_whoever_set_them_first() -> None:
    async def main() -> list[tuple[str, int]]:
        seen: list[tuple[str, int]] = []

        async def at(name: str, ms: int) -> None:
            await clock.sleep_until(ms)
            seen.append((name, clock.now()))

        async with asyncio.TaskGroup() as group:
            group.create_task(at("late", 300))
            group.create_task(at("early", 20))
            group.create_task(at("middle", 40))
        return seen

    assert run(main()) == [("early", 20), ("middle", 40), ("late", 300)]


def test_the_calendar_moves_with_the_loop_and_is_real_without_one() -> None:
    async def main() -> tuple[datetime, datetime]:
        first = clock.utc()
        await asyncio.sleep(1.5)
        return first, clock.utc()

    first, second = run(main())
    assert first == datetime(2026, 1, 1, tzinfo=UTC)
    assert (second - first).total_seconds() == 1.5
    assert abs((clock.utc() - datetime.now(UTC)).total_seconds()) < 5


def test_work_for_an_executor_runs_inline_and_takes_no_time() -> None:
    async def main(pool: ThreadPoolExecutor) -> tuple[str, int]:
        loop = asyncio.get_running_loop()
        thread = await loop.run_in_executor(pool, lambda: threading.current_thread().name)
        return thread, clock.now()

    with ThreadPoolExecutor(1) as pool:
        assert run(main(pool)) == (threading.current_thread().name, 0)


def test_an_error_of_inline_work_reaches_whoever_awaits_it() -> None:
    def broken() -> None:
        raise ValueError("no")

    async def main() -> str:
        future = asyncio.get_running_loop().run_in_executor(None, broken)
        with pytest.raises(ValueError, match="no"):
            await future
        return "went on"

    assert run(main()) == "went on"


async def _answer_from_a_thread() -> None:
    loop = asyncio.get_running_loop()
    answered = loop.create_future()

    def work() -> None:
        time.sleep(0.02)
        loop.call_soon_threadsafe(answered.set_result, None)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        await answered
    finally:
        thread.join()


def test_outside_holds_time_while_a_real_thread_works() -> None:
    async def main() -> list[int]:
        ticks: list[int] = []

        async def tick() -> None:
            while True:
                await asyncio.sleep(1)
                ticks.append(clock.now())

        async with asyncio.TaskGroup() as group:
            ticking = group.create_task(tick())
            with clock.outside():
                await _answer_from_a_thread()
            ticks.append(clock.now())
            ticking.cancel()
        return ticks

    assert run(main()) == [0]


def test_without_outside_time_runs_on_past_a_thread() -> None:
    async def main() -> int:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await _answer_from_a_thread()
        return clock.now()

    assert run(main()) == 5_000


def test_time_goes_on_after_outside_even_when_it_ended_in_an_error() -> None:
    async def main() -> int:
        with contextlib.suppress(RuntimeError), clock.outside():
            raise RuntimeError
        await asyncio.sleep(2)
        return clock.now()

    assert run(main()) == 2_000


def test_outside_does_nothing_on_a_real_loop() -> None:
    async def main() -> int:
        with clock.outside():
            return 7

    assert asyncio.run(main()) == 7


def test_the_same_program_takes_the_same_steps_every_time() -> None:
    async def main() -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []

        async def walk(who: int, step: float) -> None:
            for _ in range(20):
                await asyncio.sleep(step)
                seen.append((who, clock.now()))

        async with asyncio.TaskGroup() as group:
            for who, step in enumerate((0.02, 0.03, 0.02, 0.05)):
                group.create_task(walk(who, step))
        return seen

    assert run(main()) == run(main())
