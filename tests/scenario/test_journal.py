"""The journal on the virtual clock: order and numbers whatever the store does, readers that wait for nobody, an end in time."""

import logging
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room import journal as journal_module
from voiceagent.room.feed import Feed, FeedEvent, Subscription
from voiceagent.room.journal import LAST_MS, PACE_MS, RETRY_MS, Journal
from voiceagent.room.lines.memory import LineMemory
from voiceagent.room.lines.store import BATCH, FeedEnd

pytestmark = pytest.mark.usefixtures("no_leak")


class Shelf(LineMemory):
    """A line store that may fail, keeps count of its batches, and knows of others that write to it."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = False
        self.tried: list[int] = []
        self.batches: list[int] = []

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        self.tried.append(clock.now())
        if self.failing:
            raise StoreError("no space left")
        self.batches.append(len(lines))
        return await super().append(lines)

    async def end(self, room_id: str) -> FeedEnd:
        if self.failing:
            raise StoreError("no space left")
        return await super().end(room_id)

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        if self.failing:
            raise StoreError("no space left")
        return await super().after(room_id, seq, limit)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest_asyncio.fixture
async def journal(shelf: Shelf) -> AsyncIterator[Journal]:
    made = Journal(shelf)
    yield made
    shelf.failing = False
    await made.close()


@pytest.fixture
def feed(journal: Journal) -> Feed:
    return Feed("r", journal)


async def read(reader: Subscription) -> list[tuple[int | None, int, str]]:
    reader.close()
    return [(line.seq, line.after, line.type) async for line in reader.events()]


async def by_another(shelf: Shelf, *types: str) -> None:
    """Another process stores lines."""
    await shelf.append([FeedEvent(None, 0, 0, "2026-01-01T00:00:00.000Z", type, "r") for type in types])


async def test_no_reader_sees_a_line_before_it_is_stored(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    reader = feed.subscribe()
    feed.publish("a", {})
    assert feed.seq == 0
    shelf.failing = True
    await clock.sleep_until(clock.now() + 5)
    assert feed.seq == 0
    shelf.failing = False
    await journal.flush()
    assert await read(reader) == [(1, 0, "a")]


async def test_droppable_lines_keep_their_place_and_go_at_once_when_nothing_waits(journal: Journal, feed: Feed) -> None:
    reader = feed.subscribe()
    feed.publish("first", {}, durable=False)
    feed.publish("a", {})
    feed.publish("between", {}, durable=False)
    feed.publish("b", {})
    feed.publish("last", {}, durable=False)
    await journal.flush()
    assert await read(reader) == [
        (None, 0, "first"), (1, 0, "a"), (None, 1, "between"), (2, 1, "b"), (None, 2, "last"),
    ]  # fmt: skip


async def test_a_burst_of_all_rooms_is_one_batch_and_the_next_waits_a_moment(shelf: Shelf, journal: Journal) -> None:
    feeds = [Feed(f"r{number}", journal) for number in range(3)]
    began = clock.now()
    for number in range(BATCH + 10):
        feeds[number % 3].publish("line", {})
    await journal.flush()
    assert shelf.batches == [BATCH, 10]
    assert shelf.tried == [began, began + PACE_MS]
    await clock.sleep_until(began + 1000)
    feeds[0].publish("line", {})
    await journal.flush()
    assert shelf.tried[-1] == began + 1000


async def test_a_store_that_fails_is_tried_again_every_second(
    shelf: Shelf, journal: Journal, feed: Feed, caplog: pytest.LogCaptureFixture
) -> None:
    reader = feed.subscribe()
    shelf.failing = True
    began = clock.now()
    feed.publish("a", {})
    feed.publish("between", {}, durable=False)
    await clock.sleep_until(began + 2_500)
    feed.publish("b", {})
    shelf.failing = False
    await clock.sleep_until(began + 3_500)
    assert [at - began for at in shelf.tried] == [0, RETRY_MS, 2 * RETRY_MS, 3 * RETRY_MS, 3 * RETRY_MS + PACE_MS]
    assert await read(reader) == [(1, 0, "a"), (None, 1, "between"), (2, 1, "b")]
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.WARNING]


async def test_what_waits_for_a_failing_store_is_bounded(
    shelf: Shelf, journal: Journal, feed: Feed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(journal_module, "MOST", 10)
    shelf.failing = True
    reader = feed.subscribe()
    feed.publish("taken", {})
    await clock.sleep_until(clock.now() + 1)
    for _ in range(5):
        feed.publish("level", {}, durable=False)
    for number in range(12):
        feed.publish(f"kept {number}", {})
    feed.publish("level", {}, durable=False)
    feed.close()
    shelf.failing = False
    await clock.sleep_until(clock.now() + 2_000)
    found = [line.type async for line in reader.events()]
    assert found == ["taken", *(f"kept {number}" for number in range(10))]
    assert "lines of feeds are lost" in caplog.text
    assert "2 lines of feeds are lost" in caplog.text
    feed.publish("after", {})
    await journal.flush()
    assert feed.seq == 12


async def test_lines_of_others_come_in_their_place(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    reader = feed.subscribe()
    feed.publish("a", {})
    await journal.flush()
    await by_another(shelf, "theirs 1", "theirs 2")
    feed.publish("b", {})
    await journal.flush()
    await by_another(shelf, "theirs 3")
    feed.refresh()
    feed.refresh()
    await journal.flush()
    assert [(seq, type) for seq, _, type in await read(reader)] == [
        (1, "a"), (2, "theirs 1"), (3, "theirs 2"), (4, "b"), (5, "theirs 3"),
    ]  # fmt: skip


async def test_lines_of_others_are_not_read_for_nobody(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    await by_another(shelf, "theirs 1", "theirs 2")
    feed.refresh()
    await journal.flush()
    assert feed.seq == 2
    await by_another(shelf, "theirs 3")
    feed.publish("a", {})
    await journal.flush()
    assert feed.seq == 4
    assert [seq for seq, *_ in await read(feed.subscribe(1))] == [2, 3, 4]


async def test_one_who_begins_to_read_while_news_are_fetched_misses_none(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    await by_another(shelf, "theirs 1", "theirs 2")
    shelf.failing = True
    feed.refresh()
    await clock.sleep_until(clock.now() + 10)
    reader = feed.subscribe(0)
    shelf.failing = False
    await journal.flush()
    assert [seq for seq, *_ in await read(reader)] == [1, 2]


async def test_a_closed_feed_ends_its_readers_behind_what_was_published(journal: Journal, feed: Feed) -> None:
    reader = feed.subscribe()
    feed.publish("a", {})
    feed.close()
    again = feed.subscribe()
    await journal.flush()
    assert [line.type async for line in reader.events()] == ["a"]
    assert await read(again) == [(1, 0, "a")]


async def test_the_past_and_what_comes_meanwhile_join_without_a_hole(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    for _ in range(450):
        feed.publish("line", {})
    await journal.flush()
    reader = feed.subscribe(100)
    feed.publish("line", {})
    lines = reader.events()
    got = [(await anext(lines)).seq for _ in range(250)]
    feed.publish("line", {})
    await journal.flush()
    reader.close()
    got += [line.seq async for line in lines]
    assert got == list(range(101, 453))


async def test_the_end_writes_what_waits(shelf: Shelf, journal: Journal, feed: Feed) -> None:
    feed.publish("a", {})
    await journal.close()
    assert [line.type for line in await shelf.after("r", 0, 9)] == ["a"]


async def test_the_end_waits_for_a_failing_store_only_so_long(
    shelf: Shelf, journal: Journal, feed: Feed, caplog: pytest.LogCaptureFixture
) -> None:
    shelf.failing = True
    reader = feed.subscribe()
    feed.publish("a", {})
    feed.publish("b", {}, durable=False)
    feed.close()
    began = clock.now()
    await journal.close()
    assert clock.now() - began == LAST_MS
    assert [line async for line in reader.events()] == []
    assert "not kept" in caplog.text
