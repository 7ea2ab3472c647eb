"""Cursors kept in a Postgres database that several processes share, in the table that tables.py makes."""

from collections.abc import Sequence
from typing import Final

from voiceagent.room.codec import escape, unescape
from voiceagent.room.database import Database

_NOBODY: Final = "-"
_NEW: Final = (
    "INSERT INTO cursors (follower, room_id, seq, owner) SELECT $1::text, room_id, seq, '-' FROM"
    " (SELECT room_id, seq FROM feeds UNION ALL SELECT '', 0) AS ends"
    " WHERE NOT EXISTS (SELECT FROM cursors WHERE follower = $1) ON CONFLICT DO NOTHING"
)
_BEHIND: Final = (
    "SELECT f.room_id FROM feeds AS f LEFT JOIN cursors AS c ON c.follower = $1 AND c.room_id = f.room_id"
    " WHERE f.seq > coalesce(c.seq, 0)"
)
_CLAIM: Final = (
    "INSERT INTO cursors (follower, room_id, seq, owner) VALUES ($1, $2, 0, $3)"
    " ON CONFLICT (follower, room_id) DO UPDATE SET owner = excluded.owner"
    " WHERE cursors.owner IN (excluded.owner, '-')"
    " OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = cursors.owner)"
    " RETURNING seq"
)
_MOVE: Final = "UPDATE cursors SET seq = $4::bigint WHERE follower = $1 AND room_id = $2 AND owner = $3"
_RELEASE: Final = "UPDATE cursors SET owner = $4 WHERE follower = $1 AND room_id = $2 AND owner = $3"


class PostgresCursors:
    """Cursors that one process at a time moves; it is known by the name of its connections, and one that has none is gone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, follower: str) -> Sequence[str]:
        """Makes a follower known; returns the rooms with lines that it has not been told of."""
        await self._database.fetch(_NEW, follower)  # the row of no room says that it is known
        return [unescape(row["room_id"]) for row in await self._database.fetch(_BEHIND, follower)]

    async def claim(self, follower: str, room_id: str) -> int | None:
        """The last line that a follower has of a room; None while another process tells it the next ones."""
        rows = await self._database.fetch(_CLAIM, follower, escape(room_id), self._database.application)
        return int(rows[0]["seq"]) if rows else None

    async def move(self, follower: str, room_id: str, seq: int) -> None:
        """The follower has this line, and all before it."""
        await self._database.fetch(_MOVE, follower, escape(room_id), self._database.application, seq)

    async def release(self, follower: str, room_id: str) -> None:
        """Another process may go on."""
        await self._database.fetch(_RELEASE, follower, escape(room_id), self._database.application, _NOBODY)
