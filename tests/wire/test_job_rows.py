"""What every store promises of agents' background jobs, on each of them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.wire.cluster import Cluster
from voiceagent.errors import StoreError
from voiceagent.room.jobs.desk import rows_of
from voiceagent.room.jobs.memory import MemoryJobs
from voiceagent.room.jobs.row import JobRow, JobRows
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

_AT = datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC)


def _job(number: int, room: str = "r", **more: object) -> JobRow:
    row = JobRow(f"{room}-{number}", room, "assistant", "g1", f"c{number}", "look_up", "{}", "Looking", "here 1", _AT)
    return replace(row, **more)  # type: ignore[arg-type]


@pytest.fixture
def rows(store: Store) -> JobRows:
    return rows_of(store)


async def test_a_job_comes_back_equal(rows: JobRows) -> None:
    row = _job(
        1,
        room="salón \x00",
        call_id="c\\0\x00",
        label="ищу \N{SNOWMAN}",
        result="x" * 20_000 + "\x00",
        response_visibility="text",
        parent_event_id="root",
        responds_to="q",
        chain_depth=3,
        state="failed",
    )
    await rows.put(row)
    assert await rows.untold("salón \x00") == [row]
    assert await rows.of_call(row.room_id, row.channel_id, row.generation_id, row.call_id) == row


async def test_what_is_told_is_listed_no_more_and_found_by_its_call(rows: JobRows) -> None:
    first, second, other = _job(1), _job(2), _job(3, room="other")
    for row in (first, second, other):
        await rows.put(row)
    assert await rows.untold("r") == [first, second]
    ended = replace(first, state="returned", result="42")
    await rows.put(ended)
    assert await rows.untold("r") == [ended, second]
    told = replace(ended, told=True)
    await rows.put(told)
    assert await rows.untold("r") == [second]
    assert await rows.untold("other") == [other]
    assert await rows.untold("nowhere") == []
    assert await rows.of_call("r", "assistant", "g1", "c1") == told


async def test_a_call_begins_one_job(rows: JobRows) -> None:
    await rows.put(_job(1))
    with pytest.raises(StoreError, match="has begun another job"):
        await rows.put(_job(2, call_id="c1"))
    await rows.put(_job(2, call_id="c1", generation_id="g2"))
    await rows.put(_job(3, call_id="c1", channel_id="other"))
    assert await rows.of_call("r", "assistant", "g1", "c1") == _job(1)
    assert await rows.of_call("r", "assistant", "g3", "c1") is None


async def test_what_utf8_cannot_hold_is_refused_by_a_file_and_leaves_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    with pytest.raises(StoreError, match="cannot be written"):
        await store.jobs.put(_job(1, label="\ud800"))
    assert await store.jobs.untold("r") == []
    await store.close()


async def test_a_file_keeps_jobs_when_it_is_closed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    await store.jobs.put(_job(1))
    await store.close()
    store = SqliteStore(tmp_path / "rooms.db")
    assert await store.jobs.untold("r") == [_job(1)]
    await store.close()


async def test_processes_on_one_database_know_who_still_runs(cluster: Cluster) -> None:
    dsn = await cluster.fresh()
    stores = [PostgresStore(dsn), PostgresStore(dsn)]
    for store in stores:
        await store.init()
    one, two = (store.jobs for store in stores)
    assert list(await one.living([two.keeper, "voiceagent-gone"])) == [two.keeper]
    assert list(await one.living([])) == []
    await stores[1].close()
    while await one.living([two.keeper]):
        pass  # the server takes a moment to see that the line is closed
    await stores[0].close()


async def test_a_store_without_jobs_has_them_kept_in_memory() -> None:
    class Plain:
        """A store of an older program."""

    assert isinstance(rows_of(Plain()), MemoryJobs)  # type: ignore[arg-type]
