"""Pairings kept in a Postgres database that several processes share, in the table that tables.py makes."""

from collections.abc import Sequence
from typing import Final

from voiceagent.room.codec import escape
from voiceagent.room.database import Database
from voiceagent.room.pairings.pairing import Pairing, decode_pairing, encode_pairing

_PUT: Final = (
    "INSERT INTO pairings (pairing_id, pairing) VALUES ($1, $2) ON CONFLICT (pairing_id) DO UPDATE SET pairing = excluded.pairing"
)
_GET: Final = "SELECT pairing FROM pairings WHERE pairing_id = $1"
_LISTED: Final = "SELECT pairing FROM pairings ORDER BY pairing_id"
_ERASE: Final = "DELETE FROM pairings WHERE pairing_id = $1"


class PostgresPairings:
    """PairingRows in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, pairing: Pairing) -> None:
        """Keeps or replaces a pairing; returns after its commit."""
        await self._database.fetch(_PUT, escape(pairing.pairing_id), encode_pairing(pairing))

    async def get(self, pairing_id: str) -> Pairing | None:
        """One pairing by its id."""
        rows = await self._database.fetch(_GET, escape(pairing_id))
        return decode_pairing(rows[0]["pairing"]) if rows else None

    async def listed(self) -> Sequence[Pairing]:
        """Every pairing, by id."""
        return [decode_pairing(row["pairing"]) for row in await self._database.fetch(_LISTED)]

    async def erase(self, pairing_id: str) -> None:
        """Forgets a pairing."""
        await self._database.fetch(_ERASE, escape(pairing_id))
