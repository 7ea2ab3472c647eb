"""Files of older versions are brought up to date when they are opened, and those of newer ones are left alone."""

import runpy
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from voiceagent.errors import StoreError
from voiceagent.room.events import ChannelType, EventSource, Participant, RoomEvent, TextContent
from voiceagent.room.opening import Opening
from voiceagent.room.schema import VERSION
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter

_make: Callable[[int, Path], list[str]] = runpy.run_path(str(Path(__file__).with_name("make_old_stores.py")))["make"]
_AGENT = EventSource("assistant", ChannelType.AI)
_OLD_VERSIONS = pytest.mark.parametrize("version", [1, 2, 3])


def _ask(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def _answer(index: int, responds_to: str | None) -> RoomEvent:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return RoomEvent(f"new-{index}", "old", _AGENT, TextContent("new"), at, index=index, responds_to=responds_to)


@_OLD_VERSIONS
async def test_an_old_file_gains_the_column_and_its_index(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    _make(version, path)
    assert "responds_to" not in [row[1] for row in _ask(path, "PRAGMA table_info(events)")]
    await (await SqliteStore.open(path)).close()
    assert _ask(path, "PRAGMA user_version") == [(VERSION,)]
    assert "responds_to" in [row[1] for row in _ask(path, "PRAGMA table_info(events)")]
    assert [row[2] for row in _ask(path, "PRAGMA index_info(events_responds_to)")] == ["room_id", "responds_to", "idx"]
    assert _ask(path, "PRAGMA integrity_check") == [("ok",)]


@_OLD_VERSIONS
async def test_old_rows_answer_nothing_and_everything_else_stays(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    ids = _make(version, path)
    store = await SqliteStore.open(path)
    events = await store.list_events("old", event_filter=EventFilter(blocked=True))
    assert [event.id for event in events] == ids
    assert [event.responds_to for event in events] == [None] * 4
    assert [event.content.body for event in events] == ["line 0", "line 1", "line 2", "line 3"]
    assert [event.metadata for event in events] == [{"version": version}] * 4
    assert [event.id for event in await store.list_events("old")] == ["old-0", "old-1", "old-3"]
    assert len(await store.list_events("old", event_filter=EventFilter(correlation_id="turn-1"))) == 2
    people = [Participant("ana", "Ana", connected_via=("voice",))] if version >= 2 else []
    assert await store.list_participants("old") == people
    keyed = await store.find_key("old", "voice", "k1")
    assert (keyed.id if keyed else None) == ("old-0" if version == 3 else None)
    await store.close()


@_OLD_VERSIONS
async def test_an_old_file_takes_new_answers(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    _make(version, path)
    store = await SqliteStore.open(path)
    answer = replace(_answer(4, "old-0"), idempotency_key="k2")
    await store.append(answer)
    assert await store.list_events("old", event_filter=EventFilter(responds_to="old-0")) == [answer]
    assert await store.find_key("old", "assistant", "k2") == answer
    await store.close()


@_OLD_VERSIONS
async def test_an_old_file_becomes_the_same_as_a_new_one(tmp_path: Path, version: int) -> None:
    shape = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"
    _make(version, tmp_path / "old.db")
    for name in ("old.db", "new.db"):
        await (await SqliteStore.open(tmp_path / name)).close()
    assert _ask(tmp_path / "old.db", shape) == _ask(tmp_path / "new.db", shape)


async def test_a_migration_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    ids = _make(2, path)
    with closing(sqlite3.connect(path)) as db:  # the last step's index is in the way
        db.execute("CREATE INDEX events_responds_to ON events (room_id)")
    with pytest.raises(StoreError, match="already exists"):
        await SqliteStore.open(path)
    assert _ask(path, "PRAGMA user_version") == [(2,)]
    assert "idempotency_key" not in [row[1] for row in _ask(path, "PRAGMA table_info(events)")]
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP INDEX events_responds_to")
    store = await SqliteStore.open(path)
    assert len(await store.list_events("old", event_filter=EventFilter(blocked=True))) == len(ids)
    await store.close()


async def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE events (unknown TEXT)")
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    said = f"schema version {VERSION + 1}, and this program knows versions up to {VERSION}: install a newer version"
    with pytest.raises(StoreError, match=said):
        await SqliteStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 3, 4, -1])
async def test_the_database_of_another_program_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "bookmarks.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
        db.execute("INSERT INTO bookmarks VALUES ('here')")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
    with pytest.raises(StoreError, match=r"bookmarks\.db"):
        await SqliteStore.open(path)
    assert _ask(path, "SELECT * FROM bookmarks") == [("here",)]
    assert _ask(path, "SELECT name FROM sqlite_schema") == [("bookmarks",)]


async def test_answers_are_found_by_their_index(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    await (await SqliteStore.open(path)).close()
    question = "WHERE room_id = 'r' AND responds_to = 'q' AND status <> 'blocked' ORDER BY idx"
    [plan] = [row[3] for row in _ask(path, f"EXPLAIN QUERY PLAN SELECT event FROM events {question}") if "SEARCH" in str(row[3])]
    assert "events_responds_to (room_id=? AND responds_to=?)" in str(plan)


@_OLD_VERSIONS
async def test_an_old_files_history_is_not_told_again(tmp_path: Path, version: int) -> None:
    _make(version, tmp_path / "old.db")
    store = await SqliteStore.open(tmp_path / "old.db")
    await store.append(_answer(4, "old-0"))
    opening = Opening(store)
    room = await opening.room("old")
    await opening.close()
    assert [(line.seq, line.event and line.event.id) for line in await store.feed_lines.after("old", 0, 9)] == [(1, "new-4")]
    assert room.feed.seq == 1
    await store.close()
