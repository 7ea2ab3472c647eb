"""Several processes on one database: one feed a room, with the same lines under the same numbers for every reader."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from itertools import count

import pytest_asyncio

from tests.wire.cluster import Cluster
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.store import EventFilter

ROOM = "r"


@pytest_asyncio.fixture
async def houses(cluster: Cluster) -> AsyncIterator[list[RoomEngine]]:
    """Three engines, each with its own store; each stands for a process."""
    dsn = await cluster.fresh()
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(3):
            store = PostgresStore(dsn, timeout_ms=2_000)
            await store.init()
            stack.push_async_callback(store.close)
            kit = await stack.enter_async_context(RoomEngine(store=store))
            kit.register_channel(Channel("text", ChannelType.TEXT))
            await kit.create_room(ROOM)
            await kit.attach_channel(ROOM, "text")
            made.append(kit)
        yield made


async def _until(reader: Subscription, types: set[str]) -> list[FeedEvent]:
    """Durable lines up to the last of these types."""
    found: list[FeedEvent] = []
    async with asyncio.timeout(30):
        async for line in reader.events():
            if line.seq is not None:
                found.append(line)
            types.discard(line.type)
            if not types:
                return found
    return found


async def _talk(kit: RoomEngine, name: str, times: int) -> None:
    for number in range(times):
        kit.feed(ROOM).publish("fact", {"by": name, "number": number})
        result = await kit.process_inbound(InboundMessage("text", TextContent(f"{name} {number}")), room_id=ROOM)
        assert result.event is not None
        kit.feed(ROOM).publish("names", {"event_ids": [result.event.id]})
        kit.feed(ROOM).publish("level", {}, durable=False)
    kit.feed(ROOM).publish(f"end of {name}", {})


def _is_whole(lines: list[FeedEvent], events: list[str]) -> None:
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert [line.event.id for line in lines if line.event is not None] == events
    told: set[str] = set()
    for line in lines:
        if line.event is not None:
            told.add(line.event.id)
        named = line.data.get("event_ids", [])
        assert isinstance(named, list)
        assert set(named) <= told


async def test_every_reader_everywhere_sees_the_same_lines_under_the_same_numbers(houses: list[RoomEngine]) -> None:
    ends = {f"end of {number}" for number in range(3)}
    readers = [asyncio.create_task(_until(kit.feed(ROOM).subscribe(0), set(ends))) for kit in houses]
    await asyncio.gather(*(_talk(kit, str(number), 30) for number, kit in enumerate(houses)))
    seen = [await reader for reader in readers]
    events = await houses[0].store.list_events(ROOM, event_filter=EventFilter(blocked=True))
    assert len(events) == 90
    _is_whole(seen[0], [event.id for event in events])
    assert [line.text() for line in seen[1]] == [line.text() for line in seen[2]] == [line.text() for line in seen[0]]
    late = await _until(houses[1].feed(ROOM).subscribe(100), {seen[0][-1].type})
    assert [line.text() for line in late] == [line.text() for line in seen[0][100:]]


async def test_a_server_that_is_killed_loses_no_line_and_doubles_none(houses: list[RoomEngine], cluster: Cluster) -> None:
    ends = {"end of 0", "end of 1"}
    readers = [asyncio.create_task(_until(kit.feed(ROOM).subscribe(0), set(ends))) for kit in houses]
    numbers = count()
    stop = asyncio.Event()

    async def publish(kit: RoomEngine, name: str) -> None:
        while not stop.is_set():
            kit.feed(ROOM).publish("fact", {"number": next(numbers)})
            await asyncio.sleep(0.001)
        kit.feed(ROOM).publish(f"end of {name}", {})

    talkers = [asyncio.create_task(publish(kit, str(number))) for number, kit in enumerate(houses[:2])]
    await anext(houses[0].feed(ROOM).subscribe().events())
    await asyncio.to_thread(cluster.kill)
    await asyncio.to_thread(cluster.start)
    stop.set()
    await asyncio.gather(*talkers)
    seen = [await reader for reader in readers]
    said = [line.data["number"] for line in seen[0] if line.type == "fact"]
    assert sorted(said, key=str) == sorted(range(next(numbers)), key=str)
    _is_whole(seen[0], [])
    assert [line.text() for line in seen[1]] == [line.text() for line in seen[2]] == [line.text() for line in seen[0]]
