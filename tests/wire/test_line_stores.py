"""What every store of feed lines promises, on each of them."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from tests.wire.cluster import Cluster
from voiceagent.errors import StoreError
from voiceagent.room.database import Database
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.line import FeedEvent, Moment, event_line
from voiceagent.room.lines.postgres import PostgresLines
from voiceagent.room.lines.store import KEPT, NOTHING, LineStore, kept_lines
from voiceagent.room.memory import MemoryStore
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store
from voiceagent.values import JSON

_SOURCE = EventSource("voice", ChannelType.VOICE, participant_id="ana")
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_TIME = "2026-01-01T00:00:00.000Z"

Open = Callable[[], Awaitable[Store]]
"""Another opening of the same rooms, as another process would open them."""


def _event(index: int, room: str = "r") -> RoomEvent:
    return RoomEvent(f"{room}-{index}", room, _SOURCE, TextContent("words"), _AT, index=index, responds_to="q")


def _line(type: str = "fact", room: str = "r", generation: str | None = None, **data: JSON) -> FeedEvent:
    return FeedEvent(None, 0, 5, _TIME, type, room, "web", "s", generation, "q", "host", data)


def _told(index: int, room: str = "r") -> FeedEvent:
    return event_line(_event(index, room), Moment(7, _TIME), None, 0)


@pytest_asyncio.fixture
async def reopen(server: Cluster | str, tmp_path: Path) -> AsyncIterator[Open]:
    dsn = await server.fresh() if isinstance(server, Cluster) else ""
    async with AsyncExitStack() as stack:
        memory = MemoryStore()

        async def made() -> Store:
            if not dsn:
                store: Store = memory if server == "memory" else SqliteStore(tmp_path / "rooms.db")
            else:
                store = database = PostgresStore(dsn)
                await database.init()
            stack.push_async_callback(store.close)
            return store

        yield made


@pytest_asyncio.fixture
async def store(reopen: Open) -> Store:
    return await reopen()


def _lines(store: Store) -> LineStore:
    found = kept_lines(store)
    assert found is not None
    return found


async def _kept(store: Store, room: str = "r") -> list[tuple[int | None, str]]:
    lines = await _lines(store).after(room, 0, 99_999)
    return [(line.seq, line.type if line.event is None else line.event.id) for line in lines]


class TestLines:
    async def test_numbers_begin_at_one_in_each_room_and_go_on(self, store: Store) -> None:
        lines = _lines(store)
        assert await lines.end("r") == NOTHING
        assert await lines.append([_line(), _line(room="other"), _line()]) == [1, 1, 2]
        assert await lines.append([_line(), _line(room="other")]) == [3, 2]
        end = await lines.end("r")
        assert (end.seq, end.told, end.last) == (3, -1, Moment(5, _TIME))
        assert await lines.end("nowhere") == NOTHING

    async def test_another_opening_goes_on(self, store: Store, reopen: Open) -> None:
        await _lines(store).append([_line(), _line()])
        other = _lines(await reopen())
        assert (await other.end("r")).seq == 2
        assert await other.append([_line()]) == [3]

    async def test_a_line_comes_back_equal(self, store: Store) -> None:
        room = "salón \x00 \\0 \u202e"
        odd = _line("input.\x00", room, "g\x00\\0", input_id="\ud800", deep={"a": [1, 2.5, None, True, "\x00 \ud800 é"]})
        plain = FeedEvent(None, 0, 0, _TIME, "plain", room)
        await store.append(_event(0, room))
        assert await _lines(store).append([odd, plain, _told(0, room)]) == [1, 2, 3]
        first, second, third = await _lines(store).after(room, 0, 9)
        assert (first.data, first.time, first.at_ms, first.session_id) == (odd.data, _TIME, 5, "s")
        assert (first.audience, first.generation_id, first.responds_to) == ("host", "g\x00\\0", "q")
        assert (second.audience, second.channel_id, second.data) == ("all", None, {})
        assert third.event == _event(0, room)
        assert (third.channel_id, third.responds_to, third.audience) == ("voice", "q", "all")

    async def test_pages(self, store: Store) -> None:
        await _lines(store).append([_line() for _ in range(5)])
        assert [line.seq for line in await _lines(store).after("r", 1, 2)] == [2, 3]
        assert [line.seq for line in await _lines(store).after("r", 4, 9)] == [5]
        assert await _lines(store).after("r", 5, 9) == []
        assert await _lines(store).after("r", 0, 0) == []

    async def test_an_event_has_one_line_in_the_order_of_the_indices(self, store: Store) -> None:
        for index in range(5):
            await store.append(_event(index))
        lines = _lines(store)
        assert await lines.append([_told(0), _line(), _told(1), _told(0)]) == [1, 2, 3, None]
        assert await lines.append([_told(1), _told(2)]) == [None, 4]
        assert await _kept(store) == [(1, "r-0"), (2, "fact"), (3, "r-1"), (4, "r-2")]
        assert (await lines.end("r")).told == 2

    async def test_events_that_were_left_out_get_their_lines_before(self, reopen: Open, server: Cluster | str) -> None:
        if server == "memory":
            pytest.skip("nothing is left out in memory: every commit adds its line at once")
        store = await reopen()
        for index in (0, 1, 2, 4, 5):
            await store.append(_event(index))
        assert await _lines(store).append([_line(), _told(2), _line(), _told(5)]) == [1, 4, 5, 7]
        assert await _kept(store) == [(1, "fact"), (2, "r-0"), (3, "r-1"), (4, "r-2"), (5, "fact"), (6, "r-4"), (7, "r-5")]

    async def test_the_newest_are_kept_and_what_was_told_is_not_forgotten(self, store: Store, reopen: Open) -> None:
        await store.append(_event(0))
        lines = _lines(store)
        await lines.append([_told(0)])
        for _ in range(KEPT // 500 + 1):
            await lines.append([_line() for _ in range(500)])
        found = await _kept(store)
        last = KEPT + 501
        assert found[-1][0] == last
        assert last - KEPT - 500 <= (found[0][0] or 0) - 1 <= last - KEPT
        assert [seq for seq, _ in found] == list(range(found[0][0] or 0, last + 1))
        assert (await lines.end("r")).told == 0
        assert (await _lines(await reopen()).end("r")).told == 0

    async def test_what_nobody_will_end_is_claimed_once(self, store: Store, reopen: Open, server: Cluster | str) -> None:
        if server == "memory":
            pytest.skip("what is kept in memory dies with whoever would end it")
        opened = [
            _line("input.accepted", input_id="i1"), _line("input.accepted", input_id="i2"),
            _line("generation.started", generation="g1"), _line("generation.started", generation="g2"),
            _line("generation.started", "other", generation="g3"),
            _line("input.settled", input_id="i1"), _line("generation.detached", generation="g2"),
            _line("speech.queued", generation="s1"), _line("speech.queued", generation="s2"),
            _line("speech.cut", generation="s2"),
        ]  # fmt: skip
        await _lines(store).append(opened)
        assert await _lines(store).claim("r") == []
        living = _lines(await reopen())
        if isinstance(server, Cluster):
            assert await living.claim("r") == []
            await store.close()
        claimed = await living.claim("r")
        assert [(line.seq, line.type, line.input_id or line.generation_id) for line in claimed] == [
            (2, "input.accepted", "i2"), (3, "generation.started", "g1"), (7, "speech.queued", "s1"),
        ]  # fmt: skip
        assert claimed[1].channel_id == "web"
        assert await living.claim("r") == []

    async def test_what_cannot_be_written_as_json_costs_its_data_alone(self, store: Store, server: Cluster | str) -> None:
        if server == "memory":
            pytest.skip("nothing is written")
        odd = _line()
        object.__setattr__(odd, "data", {"at": _AT})
        assert await _lines(store).append([odd, _line()]) == [1, 2]
        assert [line.data for line in await _lines(store).after("r", 0, 9)] == [{}, {}]


class _Losing(PostgresLines):
    """Loses the line to the server when a batch has been committed, before it hears so."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, "unheard", lambda room: room)
        self.losing = False

    async def _tell(self, rooms: Sequence[str]) -> None:
        if self.losing:
            self.losing = False
            self._unsure, self._batch = True, self._batch - 1
            raise StoreError("the line was lost")


async def test_a_batch_whose_commit_was_not_heard_of_is_kept_once(cluster: Cluster) -> None:
    store = PostgresStore(dsn := await cluster.fresh())
    await store.init()
    database = Database(dsn, timeout_ms=5_000, most_connections=1, application="loser")
    await database.open(())
    lines = _Losing(database)
    for index in (0, 1):
        await store.append(_event(index))
    assert await lines.append([_line(), _told(0)]) == [1, 2]
    lines.losing = True
    batch = [_line(), _told(1), _line(room="other")]
    with pytest.raises(StoreError):
        await lines.append(batch)
    assert await lines.append(batch) == [None, None, None]
    assert await lines.append([_line()]) == [5]
    assert await _kept(store) == [(1, "fact"), (2, "r-0"), (3, "fact"), (4, "r-1"), (5, "fact")]
    await database.close()
    await store.close()


async def test_a_batch_that_the_file_refused_leaves_nothing_and_takes_no_number(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db", busy_timeout_ms=30)
    assert await store.feed_lines.append([_line()]) == [1]
    with closing(sqlite3.connect(tmp_path / "rooms.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            await store.feed_lines.append([_line(), _line(room="other")])
        other.execute("COMMIT")
    assert await store.feed_lines.append([_line(), _line(room="other")]) == [2, 1]
    assert [seq for seq, _ in await _kept(store)] == [1, 2]
    await store.close()
