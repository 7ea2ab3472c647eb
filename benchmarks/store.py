"""Measures the stores: appends a second, their latency, the CPU and memory of an event, and listing.

    python benchmarks/store.py [--events 5000] [--rooms 20] [--folder DIR] [--postgres ADDRESS]

The file lies in a temporary folder, of DIR when it is named. Postgres is the server at ADDRESS, whose tables gain rooms of new
names, or else a server of its own as Debian installs it, on a socket; without either its rows are left out. Events are a sentence
each, 570 bytes of JSON, every second one an answer. "concurrent" is one task a room. Latency is per append, in microseconds; CPU
is that of this process alone. A store that is shared gives the indices itself, and tells the other processes.
"""

import argparse
import asyncio
import contextlib
import runpy
import secrets
import sys
import tempfile
import time
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from voiceagent.room.codec import decode_event, encode_event
from voiceagent.room.events import ChannelType, EventSource, Participant, RoomEvent, TextContent
from voiceagent.room.memory import MemoryStore
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter, Store, shared
from voiceagent.values import JSON

_CLUSTER = str(Path(__file__).resolve().parent.parent / "tests" / "wire" / "cluster.py")
_SOURCE = EventSource("voice-1", ChannelType.VOICE, participant_id="ana")
_AT = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class Figures:
    """What one run of appends gave."""

    name: str
    seconds: float
    cpu_seconds: float
    latencies_us: list[float]

    def line(self) -> str:
        """One row of the table."""
        ordered, count = sorted(self.latencies_us), len(self.latencies_us)
        p50, p99, most = ordered[count // 2], ordered[count * 99 // 100], ordered[-1]
        cpu = self.cpu_seconds / count * 1e6
        return f"{self.name:<22}{count / self.seconds:>10,.0f}/s{p50:>9.1f}{p99:>9.1f}{most:>10.1f}{cpu:>9.1f}"


def _event(room: str, index: int) -> RoomEvent:
    words = TextContent("What time does the library open on Sunday?")
    answers = f"{room}-{index - 1:020}" if index % 2 else None
    metadata: dict[str, JSON] = {"session": 1, "words": [1, 2.5, None, {"confidence": 0.93}]}
    return RoomEvent(
        f"{room}-{index:020}",
        room,
        _SOURCE,
        words,
        _AT,
        index=index,
        responds_to=answers,
        correlation_id="c" * 20,
        metadata=metadata,
    )


async def _appends(name: str, store: Store, rooms: int, events: int) -> Figures:
    """One task a room, each appending one event after the other; a store that is shared gives the indices itself."""
    latencies: list[float] = []
    among_others = shared(store)
    append = store.append if among_others is None else among_others.append_next
    made = [[_event(f"{name}-{room}", index) for index in range(events // rooms)] for room in range(rooms)]

    async def write(room: list[RoomEvent]) -> None:
        for event in room:
            began = time.perf_counter()
            await append(event)
            latencies.append((time.perf_counter() - began) * 1e6)

    began, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for room in made:
            group.create_task(write(room))
    return Figures(name, time.perf_counter() - began, time.process_time() - cpu, latencies)


async def _each_us(count: int, call: Callable[[], Awaitable[object]]) -> float:
    """Microseconds of one call, over `count` of them."""
    began = time.perf_counter()
    for _ in range(count):
        await call()
    return (time.perf_counter() - began) / count * 1e6


async def _reads(name: str, store: Store, room: str) -> None:
    asked = EventFilter(responds_to=f"{room}-{100:020}")
    whole = len(await store.list_events(room))
    answers = await _each_us(300, lambda: store.list_events(room, event_filter=asked))
    print(f"{name}: answers to one of {whole} events {answers:.1f} us")
    print(f"{name}: newest 50 {await _each_us(100, lambda: store.list_events(room, limit=50, newest=True)):.1f} us")
    print(f"{name}: all of them {await _each_us(3, lambda: store.list_events(room)) / 1000:.1f} ms")


def _codec() -> None:
    event = _event("room-1", 41)
    text = encode_event(event)
    count = 20_000
    began = time.perf_counter()
    for _ in range(count):
        encode_event(event)
    middle = time.perf_counter()
    for _ in range(count):
        decode_event(text)
    ended = time.perf_counter()
    write, read = (middle - began) / count * 1e6, (ended - middle) / count * 1e6
    print(f"codec: {len(text)} bytes, written in {write:.1f} us, read in {read:.1f} us")


async def _memory() -> None:
    """Bytes that the store adds to an event, and those of a room in which one person sits and nobody has spoken."""
    events = [_event("room", index) for index in range(10_000)]
    rooms = [(f"room-{number}", Participant(f"p{number}")) for number in range(1000)]
    tracemalloc.start()
    store = MemoryStore()
    for event in events:
        await store.append(event)
    spoken = tracemalloc.get_traced_memory()[0]
    for room, person in rooms:
        await store.put_participant(room, person)
    idle = tracemalloc.get_traced_memory()[0] - spoken
    tracemalloc.stop()
    print(
        f"memory: {spoken / len(events):.0f} bytes an event besides the event itself, {idle / len(rooms):.0f} bytes an idle room"
    )


@contextlib.asynccontextmanager
async def _postgres(address: str | None) -> AsyncIterator[PostgresStore | None]:
    """The store at an address, or on a server that is made for it and removed; None when none is installed."""
    tools = runpy.run_path(_CLUSTER)
    programs = tools["binaries"]()
    with contextlib.ExitStack() as stack:
        if address is None and programs is not None:
            cluster = tools["Cluster"](programs)
            stack.callback(cluster.remove)
            address = cluster.dsn()
        if address is None:
            yield None
            return
        store = PostgresStore(address)
        await store.init()
        try:
            yield store
        finally:
            await store.close()


async def _measure(events: int, rooms: int, folder: str | None, address: str | None) -> None:
    print(f"{'':<22}{'appends':>12}{'p50 us':>9}{'p99 us':>9}{'max us':>10}{'CPU us':>9}")
    async with contextlib.AsyncExitStack() as stack:
        made = stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        file = await SqliteStore.open(Path(made, "rooms.db"))
        database = await stack.enter_async_context(_postgres(address))
        stores: list[tuple[str, Store]] = [("memory", MemoryStore()), ("sqlite", file)]
        if database is not None:
            stores.append((f"postgres {secrets.token_hex(2)}" if address else "postgres", database))
        for name, store in stores:
            print((await _appends(f"{name} sequential", store, 1, events)).line())
            print((await _appends(f"{name} concurrent", store, rooms, events)).line())
        for name, store in stores:
            await _reads(name, store, f"{name} sequential-0")
        await file.close()
    _codec()
    await _memory()


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--rooms", type=int, default=20)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--postgres", default=None)
    asked = parser.parse_args()
    asyncio.run(_measure(asked.events, asked.rooms, asked.folder, asked.postgres))
    return 0


if __name__ == "__main__":
    sys.exit(main())
