"""Cursors kept in an SQLite file, in the table that schema.py makes."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

Run = Callable[[str, tuple[str | int | None, ...]], Awaitable[list[sqlite3.Row]]]

_NEW: Final = (
    "INSERT INTO cursors (follower, room_id, seq) SELECT ?1, room_id, seq FROM"
    " (SELECT room_id, max(seq) AS seq FROM lines GROUP BY room_id UNION ALL SELECT '', 0)"
    " WHERE NOT EXISTS (SELECT 1 FROM cursors WHERE follower = ?1)"
)
_BEHIND: Final = (
    "SELECT l.room_id FROM (SELECT room_id, max(seq) AS seq FROM lines GROUP BY room_id) AS l"
    " LEFT JOIN cursors AS c ON c.follower = ? AND c.room_id = l.room_id WHERE l.seq > coalesce(c.seq, 0)"
)
_AT: Final = "SELECT seq FROM cursors WHERE follower = ? AND room_id = ?"
_MOVE: Final = (
    "INSERT INTO cursors (follower, room_id, seq) VALUES (?, ?, ?)"
    " ON CONFLICT (follower, room_id) DO UPDATE SET seq = excluded.seq"
)


class SqliteCursors:
    """Cursors in a file that one engine writes to; `run` is the store's way to run one statement and its commit."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def begin(self, follower: str) -> Sequence[str]:
        """Makes a follower known; returns the rooms with lines that it has not been told of."""
        await self._run(_NEW, (follower,))  # the row of no room says that it is known
        return [row[0] for row in await self._run(_BEHIND, (follower,))]

    async def claim(self, follower: str, room_id: str) -> int | None:
        """The last line that a follower has of a room."""
        rows = await self._run(_AT, (follower, room_id))
        return rows[0][0] if rows else 0

    async def move(self, follower: str, room_id: str, seq: int) -> None:
        """The follower has this line, and all before it."""
        await self._run(_MOVE, (follower, room_id, seq))

    async def release(self, follower: str, room_id: str) -> None:
        """Nothing: one engine writes to a file."""
