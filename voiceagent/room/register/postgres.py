"""The register of rooms kept in a Postgres database, in the table that tables.py makes."""

from collections.abc import Sequence
from typing import Final

from voiceagent.room.codec import escape
from voiceagent.room.database import Database
from voiceagent.room.register.entry import RoomEntry, decode_entry, encode_entry

_PUT: Final = "INSERT INTO register (room_id, entry) VALUES ($1, $2) ON CONFLICT (room_id) DO UPDATE SET entry = excluded.entry"
_GET: Final = "SELECT entry FROM register WHERE room_id = $1"
_LISTED: Final = "SELECT entry FROM register ORDER BY room_id"
_ERASE: Final = (
    # The two rows whose holder may write to the room come first, so that nobody writes meanwhile.
    "DELETE FROM rooms WHERE room_id = $1",
    "DELETE FROM feeds WHERE room_id = $1",
    "DELETE FROM lines WHERE room_id = $1",
    "DELETE FROM events WHERE room_id = $1",
    "DELETE FROM participants WHERE room_id = $1",
    "DELETE FROM jobs WHERE room_id = $1",
    "DELETE FROM consumption WHERE room_id = $1",
    "DELETE FROM questions WHERE room_id = $1 OR asked_in = $1",
    "DELETE FROM cursors WHERE room_id = $1 AND room_id <> ''",
    "DELETE FROM register WHERE room_id = $1",
)


class PostgresRegister:
    """A Register in a database that several processes share."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, entry: RoomEntry) -> None:
        """Keeps or replaces what is known of a room; returns after its commit."""
        await self._database.fetch(_PUT, escape(entry.room_id), encode_entry(entry))

    async def get(self, room_id: str) -> RoomEntry | None:
        """One room."""
        rows = await self._database.fetch(_GET, escape(room_id))
        return decode_entry(rows[0]["entry"]) if rows else None

    async def listed(self) -> Sequence[RoomEntry]:
        """Every room of which something is known, by id."""
        return [decode_entry(row["entry"]) for row in await self._database.fetch(_LISTED)]

    async def erase(self, room_id: str) -> None:
        """Removes a room with everything of it, in one commit."""
        async with self._database.transaction() as connection:
            for statement in _ERASE:
                await connection.execute(statement, escape(room_id))
