"""Rooms kept in a Postgres database, which several processes may share."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

import asyncpg

from voiceagent.errors import StoreError
from voiceagent.room.codec import decode_event, decode_participant, encode_event, encode_participant, escape, unescape
from voiceagent.room.conflict import id_taken, index_taken, key_taken
from voiceagent.room.consumption.postgres import PostgresConsumption
from voiceagent.room.consumption.rows import ConsumptionRows
from voiceagent.room.database import Database, Value
from voiceagent.room.events import EventStatus, Participant, RoomEvent
from voiceagent.room.jobs.postgres import PostgresJobs
from voiceagent.room.jobs.row import JobRows
from voiceagent.room.lines.postgres import PostgresLines
from voiceagent.room.lines.store import LineStore
from voiceagent.room.pairings.pairing import PairingRows
from voiceagent.room.pairings.postgres import PostgresPairings
from voiceagent.room.questions.postgres import PostgresQuestions
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.register.entry import Register
from voiceagent.room.register.postgres import PostgresRegister
from voiceagent.room.store import EventFilter, taken_in
from voiceagent.room.tables import EVENT_COLUMNS, INDEX_TAKEN, KEY_TAKEN, PREPARE

log = logging.getLogger(__name__)

_CHANNEL: Final = "voiceagent_rooms"
_DECODED_AT_ONCE: Final = 200  # the loop gets its turn between two such slices


def _insert(place: str, index: str) -> str:
    """A statement that takes a room's row, and so its turn, and writes an event there: both or neither."""
    values = [f"${number}" for number in range(1, len(EVENT_COLUMNS) - 2)]
    return (
        f"WITH place AS (INSERT INTO rooms (room_id, next_index) VALUES ($11, {place} RETURNING room_id, next_index)"
        f" INSERT INTO events ({', '.join(EVENT_COLUMNS)})"
        f" SELECT {', '.join(values)}, $10::text[], place.room_id, {index} FROM place RETURNING idx"
    )


_APPEND: Final = _insert(
    "$12::bigint + 1) ON CONFLICT (room_id) DO UPDATE SET next_index = greatest(rooms.next_index, excluded.next_index)",
    "$12::bigint",
)
_APPEND_NEXT: Final = _insert(
    "1) ON CONFLICT (room_id) DO UPDATE SET next_index = rooms.next_index + 1",
    "place.next_index - 1",
)
_PUT_PARTICIPANT: Final = (
    "WITH place AS (INSERT INTO rooms (room_id, next_index) VALUES ($1, 0) ON CONFLICT DO NOTHING)"
    " INSERT INTO participants (room_id, participant_id, participant) VALUES ($1, $2, $3)"
    " ON CONFLICT (room_id, participant_id) DO UPDATE SET participant = excluded.participant"
)


class PostgresStore:
    """A Store and a SharedStore in a Postgres database; one asyncio loop uses it, and closes it.

    `await store.init()` comes first. An event whose append has returned survives the server's death. An append that raised
    left nothing behind, unless the line was lost while it ran or it was cancelled: then whatever is asked afterwards gives the
    true answer. Every method raises StoreError for what the server refuses, and goes on working once the cause is gone.
    """

    def __init__(self, dsn: str, *, timeout_ms: int = 5_000, most_connections: int = 8) -> None:
        """`dsn`: postgresql://user:password@host:port/name. `timeout_ms` bounds every statement and every wait for a connection;
        `most_connections` how many are open at once, besides the one that `news` listens on."""
        self._name = secrets.token_hex(8)
        application = f"voiceagent-{self._name}"
        self._database = Database(dsn, timeout_ms=timeout_ms, most_connections=most_connections, application=application)
        self._jobs = PostgresJobs(self._database)
        self.questions: QuestionRows = PostgresQuestions(self._database)
        self.register: Register = PostgresRegister(self._database)
        self.pairings: PairingRows = PostgresPairings(self._database)
        self._lines = PostgresLines(self._database, _CHANNEL, self._notice)
        self._consumption = PostgresConsumption(self._database)

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

    async def init(self) -> None:
        """Connects and makes the tables, or adds what those of an older program lack. May be called again. Raises StoreError."""
        await self._database.open(PREPARE)

    async def append(self, event: RoomEvent) -> None:
        """Keeps a committed event; returns after its commit. Raises StoreError, also when its index, id or key is taken."""
        if event.index is None:
            raise StoreError(f"event {event.id!r} has no index: only committed events are stored")
        await self._write(_APPEND, event, *_row(event), event.index)

    async def append_next(self, event: RoomEvent) -> RoomEvent:
        """Keeps an event at the room's next index, whoever gave out the last one, and returns it with that index.

        Other processes are told after the commit. Raises StoreError, also when its id or key is taken.
        """
        rows = await self._write(_APPEND_NEXT, event, *_row(event))
        try:
            # Not in the commit itself: there Postgres would let one commit of the whole database pass after the other.
            await self._database.fetch("SELECT pg_notify($1, $2)", _CHANNEL, self._notice(event.room_id))
        except StoreError as error:
            log.warning("room %s: other processes hear of event %s only with the next one: %s", event.room_id, event.id, error)
        return replace(event, index=rows[0]["idx"])

    async def news(self) -> AsyncIterator[str | None]:
        """Ids of rooms that another process wrote to; None when any may have been. Never ends by itself."""
        async for notice in self._database.notices(_CHANNEL):
            sender, _, room = (notice or "").partition(" ")
            if sender != self._name:
                yield unescape(room) or None

    async def list_events(
        self, room_id: str, *, event_filter: EventFilter | None = None, limit: int | None = None, newest: bool = False
    ) -> list[RoomEvent]:
        """Events in index order; with `newest`, the last `limit` of them, still in index order. `limit` is not negative."""
        if limit is not None and limit < 0:
            raise StoreError(f"limit must not be negative, and is {limit}")
        conditions, values = _conditions(room_id, event_filter or EventFilter())
        order = "DESC" if newest else "ASC"
        sql = f"SELECT idx, event FROM events WHERE {' AND '.join(conditions)} ORDER BY idx {order}"
        if limit is not None:
            values.append(limit)
            sql += f" LIMIT ${len(values)}::bigint"
        rows = await self._database.fetch(sql, *values)
        if newest:
            rows.reverse()
        events: list[RoomEvent] = []
        for start in range(0, len(rows), _DECODED_AT_ONCE):
            if start:
                await asyncio.sleep(0)
            events += [_event(row) for row in rows[start : start + _DECODED_AT_ONCE]]
        return events

    async def get_event(self, room_id: str, event_id: str) -> RoomEvent | None:
        """One event by its id, refused ones included."""
        rows = await self._database.fetch(
            "SELECT idx, event FROM events WHERE id = $1 AND room_id = $2", escape(event_id), escape(room_id)
        )
        return _event(rows[0]) if rows else None

    async def find_key(self, room_id: str, channel_id: str, idempotency_key: str) -> RoomEvent | None:
        """The event that a channel stored under this key."""
        rows = await self._database.fetch(
            "SELECT idx, event FROM events WHERE room_id = $1 AND channel_id = $2 AND idempotency_key = $3",
            *(escape(value) for value in (room_id, channel_id, idempotency_key)),
        )
        return _event(rows[0]) if rows else None

    async def last_index(self, room_id: str) -> int | None:
        """The newest index of a room, None while it has no events."""
        rows = await self._database.fetch(
            "SELECT next_index - 1 AS last FROM rooms WHERE room_id = $1 AND next_index > 0", escape(room_id)
        )
        return int(rows[0]["last"]) if rows else None

    async def put_participant(self, room_id: str, participant: Participant) -> None:
        """Keeps or replaces a participant, who stays in their place in the order of joining."""
        await self._database.fetch(_PUT_PARTICIPANT, escape(room_id), escape(participant.id), encode_participant(participant))

    async def list_participants(self, room_id: str) -> list[Participant]:
        """Everybody who ever joined, in order of joining."""
        rows = await self._database.fetch(
            "SELECT participant FROM participants WHERE room_id = $1 ORDER BY seat", escape(room_id)
        )
        return [decode_participant(row["participant"]) for row in rows]

    async def list_rooms(self) -> Sequence[str]:
        """Ids of rooms with at least one event or participant, sorted."""
        return sorted(unescape(row["room_id"]) for row in await self._database.fetch("SELECT room_id FROM rooms"))

    async def close(self) -> None:
        """Lets go of the connections after what was asked before. The store cannot be used again."""
        await self._database.close()

    def _notice(self, room_id: str) -> str:
        """What other processes are sent when this one has written to a room."""
        return f"{self._name} {escape(room_id)}"

    async def _write(self, sql: str, event: RoomEvent, *values: Value) -> list[asyncpg.Record]:
        try:
            return await self._database.fetch(sql, *values)
        except StoreError as error:
            raise _conflict(event, error.__cause__) or error from error.__cause__


def _row(event: RoomEvent) -> tuple[Value, ...]:
    """The values of EVENT_COLUMNS but the index."""
    others = [escape(one) for one in taken_in(event)]
    return (
        escape(event.id),
        event.type.value,
        event.status.value,
        escape(event.source.channel_id),
        _known(event.source.participant_id),
        _known(event.correlation_id),
        _known(event.idempotency_key),
        _known(event.responds_to),
        encode_event(replace(event, index=None)),
        others or None,
        escape(event.room_id),
    )


def _event(row: asyncpg.Record) -> RoomEvent:
    return replace(decode_event(row["event"]), index=row["idx"])


def _conditions(room_id: str, wanted: EventFilter) -> tuple[list[str], list[Value]]:
    """The filter as SQL conditions and their values."""
    answers = "responds_to = {0}" if not wanted.taken_in else "(responds_to = {0} OR input_ids @> ARRAY[{0}::text])"
    asked: tuple[tuple[str, Value], ...] = (
        ("room_id = {0}", escape(room_id)),
        (answers, _known(wanted.responds_to)),
        ("channel_id = {0}", _known(wanted.channel_id)),
        ("participant_id = {0}", _known(wanted.participant_id)),
        ("correlation_id = {0}", _known(wanted.correlation_id)),
        ("idx > {0}", wanted.after_index),
        ("idx < {0}", wanted.before_index),
        ("status <> {0}", None if wanted.blocked else EventStatus.BLOCKED.value),
        ("type = ANY({0}::text[])", None if wanted.types is None else [kind.value for kind in wanted.types]),
    )
    given = [(condition, value) for condition, value in asked if value is not None]
    conditions = [condition.format(f"${number}") for number, (condition, _) in enumerate(given, 1)]
    return conditions, [value for _, value in given]


def _conflict(event: RoomEvent, cause: BaseException | None) -> StoreError | None:
    """Which of the three unique places was taken, when that was the cause."""
    if not isinstance(cause, asyncpg.UniqueViolationError):
        return None
    match cause.constraint_name:
        case constraint if constraint == KEY_TAKEN:
            return key_taken(event)
        case constraint if constraint == INDEX_TAKEN:
            return index_taken(event)
    return id_taken(event)


def _known(value: str | None) -> str | None:
    return None if value is None else escape(value)
