"""One process: loads one system, holds one continuous call with it (or several), and writes down what it saw.

    python -m benchmarks.peers.drive PLAN.json RESULT.json

Runs in the system's own environment and needs nothing but it and NumPy. Beside RESULT.json it leaves RESULT.npz: what sounded of
each reply that was spoken over, 16 kHz int16.
"""

import asyncio
import importlib
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks.peers.crowd import crowd
from benchmarks.peers.line import Line
from benchmarks.peers.plan import Clip, Plan
from benchmarks.peers.result import Result
from benchmarks.peers.speaker import Samples
from benchmarks.peers.system import Brain, Models, System
from benchmarks.peers.trials import LongReply, Over, Trials, Wait

VERSIONS = {"ours": "voiceagent", "livekit_agents": "livekit-agents", "pipecat": "pipecat-ai"}


class Run:
    """One plan being carried out."""

    def __init__(self, plan: Plan, result: Result) -> None:
        self._plan = plan
        self._result = result
        self._brain = Brain(plan.short, plan.known)
        self.sounds: dict[str, Samples] = {}

    async def through(self, loaded: Callable[[Models, Brain, str], AbstractAsyncContextManager[System]]) -> None:
        """Everything in the plan."""
        plan, result = self._plan, self._result
        async with loaded(Models(Path(plan.whisper), Path(plan.piper)), self._brain, plan.setting) as system:
            if not plan.calls:
                await self._talk(system)
            for calls in plan.calls:
                result.crowd.append(await crowd(system, plan.waits, calls, plan.floor_dbfs))
                print(result.crowd[-1], flush=True)
        result.rss_end_mb, result.rss_peak_mb = memory_mb("VmRSS"), memory_mb("VmHWM")

    async def _talk(self, system: System) -> None:
        plan, result = self._plan, self._result
        line = Line(plan.floor_dbfs)
        async with system.call(line) as talk:
            trials = Trials(line, self._brain, talk, plan.short)
            for clip in plan.warm:
                await trials.ask(clip)
            await line.quiet(1_000)
            result.rss_loaded_mb = memory_mb("VmRSS")
            result.idle_cpu = await cpu_share(lambda: asyncio.sleep(plan.idle_s))
            result.talk_cpu = await cpu_share(lambda: self._ask(trials, plan.waits, result.waits))
            await self._ask(trials, plan.pauses, result.pauses)
            self._brain.text = ""
            await self._ask(trials, plan.notes, result.notes)
            self._brain.text = plan.short
            result.over_cpu = await cpu_share(lambda: self._over(trials))
        result.late_p99_ms = float(np.percentile(line.late_ms, 99))

    async def _ask(self, trials: Trials, clips: tuple[Clip, ...], into: list[Wait]) -> None:
        for clip in clips:
            into.append(await trials.ask(clip))
            print(into[-1], flush=True)

    async def _over(self, trials: Trials) -> None:
        plan, result = self._plan, self._result
        number = 0
        for kind, clips in (("barge", plan.barge), ("noises", plan.noises), ("murmurs", plan.murmurs)):
            into: list[Over] = getattr(result, kind)
            for clip in clips:
                reply = number % len(plan.replies)
                long = LongReply(reply, plan.replies[reply], plan.lengths[reply])
                over, sound = await trials.speak_over(clip, plan.warm[0], long)
                self.sounds[f"{kind}-{len(into)}"] = sound
                into.append(over)
                print(over, flush=True)
                number += 1


async def cpu_share(work: Callable[[], Awaitable[None]]) -> float:
    """CPU seconds of this process a second while `work` runs."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return round(cpu / wall, 4) if wall > 0.5 else 0.0


def memory_mb(name: str) -> float:
    """Memory of this process: VmRSS now, VmHWM at its peak. (The peak that getrusage tells begins with the parent's.)"""
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024, 1)


def main() -> None:
    """Carries out the plan named first, and writes to the file named second."""
    plan, out = Plan.read(Path(sys.argv[1])), Path(sys.argv[2])
    began = time.perf_counter()
    adapter = importlib.import_module(f"benchmarks.peers.{plan.system}")  # the one of three that this environment can import
    result = Result(plan.system, plan.setting, metadata.version(VERSIONS[plan.system]))
    result.import_s = round(time.perf_counter() - began, 3)
    run = Run(plan, result)
    asyncio.run(run.through(adapter.loaded))
    result.write(out)
    np.savez(out.with_suffix(".npz"), allow_pickle=False, **run.sounds)


if __name__ == "__main__":
    main()
