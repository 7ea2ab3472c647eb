"""Rooms kept in an SQLite file."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import aiosqlite

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.codec import decode_event, decode_participant, encode_event, encode_participant, escape
from voiceagent.room.conflict import id_taken, index_taken, key_taken
from voiceagent.room.consumption.rows import ConsumptionRows
from voiceagent.room.consumption.sqlite import SqliteConsumption
from voiceagent.room.events import EventStatus, Participant, RoomEvent
from voiceagent.room.jobs.row import JobRows
from voiceagent.room.jobs.sqlite import SqliteJobs
from voiceagent.room.lines.sqlite import SqliteLines
from voiceagent.room.lines.store import LineStore
from voiceagent.room.pairings.pairing import PairingRows
from voiceagent.room.pairings.sqlite import SqlitePairings
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.questions.sqlite import SqliteQuestions
from voiceagent.room.register.entry import Register
from voiceagent.room.register.sqlite import SqliteRegister
from voiceagent.room.schema import EVENT_COLUMNS, open_file
from voiceagent.room.store import EventFilter, taken_in

_Value = str | int | None

_INSERT = f"INSERT INTO events ({', '.join(EVENT_COLUMNS)}) VALUES ({', '.join('?' * len(EVENT_COLUMNS))})"
_PUT_PARTICIPANT = (
    "INSERT INTO participants (room_id, participant_id, participant) VALUES (?, ?, ?)"
    " ON CONFLICT (room_id, participant_id) DO UPDATE SET participant = excluded.participant"
)
# From one room's id to the next by the index, so that the time goes with the number of rooms, not of events.
_ROOMS = """
WITH RECURSIVE
  spoken (id) AS (
    SELECT min(room_id) FROM events
    UNION ALL SELECT (SELECT min(room_id) FROM events WHERE room_id > spoken.id) FROM spoken WHERE spoken.id IS NOT NULL),
  joined (id) AS (
    SELECT min(room_id) FROM participants
    UNION ALL SELECT (SELECT min(room_id) FROM participants WHERE room_id > joined.id) FROM joined WHERE joined.id IS NOT NULL)
SELECT id FROM spoken WHERE id IS NOT NULL UNION SELECT id FROM joined WHERE id IS NOT NULL ORDER BY id
"""
_ANSWERS = (
    "idx IN (SELECT idx FROM events WHERE room_id = ? AND responds_to = ?"
    " UNION SELECT idx FROM taken_in WHERE room_id = ? AND input_id = ?)"
)
_DECODED_AT_ONCE = 200  # about 2 ms of reading; the loop gets its turn between two such slices


class SqliteStore:
    """A Store in one file, opened at its first use or by `open`; one asyncio loop uses it, and closes it.

    An event whose `append` has returned survives the death of the process. An append that raised left nothing behind, and
    the store goes on working once the cause (a full disk, somebody's lock) is gone. An append that was cancelled may have
    been kept: whatever is asked afterwards gives the true answer. Every method raises StoreError for what the file refuses.
    """

    def __init__(self, path: Path | str, *, busy_timeout_ms: int = 5000) -> None:
        """`busy_timeout_ms`: how long to wait for another process's lock before giving up."""
        self._path = Path(path)
        self._busy_timeout_ms = busy_timeout_ms
        self._db: aiosqlite.Connection | None = None
        self._opening = asyncio.Lock()
        self._closed = False
        self._jobs = SqliteJobs(self._run)
        self.questions: QuestionRows = SqliteQuestions(self._run)
        self.register: Register = SqliteRegister(self._run)
        self.pairings: PairingRows = SqlitePairings(self._run)
        self._lines = SqliteLines(self._run)
        self._consumption = SqliteConsumption(self._run)

    @property
    def jobs(self) -> JobRows:
        """Where agents' background jobs are kept."""
        return self._jobs

    @property
    def consumption(self) -> ConsumptionRows:
        """Where it is kept what became of answers."""
        return self._consumption

    @property
    def feed_lines(self) -> LineStore:
        """Where the lines of the rooms' feeds are kept."""
        return self._lines

    @classmethod
    async def open(cls, path: Path | str, *, busy_timeout_ms: int = 5000) -> Self:
        """A store whose file is open, of the newest schema, and known to be usable."""
        store = cls(path, busy_timeout_ms=busy_timeout_ms)
        await store._connection()
        return store

    async def append(self, event: RoomEvent) -> None:
        """Keeps a committed event; returns after its commit. Raises StoreError, also when its index, id or key is taken."""
        try:
            await self._run(_INSERT, _row(event))
        except StoreError as error:
            raise _conflict(event, error.__cause__) or error from error.__cause__

    async def list_events(
        self, room_id: str, *, event_filter: EventFilter | None = None, limit: int | None = None, newest: bool = False
    ) -> list[RoomEvent]:
        """Events in index order; with `newest`, the last `limit` of them, still in index order. `limit` is not negative."""
        if limit is not None and limit < 0:
            raise StoreError(f"limit must not be negative, and is {limit}")
        conditions, values = _conditions(room_id, event_filter or EventFilter())
        order = "DESC" if newest else "ASC"
        rows = await self._run(
            f"SELECT event FROM events WHERE {' AND '.join(conditions)} ORDER BY idx {order} LIMIT ?",
            (*values, -1 if limit is None else limit),
        )
        if newest:
            rows.reverse()
        events: list[RoomEvent] = []
        for start in range(0, len(rows), _DECODED_AT_ONCE):
            if start:
                await asyncio.sleep(0)
            events += [decode_event(row[0]) for row in rows[start : start + _DECODED_AT_ONCE]]
        return events

    async def get_event(self, room_id: str, event_id: str) -> RoomEvent | None:
        """One event by its id, refused ones included."""
        rows = await self._run("SELECT event FROM events WHERE id = ? AND room_id = ?", (event_id, room_id))
        return decode_event(rows[0][0]) if rows else None

    async def find_key(self, room_id: str, channel_id: str, idempotency_key: str) -> RoomEvent | None:
        """The event that a channel stored under this key."""
        rows = await self._run(
            "SELECT event FROM events WHERE room_id = ? AND channel_id = ? AND idempotency_key = ?",
            (room_id, channel_id, idempotency_key),
        )
        return decode_event(rows[0][0]) if rows else None

    async def last_index(self, room_id: str) -> int | None:
        """The newest index of a room, None while it has no events."""
        rows = await self._run("SELECT max(idx) FROM events WHERE room_id = ?", (room_id,))
        index: int | None = rows[0][0]
        return index

    async def put_participant(self, room_id: str, participant: Participant) -> None:
        """Keeps or replaces a participant, who stays in their place in the order of joining."""
        await self._run(_PUT_PARTICIPANT, (room_id, participant.id, encode_participant(participant)))

    async def list_participants(self, room_id: str) -> list[Participant]:
        """Everybody who ever joined, in order of joining."""
        rows = await self._run("SELECT participant FROM participants WHERE room_id = ? ORDER BY seat", (room_id,))
        return [decode_participant(row[0]) for row in rows]

    async def list_rooms(self) -> Sequence[str]:
        """Ids of rooms with at least one event or participant, sorted."""
        return [row[0] for row in await self._run(_ROOMS, ())]

    async def close(self) -> None:
        """Lets go of the file after what was asked before; what was appended stays. The store cannot be used again."""
        self._closed = True
        async with self._opening:
            db, self._db = self._db, None
            if db is None:
                return
            try:
                with clock.outside():
                    await db.close()
            except sqlite3.Error as error:
                raise _store_error(self._path, error) from error

    async def _connection(self) -> aiosqlite.Connection:
        async with self._opening:
            if self._closed:
                raise StoreError(f"the store {self._path} is closed")
            if self._db is None:
                try:
                    self._db = await open_file(self._path, self._busy_timeout_ms)
                except sqlite3.Error as error:
                    raise _store_error(self._path, error) from error
            return self._db

    async def _run(self, sql: str, values: tuple[_Value, ...]) -> list[sqlite3.Row]:
        """One statement, and its commit, in one hop to the database's thread (measured: 0.09 ms for an append)."""
        db = self._db or await self._connection()
        try:
            with clock.outside():
                return list(await db.execute_fetchall(sql, values))
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise _store_error(self._path, error) from error


def _row(event: RoomEvent) -> tuple[_Value, ...]:
    """The values of EVENT_COLUMNS."""
    if event.index is None:
        raise StoreError(f"event {event.id!r} has no index: only committed events are stored")
    others = [escape(one) for one in taken_in(event)]  # SQLite reads JSON's strings up to a NUL
    return (
        event.id,
        event.room_id,
        event.index,
        event.type,
        event.status,
        event.source.channel_id,
        event.source.participant_id,
        event.correlation_id,
        event.idempotency_key,
        event.responds_to,
        encode_event(event),
        json.dumps(others, ensure_ascii=False) if others else None,
    )


def _conditions(room_id: str, wanted: EventFilter) -> tuple[list[str], list[_Value]]:
    """The filter as SQL conditions and their values."""
    asked: tuple[tuple[str, _Value], ...] = (
        ("room_id = ?", room_id),
        ("responds_to = ?", None if wanted.taken_in else wanted.responds_to),
        ("channel_id = ?", wanted.channel_id),
        ("participant_id = ?", wanted.participant_id),
        ("correlation_id = ?", wanted.correlation_id),
        ("idx > ?", wanted.after_index),
        ("idx < ?", wanted.before_index),
        ("status <> ?", None if wanted.blocked else EventStatus.BLOCKED.value),
    )
    conditions = [condition for condition, value in asked if value is not None]
    values: list[_Value] = [value for _, value in asked if value is not None]
    if wanted.types is not None:
        conditions.append(f"type IN ({', '.join('?' * len(wanted.types))})")
        values += [kind.value for kind in wanted.types]
    if wanted.taken_in and wanted.responds_to is not None:
        conditions.append(_ANSWERS)
        values += [room_id, wanted.responds_to, room_id, escape(wanted.responds_to)]
    return conditions, values


def _conflict(event: RoomEvent, cause: BaseException | None) -> StoreError | None:
    """Which of the three unique places was taken, when that was the cause."""
    if not isinstance(cause, sqlite3.IntegrityError):
        return None
    text = str(cause)
    if "events.idempotency_key" in text:
        return key_taken(event)
    return index_taken(event) if "events.idx" in text else id_taken(event)


_NEXT_STEPS = {
    sqlite3.SQLITE_BUSY: "another process holds its lock: stop that process, or allow a longer busy timeout",
    sqlite3.SQLITE_LOCKED: "another process holds its lock: stop that process, or allow a longer busy timeout",
    sqlite3.SQLITE_FULL: "the disk or the file's quota is full: free some space; what was stored before stays",
    sqlite3.SQLITE_IOERR: "the disk refuses to read or write: free some space or check the disk; what was stored before stays",
    sqlite3.SQLITE_NOTADB: "it is not a database: name another file, or move this one away",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check that its folder exists, may be written to, and that it is a file",
    sqlite3.SQLITE_READONLY: "it or its folder may not be written to: change the permissions or name another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged: restore a copy, or move it away",
}


def _store_error(path: Path, error: Exception) -> StoreError:
    """The same fault with the file's name and what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind of fault
    step = _NEXT_STEPS.get(code)
    return StoreError(f"the store {path} failed: {error}" + (f" ({step})" if step else ""))
