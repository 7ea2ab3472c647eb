"""Consumption kept in a Postgres database that several processes share, in the table that tables.py makes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import asyncpg

from voiceagent.room.codec import escape, unescape
from voiceagent.room.consumption.state import RANKS, Consumption, Row
from voiceagent.room.consumption.statements import COLUMNS, END, KEEP_THE_STRONGER, READ
from voiceagent.room.database import Database, Value

_GIVEN: Final = ", ".join(f"${number}::text[]" for number in range(1, 12))
_PUT: Final = (
    f"INSERT INTO consumption ({COLUMNS}) SELECT e, r, s::int, w, c, p, t, h::int, m::int, a, nullif(x, '')"
    f" FROM unnest({_GIVEN}) AS given (e, r, s, w, c, p, t, h, m, a, x) {KEEP_THE_STRONGER}"
)
_OF: Final = f"SELECT {READ} FROM consumption WHERE event_id = $1"
_END_LEFT: Final = (
    f"{END}, writer = $1, at = $2 WHERE room_id = $3 AND state IN ('queued', 'playing') AND writer <> $1"
    " AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = writer)"
    f" RETURNING event_id, {READ}"
)


class PostgresConsumption:
    """ConsumptionRows whose writers are known by the names of their connections: one that has none is gone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Keeps the rows that say more than what is kept, in one statement, and returns them. Raises StoreError."""
        if not rows:
            return ()
        ordered = sorted(rows, key=lambda row: (*row.key[:2], row.key[2] or ""))  # two processes never wait for each other
        columns: list[Value] = [list(column) for column in zip(*map(self._values, ordered), strict=True)]
        found = await self._database.fetch(_PUT, *columns)
        kept = {(row["event_id"], row["channel_id"], row["participant_id"]) for row in found}
        return [row for row in rows if tuple(escape(name or "") for name in row.key) in kept]

    async def of(self, event_id: str) -> Sequence[Consumption]:
        """What is kept of one answer. Raises StoreError."""
        return [_consumption(row) for row in await self._database.fetch(_OF, escape(event_id))]

    async def end_left(self, room_id: str, at: datetime) -> Sequence[Row]:
        """Ends what processes that are gone have left queued or playing in a room; once. Raises StoreError."""
        rows = await self._database.fetch(_END_LEFT, self._database.application, at.isoformat(), escape(room_id))
        return [Row(room_id, unescape(row["event_id"]), _consumption(row)) for row in rows]

    def _values(self, row: Row) -> tuple[str, ...]:
        one = row.consumption
        return (
            escape(row.event_id),
            escape(row.room_id),
            str(RANKS[one.state]),
            self._database.application,
            escape(one.channel_id),
            escape(one.participant_id or ""),
            one.state,
            str(one.heard_chars),
            str(one.played_ms),
            one.at.isoformat(),
            escape(one.word or ""),
        )


def _consumption(row: asyncpg.Record) -> Consumption:
    return Consumption(
        unescape(row["channel_id"]),
        unescape(row["participant_id"]) or None,
        row["state"],
        row["heard_chars"],
        row["played_ms"],
        datetime.fromisoformat(row["at"]),
        None if row["word"] is None else unescape(row["word"]),
    )
