"""A room's feed: numbers without gaps, readers that harm nobody, and where reading may begin again."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.clock import VirtualLoop
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.feed import KEPT, QUEUE, Feed, FeedEvent, Subscription
from voiceagent.room.lines.memory import LineMemory

SOURCE = EventSource("text", ChannelType.TEXT)


async def read(reader: Subscription) -> list[FeedEvent]:
    reader.close()
    return [line async for line in reader.events()]


def numbers(lines: Sequence[FeedEvent]) -> list[int | None]:
    return [line.seq for line in lines]


@given(st.lists(st.booleans(), max_size=40))
def test_durable_lines_are_numbered_without_gaps_and_droppable_ones_say_what_they_follow(kinds: list[bool]) -> None:
    async def play() -> list[FeedEvent]:
        feed = Feed("r")
        reader = feed.subscribe()
        for durable in kinds:
            feed.publish("line", {}, durable=durable)
        return await read(reader)

    loop = VirtualLoop()
    try:
        lines = loop.run_until_complete(play())
    finally:
        loop.close()
    assert [line.seq is not None for line in lines] == kinds
    assert [s for s in numbers(lines) if s is not None] == list(range(1, sum(kinds) + 1))
    so_far = 0
    for line in lines:
        assert line.after == so_far
        so_far = line.seq or so_far


def test_a_line_at_its_place_is_the_same_in_everything_else() -> None:
    source = EventSource("web", ChannelType.TEXT)
    event = RoomEvent("e", "r", source, TextContent("hello"), datetime(2026, 1, 1, tzinfo=UTC))
    named = ("web", "session", "generation", "request")
    line = FeedEvent(None, 4, 12, "2026-01-01T00:00:00.000Z", "line", "r", *named, "host", {"a": 1}, event)
    assert line.at(5, 4) == replace(line, seq=5, after=4)
    assert all(getattr(line, field.name) != field.default for field in fields(line) if field.init and field.name != "seq")


async def test_reading_begins_now_or_behind_a_number() -> None:
    feed = Feed("r")
    for _ in range(3):
        feed.publish("line", {})
        feed.publish("gone", {}, durable=False)
    readers = {after: feed.subscribe(after) for after in (None, 0, 1, 3, 99)}
    feed.publish("line", {})
    got = {after: numbers(await read(reader)) for after, reader in readers.items()}
    assert got == {None: [4], 0: [1, 2, 3, 4], 1: [2, 3, 4], 3: [4], 99: [4]}


async def test_what_is_kept_no_longer_is_named_as_a_gap() -> None:
    feed = Feed("r")
    for _ in range(KEPT + 5):
        feed.publish("line", {})
    early, late = feed.subscribe(3), feed.subscribe(5)
    assert (early.gap, late.gap) == ((4, 5), None)
    assert numbers(await read(early)) == list(range(6, KEPT + 6))
    assert numbers(await read(late)) == list(range(6, KEPT + 6))


async def test_a_number_of_another_count_begins_now_with_a_gap() -> None:
    feed = Feed("r")
    feed.publish("line", {})
    reader = feed.subscribe(7)
    feed.publish("line", {})
    assert reader.gap == (1, 1)
    assert numbers(await read(reader)) == [2]


async def test_a_feed_that_is_opened_again_goes_on() -> None:
    memory = LineMemory()
    first = Feed("r", memory)
    first.publish("line", {})
    await asyncio.sleep(0.002)
    first.close()
    again = Feed("r", memory, await memory.end("r"))
    reader = again.subscribe(0)
    first.publish("late", {})
    again.publish("line", {})
    lines = await read(reader)
    assert [(line.seq, line.type) for line in lines] == [(1, "line"), (2, "late"), (3, "line")]
    assert again.seq == 3
    assert lines[2].at_ms > lines[0].at_ms


async def test_a_reader_of_the_past_is_never_too_slow_and_misses_nothing() -> None:
    feed = Feed("r")
    for _ in range(QUEUE):
        feed.publish("line", {})
    reader = feed.subscribe(0)
    lines = reader.events()
    assert (await anext(lines)).seq == 1
    for _ in range(QUEUE * 3):
        feed.publish("line", {})
        feed.publish("level", {}, durable=False)
    reader.close()
    rest = numbers([line async for line in lines])
    assert [seq for seq in rest if seq is not None] == list(range(2, QUEUE * 4 + 1))
    assert not reader.lagged


async def test_a_reader_whose_past_goes_away_under_it_is_cut_off() -> None:
    memory = LineMemory()
    feed = Feed("r", memory)
    for _ in range(300):
        feed.publish("line", {})
    reader = feed.subscribe(0)
    lines = reader.events()
    for number in range(1, 201):
        assert (await anext(lines)).seq == number
    for _ in range(KEPT + 500):
        feed.publish("line", {})
    assert [line async for line in lines] == []
    assert reader.lagged


async def test_an_event_has_one_line_whoever_adds_it() -> None:
    feed = Feed("r")
    reader = feed.subscribe()
    for index in (0, 1, 1, 0, 2):
        feed.commit(RoomEvent(f"e{index}", "r", SOURCE, TextContent(""), datetime(2026, 1, 1, tzinfo=UTC), index=index))
    assert [(line.seq, line.event and line.event.index) for line in await read(reader)] == [(1, 0), (2, 1), (3, 2)]


async def test_a_slow_reader_is_cut_off_and_the_others_are_not() -> None:
    feed = Feed("r")
    slow, quick = feed.subscribe(), feed.subscribe()
    lines = quick.events()
    for number in range(1, QUEUE + 3):
        feed.publish("line", {})
        assert (await anext(lines)).seq == number
    assert (slow.lagged, quick.lagged) == (True, False)
    assert numbers([line async for line in slow.events()]) == list(range(1, QUEUE + 1))
    feed.publish("line", {})
    assert (await anext(lines)).seq == QUEUE + 3
    await lines.aclose()  # type: ignore[attr-defined]


async def test_droppable_lines_go_first() -> None:
    feed = Feed("r")
    reader = feed.subscribe()
    feed.publish("kept", {})
    for _ in range(QUEUE * 2):
        feed.publish("level", {}, durable=False)
    for _ in range(QUEUE - 1):
        feed.publish("kept", {})
    assert not reader.lagged
    assert numbers(await read(reader)) == list(range(1, QUEUE + 1))


async def test_a_closed_feed_ends_its_readers_after_what_they_have() -> None:
    feed = Feed("r")
    first, second = feed.subscribe(), feed.subscribe()
    feed.publish("line", {})
    feed.close()
    feed.publish("late", {})
    assert [[line.type async for line in reader.events()] for reader in (first, second)] == [["line"], ["line"]]


async def test_the_envelope() -> None:
    feed = Feed("r")
    reader = feed.subscribe()
    feed.publish("a.b", {"x": 1}, channel_id="web", responds_to="q")
    feed.publish("c", {"y": "\ud800"}, durable=False, generation_id="g", session_id="s", audience="host")
    lines = await read(reader)
    durable, passing = (line.as_json() for line in lines)
    assert json.loads(lines[0].text()) == durable
    assert json.loads(lines[1].text()) == passing | {"data": {"y": "?"}}
    assert lines[0].text() is lines[0].text()
    assert durable.pop("time") is not None
    assert durable == {
        "v": 1, "seq": 1, "at_ms": 0, "type": "a.b", "room_id": "r", "channel_id": "web", "responds_to": "q", "data": {"x": 1},
    }  # fmt: skip
    assert {key: passing[key] for key in ("after", "generation_id", "session_id", "data")} == {
        "after": 1, "generation_id": "g", "session_id": "s", "data": {"y": "\ud800"},
    }  # fmt: skip
    assert "seq" not in passing
    assert "audience" not in passing


@pytest.mark.parametrize("readers", [0, 5])
async def test_a_reader_that_left_costs_nothing(readers: int) -> None:
    feed = Feed("r")
    left = [feed.subscribe() for _ in range(readers)]
    for reader in left:
        reader.close()
        reader.close()
    feed.publish("line", {})
    assert [await read(reader) for reader in left] == [[]] * readers
