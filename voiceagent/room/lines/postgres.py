"""Lines of feeds in a Postgres database that several processes share, in the tables that tables.py makes."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import asyncpg

from voiceagent.errors import StoreError
from voiceagent.room.codec import escape, unescape
from voiceagent.room.cursors.postgres import PostgresCursors
from voiceagent.room.cursors.store import Cursors
from voiceagent.room.database import Database
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.codec import ENDING, OPENING, SILENCING, decode_line, encode_line, event_of, found_by, moment_of
from voiceagent.room.lines.numbering import FILLED, Plan, numbered, untold
from voiceagent.room.lines.store import KEPT, FeedEnd

log = logging.getLogger(__name__)

_BLOCK: Final = 500
"""After how many lines old ones are let go."""

_NEW: Final = "INSERT INTO feeds (room_id, seq, told) SELECT unnest($1::text[]), 0, -1 ON CONFLICT DO NOTHING"
_TAKE: Final = "SELECT room_id, seq, told FROM feeds WHERE room_id = ANY($1::text[]) ORDER BY room_id FOR UPDATE"
_KEPT: Final = "SELECT EXISTS (SELECT FROM lines WHERE room_id = ANY($1::text[]) AND writer = $2 AND batch = $3::bigint) AS kept"
_LEFT_OUT: Final = "SELECT idx FROM events WHERE room_id = $1 AND idx > $2 AND idx < $3 ORDER BY idx DESC LIMIT $4"
_INSERT: Final = (
    "INSERT INTO lines (room_id, seq, type, generation_id, input_id, idx, line, writer, batch)"
    " SELECT *, $8, $9::bigint"
    " FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[])"
)
_MOVE: Final = (
    "UPDATE feeds SET seq = given.seq, told = given.told"
    " FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS given (room_id, seq, told) WHERE feeds.room_id = given.room_id"
)
_PRUNE: Final = "DELETE FROM lines WHERE room_id = $1 AND seq <= $2"
_TELL: Final = "SELECT pg_notify($1, notice) FROM unnest($2::text[]) AS notice"
_END: Final = (
    "SELECT f.seq, f.told, l.line FROM feeds AS f LEFT JOIN lines AS l ON l.room_id = f.room_id AND l.seq = f.seq"
    " WHERE f.room_id = $1"
)
_AFTER: Final = (
    "SELECT l.seq, l.type, l.line, l.idx, e.event FROM lines AS l"
    " LEFT JOIN events AS e ON e.room_id = l.room_id AND e.idx = l.idx"
    " WHERE l.room_id = $1 AND l.seq > $2::bigint ORDER BY l.seq LIMIT $3::bigint"
)
_CLAIM: Final = (
    f"UPDATE lines SET writer = $2 WHERE room_id = $1 AND type IN {OPENING}"
    " AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = lines.writer)"
    " AND NOT EXISTS (SELECT FROM lines AS e WHERE e.room_id = lines.room_id AND e.seq > lines.seq AND CASE lines.type"
    f" WHEN '{OPENING[0]}' THEN e.type = '{ENDING[0]}' AND e.input_id = lines.input_id"
    f" WHEN '{OPENING[2]}' THEN e.type IN {SILENCING} AND e.generation_id = lines.generation_id"
    f" ELSE e.type IN {ENDING[1:]} AND e.generation_id = lines.generation_id END)"
    " RETURNING seq, type, line"
)


class PostgresLines:
    """A LineStore that several processes append to: whoever does holds the rooms' rows, and so every number is given once.

    A process is known by the name of its connections; one that has none is gone, and what it left open may be claimed.
    """

    def __init__(self, database: Database, channel: str, notice: Callable[[str], str]) -> None:
        """Other processes are told of rooms on `channel`, each in the words of `notice`."""
        self._database = database
        self._channel = channel
        self._notice = notice
        self._batch = 0
        self._unsure = False
        self._cursors = PostgresCursors(database)

    @property
    def cursors(self) -> Cursors:
        """How far followers outside have been told of the rooms' feeds."""
        return self._cursors

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        """Keeps lines in one transaction and returns their numbers; None for what is kept already. Raises StoreError."""
        rooms = sorted({line.room_id for line in lines})
        unsure, self._unsure = self._unsure, True
        async with self._database.transaction() as connection:
            ends = await self._take(connection, rooms)
            numbers: list[int | None] = [None] * len(lines)
            if not unsure or not await self._is_kept(connection, rooms):
                missing = {room: await self._left_out(connection, room, *span) for room, span in untold(lines, ends).items()}
                plan = numbered(lines, ends, missing)
                await self._write(connection, plan, ends)
                numbers = plan.numbers
        self._unsure = False
        self._batch += 1
        await self._tell(rooms)
        return numbers

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        """The oldest lines behind a number, at most so many."""
        rows = await self._database.fetch(_AFTER, escape(room_id), seq, max(0, limit))
        return [decode_line((room_id, row["seq"]), row["type"], row["line"], event_of(row["event"], row["idx"])) for row in rows]

    async def end(self, room_id: str) -> FeedEnd:
        """Where the room's feed ends."""
        rows = await self._database.fetch(_END, escape(room_id))
        if not rows:
            return FeedEnd()
        return FeedEnd(rows[0]["seq"], rows[0]["told"], moment_of(rows[0]["line"]) if rows[0]["line"] else None)

    async def claim(self, room_id: str) -> list[FeedEvent]:
        """What processes that are gone have left open in a room; each line goes to one caller."""
        rows = await self._database.fetch(_CLAIM, escape(room_id), self._database.application)
        found = [decode_line((room_id, row["seq"]), row["type"], row["line"]) for row in rows]
        return sorted(found, key=lambda line: line.seq or 0)

    async def _take(self, connection: asyncpg.Connection, rooms: Sequence[str]) -> dict[str, FeedEnd]:
        """The rooms' rows, held until the transaction ends; in one order, so that no two processes wait in a circle."""
        named = sorted(map(escape, rooms))
        rows = await connection.fetch(_TAKE, named)
        if len(rows) < len(named):
            await connection.execute(_NEW, named)
            rows = await connection.fetch(_TAKE, named)
        return {unescape(row["room_id"]): FeedEnd(row["seq"], row["told"]) for row in rows}

    async def _is_kept(self, connection: asyncpg.Connection, rooms: Sequence[str]) -> bool:
        """Whether the batch was committed though the last append raised, because the line to the server was lost."""
        kept: bool = await connection.fetchval(_KEPT, list(map(escape, rooms)), self._database.application, self._batch)
        return kept

    async def _left_out(self, connection: asyncpg.Connection, room: str, told: int, index: int) -> list[int]:
        """Events without a line, of those between two that have one."""
        rows = await connection.fetch(_LEFT_OUT, escape(room), told, index, FILLED)
        return [row["idx"] for row in reversed(rows)]

    async def _write(self, connection: asyncpg.Connection, plan: Plan, before: Mapping[str, FeedEnd]) -> None:
        if not plan.rows:
            return
        columns = zip(
            *(
                (
                    escape(row.line.room_id),
                    row.seq,
                    found_by(row.line.type),
                    found_by(row.line.generation_id),
                    found_by(row.line.input_id),
                    row.index,
                    encode_line(row.line),
                )
                for row in plan.rows
            ),
            strict=True,
        )
        await connection.execute(_INSERT, *map(list, columns), self._database.application, self._batch)
        ends = [(escape(room), end.seq, end.told) for room, end in plan.ends.items()]
        await connection.execute(_MOVE, *map(list, zip(*ends, strict=True)))
        for room, end in plan.ends.items():
            if end.seq // _BLOCK > before[room].seq // _BLOCK and end.seq > KEPT:
                await connection.execute(_PRUNE, escape(room), end.seq - KEPT)

    async def _tell(self, rooms: Sequence[str]) -> None:
        """Tells other processes. Not in the commit itself: there Postgres would let one commit pass after the other."""
        try:
            await self._database.fetch(_TELL, self._channel, [self._notice(room) for room in rooms])
        except StoreError as error:
            log.warning("other processes hear of lines of %s rooms only with the next ones: %s", len(rooms), error)
