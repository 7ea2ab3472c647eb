"""Measures the room engine: events a second, CPU an event, input to first output, idle rooms, and the time to import.

    python benchmarks/engine.py [--events 5000] [--turns 1000] [--folder DIR] [--json]

Every event goes through `process_inbound`, one after the other by one caller, into a room of two text channels and an agent.
"silent": the messages are addressed to nobody. "answering": the agent's model answers at once, so a message makes two events and
a reply; both are counted as events. The rate is that of the fastest of five rounds, after one to warm up, because neighbours on a
shared machine only ever slow it down; CPU is the median round's, of the whole process, the database's thread included. First
output is the first piece of the reply in a text channel's hands, from the moment `process_inbound` was called. Idle rooms and
imports are measured in processes of their own. The aims are twenty times (events) and a fraction (the rest) of what a peer needs.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.room.channel import Channel, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, RoomEvent, TextContent
from voiceagent.room.memory import MemoryStore
from voiceagent.room.reply import Reply
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

ROOM = "room"
WORDS = "What time does the library open on Sunday?"
ROUNDS = 5
IMPORTS = 7

StoreName = Literal["memory", "sqlite"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, and what it should be: at least `least`, or at most `most`."""

    name: str
    value: float
    unit: str
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        """Whether the aim was reached."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def line(self) -> str:
        """One row of the table."""
        aim = f">= {self.least:,.0f}" if self.least is not None else f"<= {self.most:g}" if self.most is not None else ""
        return f"{self.name:<52}{self.value:>12,.2f} {self.unit:<6}{aim:>10}  {'' if self.met else 'MISSED'}"


class InstantModel:
    """Answers at once."""

    name = "instant"

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Two pieces and the end."""
        yield TextDelta("At ten ")
        yield TextDelta("o'clock.")
        yield Done()


class Door(Channel):
    """A text channel that notes when it has been told enough, and when the first words of a reply are there."""

    def __init__(self, channel_id: str) -> None:
        super().__init__(channel_id, ChannelType.TEXT)
        self.first: asyncio.Future[float] | None = None
        self._to_come = 0
        self._told = asyncio.Event()

    def told_after(self, events: int) -> asyncio.Event:
        """Set once so many more events have come."""
        self._to_come, self._told = events, asyncio.Event()
        return self._told

    async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
        """Counts."""
        self._to_come -= 1
        if self._to_come == 0:
            self._told.set()

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        """Reads the reply in a task of its own."""
        if self.first is not None:
            self.host.spawn(self._read(reply, self.first), "read")

    async def _read(self, reply: Reply, first: asyncio.Future[float]) -> None:
        async for _ in reply.pieces():
            first.set_result(time.perf_counter())
            return


def _message(*, silent: bool) -> InboundMessage:
    return InboundMessage("one", TextContent(WORDS), "ana", addressed_to=() if silent else None)


async def _seated(kit: RoomEngine) -> Door:
    door = Door("two")
    await kit.create_room(ROOM)
    for channel in (Door("one"), door, AIChannel("assistant", provider=InstantModel())):
        kit.register_channel(channel)
        await kit.attach_channel(ROOM, channel.channel_id)
    return door


async def _throughput(store: Store, name: StoreName, events: int, *, silent: bool) -> list[Figure]:
    made = events if silent else 2 * events
    async with RoomEngine(store=store) as kit:
        door = await _seated(kit)
        message = _message(silent=silent)
        rounds: list[tuple[float, float]] = []
        for _ in range(1 + ROUNDS):
            all_told = door.told_after(made // ROUNDS)
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(events // ROUNDS):
                await kit.process_inbound(message, room_id=ROOM)
            await all_told.wait()
            rounds.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = min(w for w, _ in rounds[1:]), statistics.median(c for _, c in rounds[1:])
    kind = "silent agent" if silent else "answering agent"
    aim = (3_500 if name == "memory" else 2_000) if silent else None
    return [
        Figure(f"events, {kind}, {name}", made / ROUNDS / wall, "/s", least=aim),
        Figure(f"CPU an event, {kind}, {name}", cpu / made * ROUNDS * 1000, "ms"),
    ]


async def _first_output(store: Store, name: StoreName, turns: int) -> list[Figure]:
    taken: list[float] = []
    async with RoomEngine(store=store) as kit:
        door = await _seated(kit)
        message = _message(silent=False)
        for turn in range(turns + turns // 10):
            door.first = asyncio.get_running_loop().create_future()
            began = time.perf_counter()
            await kit.process_inbound(message, room_id=ROOM)
            at = await door.first
            if turn >= turns // 10:
                taken.append((at - began) * 1000)
            await asyncio.sleep(0.002)  # people do not type within the same millisecond; the answer is kept meanwhile
    cuts = statistics.quantiles(taken, n=20)
    aim = 1.0 if name == "memory" else 3.0
    return [
        Figure(f"input to first output, p50, {name}", statistics.median(taken), "ms", most=aim),
        Figure(f"input to first output, p95, {name}", cuts[18], "ms", most=aim),
    ]


def _resident_kib() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


async def _idle(rooms: int) -> float:
    """MiB of resident memory for a thousand idle rooms more."""
    async with RoomEngine() as kit:
        kit.register_channel(Door("text"))
        kit.register_channel(AIChannel("assistant", provider=InstantModel()))

        async def seat(first: int, last: int) -> None:
            for number in range(first, last):
                room = await kit.create_room(f"room-{number}")
                await kit.attach_channel(room, "text")
                await kit.attach_channel(room, "assistant")

        await seat(0, 100)
        before = _resident_kib()
        await seat(100, 100 + rooms)
        return (_resident_kib() - before) / 1024 / rooms * 1000


def _in_a_fresh_process(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _import_seconds(module: str) -> float:
    script = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return statistics.median(float(_in_a_fresh_process("-c", script)) for _ in range(IMPORTS))


async def _with_store(name: StoreName, folder: Path, options: argparse.Namespace) -> list[Figure]:
    figures: list[Figure] = []
    for part in ("silent", "answering", "first"):
        store: Store = MemoryStore() if name == "memory" else SqliteStore(folder / f"{part}.db")
        if part == "first":
            figures += await _first_output(store, name, options.turns)
        else:
            figures += await _throughput(store, name, options.events, silent=part == "silent")
        await store.close()
    return figures


def main() -> None:
    """Prints one row a figure, or JSON; exits with 1 when an aim is missed."""
    parser = argparse.ArgumentParser(description="Measures the room engine.")
    parser.add_argument("--events", type=int, default=5_000, help="in all five rounds; a multiple of 10")
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="where the database file lies; a temporary folder by default")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--idle", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.idle:
        print(asyncio.run(_idle(options.idle)))
        return
    figures: list[Figure] = []
    for name in ("memory", "sqlite"):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            figures += asyncio.run(_with_store(name, Path(folder), options))
    idle = float(_in_a_fresh_process(__file__, "--idle", "1000"))
    figures.append(Figure("resident memory of 1000 idle rooms", idle, "MiB", most=4.0))
    figures.append(Figure("import voiceagent", _import_seconds("voiceagent"), "s", most=0.3))
    figures.append(Figure("import voiceagent.room.engine", _import_seconds("voiceagent.room.engine"), "s"))
    if options.json:
        print(json.dumps([{**asdict(figure), "met": figure.met} for figure in figures], indent=1))
    else:
        print("\n".join(figure.line() for figure in figures))
    sys.exit(not all(figure.met for figure in figures))


if __name__ == "__main__":
    main()
