"""Consumption kept in an SQLite file, in the table that schema.py makes."""

import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Final

from voiceagent.room.consumption.state import RANKS, Consumption, Row
from voiceagent.room.consumption.statements import COLUMNS, END, KEEP_THE_STRONGER, READ

_Value = str | int | None
Run = Callable[[str, tuple[_Value, ...]], Awaitable[list[sqlite3.Row]]]

_OF: Final = f"SELECT {READ} FROM consumption WHERE event_id = ?"
_END_LEFT: Final = (
    f"{END}, writer = ?1, at = ?2 WHERE room_id = ?3 AND state IN ('queued', 'playing') AND writer <> ?1"
    f" RETURNING event_id, {READ}"
)


class SqliteConsumption:
    """ConsumptionRows in a file that one engine writes to; `run` is the store's way to run one statement and its commit."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._writer = secrets.token_hex(8)

    async def put(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Keeps the rows that say more than what is kept, in one statement, and returns them. Raises StoreError."""
        if not rows:
            return ()
        values = tuple(value for row in rows for value in self._values(row))
        kept = {(event_id, channel, person or None) for event_id, channel, person in await self._run(_put(len(rows)), values)}
        return [row for row in rows if row.key in kept]

    async def of(self, event_id: str) -> Sequence[Consumption]:
        """What is kept of one answer. Raises StoreError."""
        return [_consumption(row) for row in await self._run(_OF, (event_id,))]

    async def end_left(self, room_id: str, at: datetime) -> Sequence[Row]:
        """Ends what earlier openings of the file have left queued or playing in a room; once. Raises StoreError."""
        rows = await self._run(_END_LEFT, (self._writer, at.isoformat(), room_id))
        return [Row(room_id, row[0], _consumption(row[1:])) for row in rows]

    def _values(self, row: Row) -> tuple[_Value, ...]:
        one = row.consumption
        named = (row.event_id, row.room_id, RANKS[one.state], self._writer, one.channel_id, one.participant_id or "")
        return (*named, one.state, one.heard_chars, one.played_ms, one.at.isoformat(), one.word)


@cache
def _put(rows: int) -> str:
    one = f"({', '.join('?' * 11)})"
    return f"INSERT INTO consumption ({COLUMNS}) VALUES {', '.join([one] * rows)} {KEEP_THE_STRONGER}"


def _consumption(row: Sequence[object]) -> Consumption:
    channel, person, state, heard, played, at, word = row
    return Consumption(channel, person or None, state, heard, played, datetime.fromisoformat(at), word)  # type: ignore[arg-type]
