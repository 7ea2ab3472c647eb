"""Several processes on one database: one gapless timeline, the same everywhere, and each thing asked and done once."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from tests.wire.cluster import Cluster
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    EventSource,
    EventStatus,
    InboundMessage,
    InboundResult,
    Participant,
    RoomEvent,
    TextContent,
)
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.store import EventFilter

_ROOT = Path(__file__).resolve().parents[2]


class Ear(Channel):
    """A channel that writes down what it is told, and lets others wait for it."""

    def __init__(self, channel_id: str, channel_type: ChannelType = ChannelType.TEXT) -> None:
        super().__init__(channel_id, channel_type)
        self.told: list[tuple[str, int | None]] = []
        self.heard: list[str] = []
        self._more = asyncio.Condition()

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        async with self._more:
            self.told.append((event.content.body, event.index))
            self._more.notify_all()
        return None

    async def on_heard(self, event: RoomEvent, context: RoomContext) -> None:
        async with self._more:
            self.heard.append(event.content.body)
            self._more.notify_all()

    async def until(self, text: str) -> None:
        """Returns once a text was told or heard."""
        async with asyncio.timeout(20), self._more:
            await self._more.wait_for(lambda: text in self.heard or text in [told for told, _ in self.told])


class House:
    """One engine on the shared database, with a door and an agent; it stands for a process."""

    def __init__(self, kit: RoomEngine, name: str) -> None:
        self.kit = kit
        self.door = Ear(f"door-{name}")
        self.agent = Ear("assistant", ChannelType.AI)

    async def furnish(self) -> None:
        for channel in (self.door, self.agent):
            self.kit.register_channel(channel)
        await self.kit.create_room("r")
        for channel in (self.door, self.agent):
            await self.kit.attach_channel("r", channel.channel_id)

    async def say(self, text: str, key: str | None = None, channel_id: str | None = None) -> InboundResult:
        message = InboundMessage(channel_id or self.door.channel_id, TextContent(text), idempotency_key=key)
        return await self.kit.process_inbound(message, room_id="r")

    @property
    def timeline(self) -> list[tuple[str, int | None]]:
        return [(event.content.body, event.index) for event in self.kit.context("r").recent_events]


@pytest_asyncio.fixture
async def houses(cluster: Cluster) -> AsyncIterator[tuple[House, House]]:
    dsn = await cluster.fresh()
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two"):
            store = PostgresStore(dsn, timeout_ms=2_000)
            await store.init()
            stack.push_async_callback(store.close)
            house = House(await stack.enter_async_context(RoomEngine(store=store)), name)
            await house.furnish()
            made.append(house)
        yield made[0], made[1]


async def test_processes_that_append_at_once_leave_no_gap_and_see_the_same(cluster: Cluster) -> None:
    dsn = await cluster.fresh()
    names, count = ("one", "two", "three"), 40
    sharers = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(Path(__file__).with_name("sharer.py")), dsn, name, str(count), str(count * len(names)),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )
        for name in names
    ]  # fmt: skip
    async with asyncio.timeout(60):
        for sharer in sharers:
            assert sharer.stdout is not None
            assert await sharer.stdout.readline() == b"ready\n"
        said = [json.loads(out) for out, _ in await asyncio.gather(*(sharer.communicate(b"go\n") for sharer in sharers))]
    assert [sharer.returncode for sharer in sharers] == [0, 0, 0]
    assert [index for _, index in said[0]] == list(range(count * len(names)))
    assert said[0] == said[1] == said[2]
    bodies = [body for body, _ in said[0]]
    assert sorted(bodies) == sorted(f"{name} {number}" for name in names for number in range(count))
    changes = sum(before.split()[0] != after.split()[0] for before, after in pairwise(bodies))
    assert changes > len(names), "the processes wrote one after the other: nothing was shared"


async def test_what_one_says_is_told_in_the_other_and_asked_only_once(houses: tuple[House, House]) -> None:
    one, two = houses
    await one.say("from one")
    await two.door.until("from one")
    await two.agent.until("from one")
    await two.say("from two")
    await one.door.until("from two")
    assert one.timeline == two.timeline == [("from one", 0), ("from two", 1)]
    assert two.door.told == [("from one", 0)]
    assert one.door.told == [("from two", 1)]
    assert one.agent.told == [("from one", 0)]  # asked where it came in
    assert two.agent.told == [("from two", 1)]
    assert one.agent.heard == two.agent.heard == ["from one", "from two"]  # and known everywhere


async def test_a_house_that_heard_no_news_catches_up_with_its_next_event(houses: tuple[House, House]) -> None:
    one, two = houses
    for number in range(450):  # more than a page, past every notice: by the store alone
        await one.kit.store.append(_line(number))
    assert (await two.say("mine")).event == (await two.kit.store.list_events("r", newest=True, limit=1))[0]
    assert two.timeline == [(f"line {number}", number) for number in range(251, 450)] + [("mine", 450)]
    await two.door.until("line 449")
    assert [index for _, index in two.door.told] == list(range(450))


async def test_refused_events_of_others_take_their_index_and_are_told_to_nobody(houses: tuple[House, House]) -> None:
    one, two = houses
    refused = await one.say("not seated", channel_id="unknown")
    assert refused.blocked
    assert (await two.say("next")).event is not None
    await one.door.until("next")
    assert (await two.kit.store.list_events("r", event_filter=EventFilter(blocked=True)))[0].status is EventStatus.BLOCKED
    assert [told for told, _ in two.door.told] == []
    assert two.timeline[-1] == ("next", 1)


async def test_one_delivery_at_two_doors_is_taken_once(houses: tuple[House, House]) -> None:
    one, two = houses
    two.kit.register_channel(Ear("door-one"))
    await two.kit.attach_channel("r", "door-one")
    for number in range(20):
        results = await asyncio.gather(
            one.say(f"hello {number}", key=f"k{number}"), two.say(f"hello {number}", key=f"k{number}", channel_id="door-one")
        )
        assert sorted(result.duplicate for result in results) == [False, True]
        assert results[0].event == results[1].event
    events = await one.kit.store.list_events("r")
    assert [event.index for event in events] == list(range(20))


async def test_people_who_come_and_go_elsewhere_are_known_here(houses: tuple[House, House]) -> None:
    one, two = houses
    await one.kit.join("r", Participant("ana", "Ana"))
    await two.door.until("Ana joined")
    assert [(person.display_name, person.active) for person in two.kit.context("r").participants] == [("Ana", True)]
    await one.kit.leave("r", "ana")
    await two.door.until("Ana left")
    assert [person.active for person in two.kit.context("r").participants] == [False]


async def test_rooms_go_on_when_the_server_comes_back(houses: tuple[House, House], cluster: Cluster) -> None:
    one, two = houses
    await one.say("before")
    await two.door.until("before")
    await asyncio.to_thread(cluster.kill)
    await asyncio.to_thread(cluster.start)
    await one.say("after")
    await two.door.until("after")  # the line that listens was made again
    assert two.timeline == one.timeline == [("before", 0), ("after", 1)]


async def test_a_room_opened_late_has_what_was_said_before(houses: tuple[House, House]) -> None:
    one, two = houses
    await two.kit.close_room("r")
    await one.say("while away")
    await two.kit.create_room("r")
    assert two.timeline == [("while away", 0)]


@pytest.mark.parametrize("many", [60])
async def test_two_houses_in_one_loop_number_every_event_once(houses: tuple[House, House], many: int) -> None:
    one, two = houses
    done = await asyncio.gather(*((one, two)[number % 2].say(f"m{number}") for number in range(many)))
    assert sorted(result.event.index or 0 for result in done if result.event) == list(range(many))
    await one.say("last")
    await two.door.until("last")
    assert one.timeline == two.timeline


def _line(index: int) -> RoomEvent:
    source = EventSource("door-one", ChannelType.TEXT)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return RoomEvent(f"line-{index}", "r", source, TextContent(f"line {index}"), at, status=EventStatus.DELIVERED, index=index)
