"""A room's feed: numbers without gaps, readers that harm nobody, and where reading may begin again."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.clock import VirtualLoop
from voiceagent.room.feed import QUEUE, RING, Feed, FeedEvent, Subscription


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


async def test_reading_begins_now_or_behind_a_number() -> None:
    feed = Feed("r")
    for _ in range(3):
        feed.publish("line", {})
        feed.publish("gone", {}, durable=False)
    readers = {after: feed.subscribe(after) for after in (None, 0, 1, 3, 99)}
    feed.publish("line", {})
    got = {after: numbers(await read(reader)) for after, reader in readers.items()}
    assert got == {None: [4], 0: [1, 2, 3, 4], 1: [2, 3, 4], 3: [4], 99: [4]}


async def test_the_ring_keeps_the_newest_thousand() -> None:
    feed = Feed("r")
    for _ in range(RING + 5):
        feed.publish("line", {})
    assert numbers(await read(feed.subscribe(0))) == list(range(6, RING + 6))


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
    durable = feed.publish("a.b", {"x": 1}, channel_id="web", responds_to="q").as_json()
    passing = feed.publish("c", {}, durable=False, generation_id="g", session_id="s", audience="host").as_json()
    assert durable.pop("time") is not None
    assert durable == {
        "v": 1, "seq": 1, "at_ms": 0, "type": "a.b", "room_id": "r", "channel_id": "web", "responds_to": "q", "data": {"x": 1},
    }  # fmt: skip
    assert {key: passing[key] for key in ("after", "generation_id", "session_id", "data")} == {
        "after": 1, "generation_id": "g", "session_id": "s", "data": {},
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
