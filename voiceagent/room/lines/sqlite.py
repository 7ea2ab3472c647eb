"""Lines of feeds in an SQLite file, in the table that schema.py makes."""

import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from itertools import chain
from typing import Final

from voiceagent.room.cursors.sqlite import SqliteCursors
from voiceagent.room.cursors.store import Cursors
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.codec import ENDING, OPENING, SILENCING, decode_line, encode_line, event_of, found_by, moment_of
from voiceagent.room.lines.numbering import FILLED, Row, numbered, untold
from voiceagent.room.lines.store import FeedEnd

_Value = str | int | None
Run = Callable[[str, tuple[_Value, ...]], Awaitable[list[sqlite3.Row]]]

_COLUMNS: Final = ("room_id", "seq", "type", "generation_id", "input_id", "idx", "writer", "line")
_ROOMS_KNOWN: Final = 10_000
_END: Final = (
    "SELECT seq, line, max(coalesce((SELECT told FROM feeds WHERE room_id = ?1), -1), coalesce("
    "(SELECT idx FROM lines WHERE room_id = ?1 AND idx IS NOT NULL ORDER BY seq DESC LIMIT 1), -1)) AS told"
    " FROM (SELECT 1) LEFT JOIN (SELECT seq, line FROM lines WHERE room_id = ?1 ORDER BY seq DESC LIMIT 1)"
)
_AFTER: Final = (
    "SELECT l.seq, l.type, l.line, l.idx, e.event FROM lines AS l"
    " LEFT JOIN events AS e ON e.room_id = l.room_id AND e.idx = l.idx"
    " WHERE l.room_id = ? AND l.seq > ? ORDER BY l.seq LIMIT ?"
)
_LEFT_OUT: Final = "SELECT idx FROM events WHERE room_id = ? AND idx > ? AND idx < ? ORDER BY idx DESC LIMIT ?"
_CLAIM: Final = (
    f"UPDATE lines SET writer = ?1 WHERE room_id = ?2 AND writer <> ?1 AND type IN {OPENING}"
    " AND NOT EXISTS (SELECT 1 FROM lines AS e WHERE e.room_id = lines.room_id AND e.seq > lines.seq AND CASE lines.type"
    f" WHEN '{OPENING[0]}' THEN e.type = '{ENDING[0]}' AND e.input_id = lines.input_id"
    f" WHEN '{OPENING[2]}' THEN e.type IN {SILENCING} AND e.generation_id = lines.generation_id"
    f" ELSE e.type IN {ENDING[1:]} AND e.generation_id = lines.generation_id END)"
    " RETURNING seq, type, line"
)


class SqliteLines:
    """A LineStore in a file that this process alone writes to, so that it counts by itself."""

    def __init__(self, run: Run) -> None:
        """`run` runs one statement and its commit, or raises StoreError."""
        self._run = run
        self._writer = secrets.token_hex(8)
        self._ends: dict[str, FeedEnd] = {}
        self._cursors = SqliteCursors(run)

    @property
    def cursors(self) -> Cursors:
        """How far followers outside have been told of the rooms' feeds."""
        return self._cursors

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        """Keeps lines in one statement and returns their numbers; None for an event that has its line already."""
        rooms = dict.fromkeys(line.room_id for line in lines)
        ends = {room: self._ends.get(room) or await self.end(room) for room in rooms}
        missing = {room: await self._left_out(room, *span) for room, span in untold(lines, ends).items()}
        plan = numbered(lines, ends, missing)
        if plan.rows:
            try:
                await self._run(_insert(len(plan.rows)), tuple(chain.from_iterable(map(self._values, plan.rows))))
            except BaseException:
                for room in rooms:
                    self._ends.pop(room, None)
                raise
        if len(self._ends) > _ROOMS_KNOWN:
            self._ends.clear()
        self._ends |= plan.ends
        return plan.numbers

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        """The oldest lines behind a number, at most so many."""
        rows = await self._run(_AFTER, (room_id, seq, max(0, limit)))
        return [decode_line((room_id, row[0]), row[1], row[2], event_of(row[4], row[3])) for row in rows]

    async def end(self, room_id: str) -> FeedEnd:
        """Where the room's feed ends."""
        [(seq, line, told)] = await self._run(_END, (room_id,))
        return FeedEnd(seq or 0, told, moment_of(line) if line else None)

    async def claim(self, room_id: str) -> list[FeedEvent]:
        """What earlier openings of the file have left open in a room; once."""
        rows = await self._run(_CLAIM, (self._writer, room_id))
        return [decode_line((room_id, row[0]), row[1], row[2]) for row in sorted(rows, key=lambda row: int(row[0]))]

    async def _left_out(self, room: str, told: int, index: int) -> list[int]:
        """Events without a line, of those between two that have one."""
        return [row[0] for row in reversed(await self._run(_LEFT_OUT, (room, told, index, FILLED)))]

    def _values(self, row: Row) -> tuple[_Value, ...]:
        line = row.line
        named = (found_by(line.type), found_by(line.generation_id), found_by(line.input_id))
        return (line.room_id, row.seq, *named, row.index, self._writer, encode_line(line))


@cache
def _insert(rows: int) -> str:
    one = f"({', '.join('?' * len(_COLUMNS))})"
    return f"INSERT INTO lines ({', '.join(_COLUMNS)}) VALUES {', '.join([one] * rows)}"
