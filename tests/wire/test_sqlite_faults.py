"""What the file, the disk or a neighbour refuses is a StoreError, and what was acknowledged before stays."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiosqlite
import pytest

from voiceagent.errors import StoreError
from voiceagent.room.events import ChannelType, EventSource, Participant, RoomEvent, TextContent
from voiceagent.room.schema import open_file
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter

_SOURCE = EventSource("voice", ChannelType.VOICE)
_ROOT = Path(__file__).resolve().parents[2]


def _event(index: int, body: str = "words", id: str | None = None) -> RoomEvent:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return RoomEvent(id or f"e{index}", "r", _SOURCE, TextContent(body), at, index=index)


async def _fill(store: SqliteStore, start: int = 0, most: int = 10_000) -> tuple[int, StoreError | None]:
    """Appends until the store refuses; the next free index, and the refusal."""
    for index in range(start, start + most):
        try:
            await store.append(_event(index, "x" * 3000))
        except StoreError as error:
            return index, error
    return start + most, None


class Neighbour:
    """Another process at the same file, see neighbour.py."""

    def __init__(self, *arguments: str | Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("neighbour.py")), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )

    def __enter__(self) -> "Neighbour":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)
        assert self._process.returncode == 0

    def says(self) -> Any:
        """The next thing it says."""
        assert self._process.stdout
        return json.loads(self._process.stdout.readline())

    def let_go(self) -> None:
        """Ends its hold on the file."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()


async def test_a_locked_file_is_an_error_after_the_timeout_and_works_again(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db", busy_timeout_ms=30)
    await store.append(_event(0))
    with Neighbour("hold", tmp_path / "rooms.db", "NORMAL") as neighbour:
        assert neighbour.says() == "held"
        with pytest.raises(StoreError, match=r"rooms\.db failed: database is locked \(another process holds"):
            await store.append(_event(1))
        with pytest.raises(StoreError, match="locked"):
            await store.put_participant("r", Participant("ana"))
        assert await store.list_events("r") == [_event(0)]
        neighbour.let_go()
        assert neighbour.says() == "free"
    await store.append(_event(1))
    assert await store.list_events("r") == [_event(0), _event(1)]
    await store.close()


async def test_an_append_waits_for_a_lock_that_is_let_go_in_time(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    with Neighbour("hold", tmp_path / "rooms.db", "NORMAL") as neighbour:
        assert neighbour.says() == "held"
        waiting = asyncio.create_task(store.append(_event(0)))
        await asyncio.sleep(0)
        neighbour.let_go()
        await waiting
    assert await store.list_events("r") == [_event(0)]
    await store.close()


async def test_a_file_that_is_locked_when_opened_is_opened_later(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    first = await SqliteStore.open(path)
    await first.append(_event(0))
    await first.close()
    store = SqliteStore(path, busy_timeout_ms=30)
    with Neighbour("hold", path, "EXCLUSIVE") as neighbour:
        assert neighbour.says() == "held"
        with pytest.raises(StoreError, match="locked"):
            await store.list_events("r")
        neighbour.let_go()
        assert neighbour.says() == "free"
    assert await store.list_events("r") == [_event(0)]
    await store.close()


async def test_two_processes_that_give_out_the_same_index(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    with Neighbour("append", tmp_path / "rooms.db") as neighbour:
        assert neighbour.says() == "done"
    with pytest.raises(StoreError, match="room 'r' already has an event with index 0: another engine or process"):
        await store.append(_event(0, id="ours"))
    await store.append(_event(1, id="ours"))
    assert [event.id for event in await store.list_events("r")] == ["theirs", "ours"]
    await store.close()


async def test_a_database_that_is_full_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    await store._run("PRAGMA max_page_count = 40", ())
    kept, error = await _fill(store)
    assert "database or disk is full (the disk or the file's quota is full: free some space" in str(error)
    assert 10 < kept < 40
    assert [event.index for event in await store.list_events("r")] == list(range(kept))
    with pytest.raises(StoreError, match="full"):
        await store.append(_event(kept, "x" * 3000))
    await store._run("PRAGMA max_page_count = 4000", ())
    await store.append(_event(kept))
    await store.close()
    again = await SqliteStore.open(tmp_path / "rooms.db")
    assert [event.index for event in await again.list_events("r")] == list(range(kept + 1))
    await again.close()


async def test_a_disk_without_space_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"

    with Neighbour("fill", path) as neighbour:
        kept, error, readable, after, second = neighbour.says()
    assert "rooms.db failed: " in error
    assert "free some space" in error
    assert kept > 10
    assert (readable, after, second) == (kept, kept + 20, None)
    store = await SqliteStore.open(path)
    assert [event.index for event in await store.list_events("r")] == list(range(after))
    await store.close()


async def test_a_process_that_dies_on_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"

    with Neighbour("die", path) as neighbour:
        kept = neighbour.says()
    store = await SqliteStore.open(path)
    assert [event.index for event in await store.list_events("r")] == list(range(kept))
    await store.append(_event(kept))
    await store.close()


async def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Opening hours: ten to six. " * 50)
    with pytest.raises(StoreError, match=r"notes\.txt failed: file is not a database \(it is not a database: name another"):
        await SqliteStore.open(path)
    assert path.read_text() == "Opening hours: ten to six. " * 50


async def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"unable to open database file \(it cannot be opened: check that its folder exists"):
        await SqliteStore.open(tmp_path)


async def test_a_place_that_keeps_no_log() -> None:
    with pytest.raises(StoreError, match=r":memory: cannot keep a write-ahead log \(memory instead\)"):
        await SqliteStore.open(":memory:")


async def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "data" / "rooms.db")
    with pytest.raises(StoreError, match="check that its folder exists"):
        await store.append(_event(0))
    (tmp_path / "data").mkdir()
    await store.append(_event(0))
    assert await store.list_events("r") == [_event(0)]
    await store.close()


@pytest.fixture
def read_only(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A store's path in a folder that may not be written to; the file is there already when the parameter says so."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rooms.db")
        if request.param:
            asyncio.run(_make(path))
            path.chmod(0o444)
        Path(folder).chmod(0o555)
        yield path
        Path(folder).chmod(0o755)


async def _make(path: Path) -> None:
    await (await SqliteStore.open(path)).close()


@pytest.mark.parametrize("read_only", [False, True], indirect=True)
def test_a_folder_that_may_not_be_written_to(read_only: Path) -> None:
    with Neighbour("open", read_only) as neighbour:
        message = neighbour.says()
    assert "rooms.db" in message
    assert "written to" in message


async def test_a_damaged_row_is_an_error_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    store = await SqliteStore.open(path)
    for index in range(3):
        await store.append(_event(index))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE events SET event = '{\"id\"' WHERE idx = 1")
        db.commit()
    with pytest.raises(StoreError, match="cannot be read"):
        await store.list_events("r")
    assert await store.list_events("r", event_filter=EventFilter(after_index=1)) == [_event(2)]
    await store.close()


async def test_words_that_utf8_cannot_hold_are_refused(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    with pytest.raises(StoreError):
        await store.append(_event(0, "\ud800"))
    with pytest.raises(StoreError):
        await store.get_event("r", "\ud800")
    with pytest.raises(StoreError):
        await store.append(_event(2**63))
    await store.append(_event(0))
    await store.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    await store.close()
    with pytest.raises(StoreError, match="is closed"):
        await store.append(_event(0))


def test_a_store_that_nobody_closed_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from voiceagent.room.sqlite import SqliteStore\n"
        "keep = asyncio.run(SqliteStore.open(sys.argv[1]))\n"
        "raise SystemExit(7)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path / "rooms.db")], cwd=_ROOT, timeout=30, check=False)
    assert ended.returncode == 7


async def test_what_was_asked_before_the_close_is_done(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    async with asyncio.TaskGroup() as group:
        for index in range(50):
            group.create_task(store.append(_event(index)))
        group.create_task(store.close())
    again = await SqliteStore.open(tmp_path / "rooms.db")
    assert await again.last_index("r") == 49
    await again.close()


async def test_first_uses_at_once_open_the_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []

    async def counting(path: Path, busy_timeout_ms: int) -> aiosqlite.Connection:
        opened.append(path)
        return await open_file(path, busy_timeout_ms)

    monkeypatch.setattr("voiceagent.room.sqlite.open_file", counting)
    store = SqliteStore(tmp_path / "rooms.db")
    async with asyncio.TaskGroup() as group:
        for index in range(20):
            group.create_task(store.append(_event(index)))
    assert await store.last_index("r") == 19
    await store.close()
    assert opened == [tmp_path / "rooms.db"]


async def test_after_a_cancelled_append_the_store_tells_the_truth(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "rooms.db")
    for index in range(20):
        task = asyncio.create_task(store.append(_event(index)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        last = await store.last_index("r")
        if last != index:
            await store.append(_event(index))
    assert len(await store.list_events("r")) == 20
    await store.close()
