"""Measures a room's feed: what a line costs a subscriber, and how long a committed event takes to reach one.

    python benchmarks/feed.py [--lines 2000] [--latency 1000] [--folder DIR] [--json]

Cost: lines are published a few at a time in bursts of ten, each reader is a task of its own that takes every line, and the time
until the last reader has the last line is divided by lines and by readers; the best of three rounds, processor time, because
neighbours on a shared machine only ever slow a clock down. With `text`, each reader also asks for the line's JSON, as a stream
does. Latency: from before `process_inbound` is called, which holds the commit, to the line of that event in a reader's hands; one
event after the other with a pause between, in bursts of fifty, and one after the other before a thousand readers, each a task of
its own; in memory and in an SQLite file.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.feed import Feed, Subscription
from voiceagent.room.memory import MemoryStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

ROOM = "room"
READERS = (1, 100, 1_000)
ROUNDS = 3
BURST = 50


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number."""

    name: str
    value: float
    unit: str

    def line(self) -> str:
        """One row of the table."""
        return f"{self.name:<60}{self.value:>10,.2f} {self.unit}"


async def _read(reader: Subscription, most: int, *, text: bool) -> None:
    taken = 0
    async for line in reader.events():
        if text:
            line.text()
        taken += 1
        if taken == most:
            return


async def _cost(readers: int, lines: int, *, text: bool) -> float:
    """Microseconds of processor time a line and reader."""
    best = float("inf")
    for _ in range(ROUNDS):
        feed = Feed(ROOM)
        tasks = [asyncio.create_task(_read(feed.subscribe(), lines, text=text)) for _ in range(readers)]
        await asyncio.sleep(0)
        began = time.process_time()
        for number in range(lines):
            feed.publish("fact", {"number": number, "words": "What time does the library open on Sunday?"})
            if number % 10 == 9:
                await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        best = min(best, time.process_time() - began)
        feed.close()
    return best / lines / readers * 1e6


async def _latency(store: Store, events: int, *, burst: int = 1, crowd: int = 1) -> list[float]:
    """Milliseconds from the call to a reader's hands, for each event and each reader of a crowd."""
    began: dict[str, float] = {}
    taken: list[float] = []
    async with RoomEngine(store=store) as kit:
        kit.register_channel(Channel("text", ChannelType.TEXT))
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "text")
        readers = [kit.feed(ROOM).subscribe() for _ in range(crowd)]

        async def read(reader: Subscription) -> None:
            left = events
            async for line in reader.events():
                if line.event is not None:
                    taken.append((time.perf_counter() - began[line.event.content.body]) * 1000)
                    left -= 1
                if not left:
                    return

        async def say(number: int) -> None:
            began[str(number)] = time.perf_counter()
            await kit.process_inbound(InboundMessage("text", TextContent(str(number))), room_id=ROOM)

        reading = [asyncio.create_task(read(reader)) for reader in readers]
        for first in range(0, events, burst):
            await asyncio.gather(*(say(number) for number in range(first, first + burst)))
            await asyncio.sleep(0.01)
        await asyncio.gather(*reading)
        for reader in readers:
            reader.close()
    await store.close()
    return taken[len(taken) // 10 :]


def _latencies(folder: Path, events: int) -> list[Figure]:
    figures: list[Figure] = []
    for burst, crowd in ((1, 1), (BURST, 1), (1, READERS[-1])):
        stores: dict[str, Store] = {"memory": MemoryStore(), "sqlite": SqliteStore(folder / f"{burst} {crowd}.db")}
        kind = f", bursts of {burst}" if burst > 1 else f", {crowd} readers" if crowd > 1 else ""
        for name, store in stores.items():
            most = events if crowd == 1 else max(20, events // 10)
            taken = asyncio.run(_latency(store, most, burst=burst, crowd=crowd))
            figures.append(Figure(f"event to subscriber, {name}{kind}, p50", statistics.median(taken), "ms"))
            figures.append(Figure(f"event to subscriber, {name}{kind}, p99", statistics.quantiles(taken, n=100)[98], "ms"))
    return figures


def main() -> None:
    """Prints one row a figure, or JSON."""
    parser = argparse.ArgumentParser(description="Measures a room's feed.")
    parser.add_argument("--lines", type=int, default=2_000, help="for one reader; fewer for more")
    parser.add_argument("--latency", type=int, default=1_000, help="events, a multiple of 50")
    parser.add_argument("--folder", type=Path, help="where the database file lies; a temporary folder by default")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures: list[Figure] = []
    for readers in READERS:
        lines = max(100, options.lines // max(1, readers // 50))
        for text in (False, True):
            name = f"CPU a line and reader, {readers} readers{', text' if text else ''}"
            figures.append(Figure(name, asyncio.run(_cost(readers, lines, text=text)), "us"))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures += _latencies(Path(folder), options.latency)
    print(json.dumps([asdict(one) for one in figures], indent=1) if options.json else "\n".join(one.line() for one in figures))


if __name__ == "__main__":
    main()
