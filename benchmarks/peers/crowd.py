"""Several calls at once in one process on one core: how long people wait then."""

import asyncio
import contextlib
import time

import numpy as np

from benchmarks.peers.line import Line
from benchmarks.peers.plan import Clip
from benchmarks.peers.result import Crowd
from benchmarks.peers.speaker import RATE
from benchmarks.peers.system import Brain, System
from benchmarks.peers.trials import Trials, Wait

TURNS = 4
STAGGER = RATE * 7 // 10


async def crowd(system: System, clips: tuple[Clip, ...], calls: int, floor_dbfs: float | None) -> Crowd:
    """`calls` people at once, each with a few turns, one beginning 0.7 s after the other; the first turn warms up."""
    wall, cpu = time.perf_counter(), time.process_time()
    done = await asyncio.gather(*(_person(system, clips, number, floor_dbfs) for number in range(calls)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    waits = [wait for person in done for wait in person[0]]
    answered = [wait.wait_ms for wait in waits if wait.wait_ms is not None]
    late = [ms for person in done for ms in person[1]]
    p50, p95 = (float(np.percentile(answered, share)) if answered else None for share in (50, 95))
    return Crowd(
        calls, len(waits), len(waits) - len(answered), p50, p95, round(cpu / wall, 3), round(float(np.percentile(late, 99)), 1)
    )


async def _person(
    system: System, clips: tuple[Clip, ...], number: int, floor_dbfs: float | None
) -> tuple[list[Wait], list[float]]:
    line = Line(floor_dbfs, number)
    async with contextlib.AsyncExitStack() as stack:
        talk = await stack.enter_async_context(system.call(line))
        trials = Trials(line, Brain(), talk, "")
        await asyncio.sleep(number * STAGGER / RATE)
        waits = [await trials.ask(clips[(number + turn) % len(clips)]) for turn in range(TURNS + 1)]
        await line.quiet(200)
    return waits[1:], line.late_ms
