"""The register of rooms kept in an SQLite file, in the table that schema.py makes."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from voiceagent.room.register.entry import RoomEntry, decode_entry, encode_entry

Run = Callable[[str, tuple[str | int | None, ...]], Awaitable[list[sqlite3.Row]]]

_PUT: Final = "INSERT INTO register (room_id, entry) VALUES (?, ?) ON CONFLICT (room_id) DO UPDATE SET entry = excluded.entry"
_GET: Final = "SELECT entry FROM register WHERE room_id = ?"
_LISTED: Final = "SELECT entry FROM register ORDER BY room_id"
_ERASE: Final = "DELETE FROM register WHERE room_id = ?"


class SqliteRegister:
    """A Register in a file that one engine writes to; `run` is the store's way to run one statement and its commit."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def put(self, entry: RoomEntry) -> None:
        """Keeps or replaces what is known of a room; returns after its commit."""
        await self._run(_PUT, (entry.room_id, encode_entry(entry)))

    async def get(self, room_id: str) -> RoomEntry | None:
        """One room."""
        rows = await self._run(_GET, (room_id,))
        return decode_entry(rows[0][0]) if rows else None

    async def listed(self) -> Sequence[RoomEntry]:
        """Every room of which something is known, by id."""
        return [decode_entry(row[0]) for row in await self._run(_LISTED, ())]

    async def erase(self, room_id: str) -> None:
        """Removes a room with everything of it: a trigger on its entry takes the rest along, in one commit."""
        await self._run(_PUT, (room_id, encode_entry(RoomEntry(room_id))))
        await self._run(_ERASE, (room_id,))
