"""What the server refuses is a StoreError, what was acknowledged outlives it, and older tables are brought up to date."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count

import asyncpg
import pytest

from tests.wire.cluster import Cluster
from voiceagent.errors import StoreError
from voiceagent.room.codec import encode_event, encode_participant
from voiceagent.room.events import ChannelType, EventSource, Participant, RoomEvent, TextContent
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.store import EventFilter

_SOURCE = EventSource("voice", ChannelType.VOICE)
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_OLD = (
    "CREATE TABLE events (id TEXT NOT NULL PRIMARY KEY, room_id TEXT NOT NULL, idx BIGINT NOT NULL, type TEXT NOT NULL,"
    " status TEXT NOT NULL, channel_id TEXT NOT NULL, participant_id TEXT, correlation_id TEXT, idempotency_key TEXT,"
    " event TEXT NOT NULL, CONSTRAINT events_place UNIQUE (room_id, idx))",
    "CREATE TABLE participants (room_id TEXT NOT NULL, participant_id TEXT NOT NULL, participant TEXT NOT NULL,"
    " seat BIGINT GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (room_id, participant_id))",
)
"""Frozen: the tables as they were before answers named what they answer."""


def _event(index: int, room: str = "r", responds_to: str | None = None) -> RoomEvent:
    return RoomEvent(f"{room}-{index}", room, _SOURCE, TextContent("words"), _AT, index=index, responds_to=responds_to)


@asynccontextmanager
async def _opened(dsn: str, timeout_ms: int = 5_000, most_connections: int = 8) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(dsn, timeout_ms=timeout_ms, most_connections=most_connections)
    try:
        await store.init()
        yield store
    finally:
        await store.close()


async def _indices(store: PostgresStore, room: str) -> list[int | None]:
    return [event.index for event in await store.list_events(room)]


class TestTables:
    async def test_old_tables_gain_the_columns_and_their_indices(self, cluster: Cluster) -> None:
        dsn = await cluster.fresh()
        rows = [
            f"INSERT INTO events VALUES ('old-{n}', 'old', {n}, 'message', 'delivered', 'voice', NULL, NULL, NULL,"
            f" '{encode_event(_event(n, 'old'))}')"
            for n in range(3)
        ]
        person = f"INSERT INTO participants VALUES ('quiet', 'ana', '{encode_participant(Participant('ana'))}')"
        await cluster.ask(dsn, *_OLD, *rows, person)
        async with _opened(dsn) as store:
            await store.init()  # changes nothing more
            columns = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
            assert {("responds_to",), ("input_ids",)} <= set(await cluster.ask(dsn, columns))
            made = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()"
            indices = {str(row[0]): str(row[1]) for row in await cluster.ask(dsn, made)}
            assert indices["events_responds_to"].endswith("(room_id, responds_to, idx) WHERE (responds_to IS NOT NULL)")
            assert indices["events_input_ids"].endswith("WHERE (input_ids IS NOT NULL)")
            assert set(await cluster.ask(dsn, "SELECT responds_to, input_ids FROM events")) == {(None, None)}
            events = await store.list_events("old")
            assert [(event.id, event.index, event.responds_to) for event in events] == [(f"old-{n}", n, None) for n in range(3)]
            assert await store.list_rooms() == ["old", "quiet"]
            assert (await store.last_index("old"), await store.last_index("quiet")) == (2, None)
            answer = await store.append_next(_event(99, "old", responds_to="old-0"))
            assert answer.index == 3
            assert await store.list_events("old", event_filter=EventFilter(responds_to="old-0")) == [answer]
            assert (await store.append_next(_event(0, "quiet"))).index == 0

    async def test_many_processes_may_make_the_tables_at_once(self, cluster: Cluster) -> None:
        dsn = await cluster.fresh()
        stores = [PostgresStore(dsn) for _ in range(6)]
        await asyncio.gather(*(store.init() for store in stores))
        assert [await store.list_rooms() for store in stores] == [[]] * 6
        await asyncio.gather(*(store.close() for store in stores))

    async def test_answers_are_found_by_their_index(self, cluster: Cluster) -> None:
        dsn = await cluster.fresh()
        async with _opened(dsn) as store:
            for number in range(3):
                await store.append(_event(number, responds_to="r-0"))
        plan = "EXPLAIN SELECT event FROM events WHERE room_id = 'r' AND {} ORDER BY idx"
        calm = ("SET enable_seqscan = off", "ANALYZE events")
        said = str(await cluster.ask(dsn, *calm, plan.format("responds_to = 'r-0'")))
        assert "using events_responds_to" in said
        both = plan.format("(responds_to = 'r-0' OR input_ids @> ARRAY['r-0'])")
        said = str(await cluster.ask(dsn, *calm, "SET enable_indexscan = off", "DROP INDEX events_key", both))
        assert "events_input_ids" in said


class TestRefusals:
    @pytest.mark.parametrize(
        ("dsn", "said"),
        [
            ("mysql://ana:secret@host/rooms", "the address of the database cannot be read"),
            ("postgresql://ana:12/secret@host/rooms", "the database failed"),
            ("postgresql://ana:secret/more@host/rooms", "the address of the database cannot be read"),
            (
                "postgresql://ana:secret@127.0.0.1:1/rooms",
                r"the database rooms at 127.0.0.1 failed: .*\(check that the server runs",
            ),
            ("postgresql://ana@/rooms?host=/nowhere&password=secret", "check that the server runs and that its address"),
        ],
    )
    async def test_an_address_that_leads_nowhere(self, dsn: str, said: str) -> None:
        store = PostgresStore(dsn, timeout_ms=2_000)
        with pytest.raises(StoreError, match=said) as caught:
            await store.init()
        assert "secret" not in str(caught.value)
        with pytest.raises(StoreError, match="not open: call init first"):
            await store.list_rooms()
        await store.close()

    async def test_a_database_or_user_that_is_not_there(self, cluster: Cluster) -> None:
        for dsn, said in (
            (cluster.dsn("nowhere"), r'"nowhere" does not exist \(create the database'),
            (cluster.dsn().replace("voice@", "nobody@"), r'"nobody" does not exist \(check the user'),
        ):
            with pytest.raises(StoreError, match=said):
                await PostgresStore(dsn).init()

    async def test_a_database_of_another_encoding(self, cluster: Cluster) -> None:
        create = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        await cluster.ask(cluster.dsn(), create)
        with pytest.raises(StoreError, match=r"encoded in LATIN1: name a database that was created with ENCODING 'UTF8'"):
            await PostgresStore(cluster.dsn("latin")).init()

    async def test_what_utf8_cannot_hold(self, cluster: Cluster) -> None:
        async with _opened(await cluster.fresh()) as store:
            with pytest.raises(StoreError):
                await store.append(_event(0, room="\ud800"))
            with pytest.raises(StoreError):
                await store.get_event("r", "\ud800")
            with pytest.raises(StoreError):
                await store.append(_event(2**63))
            assert await store.list_rooms() == []

    async def test_a_closed_store_says_so(self, cluster: Cluster) -> None:
        async with _opened(await cluster.fresh()) as store:
            await store.append(_event(0))
        with pytest.raises(StoreError, match="is closed"):
            await store.append(_event(1))
        with pytest.raises(StoreError, match="is closed"):
            await store.init()


class TestBounds:
    async def test_a_statement_that_waits_too_long_leaves_nothing_behind(self, cluster: Cluster) -> None:
        dsn = await cluster.fresh()
        async with _opened(dsn, timeout_ms=200) as store:
            await store.append(_event(0))
            other = await asyncpg.connect(dsn)
            async with other.transaction():
                await other.execute("SELECT * FROM rooms FOR UPDATE")
                with pytest.raises(StoreError, match=r"statement timeout \(nothing came in time"):
                    await store.append_next(_event(1))
            await other.close()
            assert await _indices(store, "r") == [0]
            assert (await store.append_next(_event(2))).index == 1

    async def test_connections_are_bounded_and_so_is_waiting_for_one(self, cluster: Cluster) -> None:
        dsn = await cluster.fresh()
        async with _opened(dsn, timeout_ms=300, most_connections=2) as store:
            await store.append(_event(0))
            other = await asyncpg.connect(dsn)
            async with other.transaction():
                await other.execute("SELECT * FROM rooms FOR UPDATE")
                waiting = asyncio.gather(*(store.append_next(_event(n)) for n in range(1, 7)), return_exceptions=True)
                done = await waiting
                mine = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'voiceagent-%'"
                assert await cluster.ask(dsn, mine) == [(2,)]
            await other.close()
            assert [type(one) for one in done] == [StoreError] * 6
            await asyncio.gather(*(store.append_next(_event(n)) for n in range(7, 20)))
            assert await _indices(store, "r") == list(range(14))


class TestServer:
    async def test_a_server_that_comes_back_is_used_again(self, cluster: Cluster) -> None:
        async with _opened(await cluster.fresh(), timeout_ms=2_000) as store:
            await store.append(_event(0))
            await asyncio.to_thread(cluster.stop)
            with pytest.raises(StoreError, match="failed"):
                await store.append(_event(1))
            with pytest.raises(StoreError, match="check that the server runs"):
                await store.list_events("r")
            await asyncio.to_thread(cluster.start)
            await store.append(_event(1))
            assert await _indices(store, "r") == [0, 1]

    async def test_a_server_that_is_killed_loses_no_acknowledged_event(self, cluster: Cluster) -> None:
        acknowledged: dict[str, list[int]] = {"a": [], "b": [], "c": []}
        enough = asyncio.Event()
        numbers = count()

        async def write(store: PostgresStore, room: str) -> None:
            written = 0
            try:
                while True:
                    made = RoomEvent(f"{room}-{next(numbers)}", room, _SOURCE, TextContent("x" * (written * 37 % 900)), _AT)
                    acknowledged[room].append((await store.append_next(made)).index or 0)
                    written += 1
                    if written == 15:
                        enough.set()
            except StoreError:
                return

        async with _opened(await cluster.fresh(), timeout_ms=2_000) as store:
            for _ in range(3):
                enough.clear()
                async with asyncio.TaskGroup() as group:
                    for room in acknowledged:
                        group.create_task(write(store, room))
                    await enough.wait()
                    cluster.kill()
                cluster.start()
                for room, indices in acknowledged.items():
                    kept = await _indices(store, room)
                    assert kept == list(range(len(kept)))
                    assert set(indices) <= set(kept)
                    assert indices == sorted(set(indices))
            assert sum(map(len, acknowledged.values())) > 60
