"""Pairings kept in an SQLite file, in the table that schema.py makes."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from voiceagent.room.pairings.pairing import Pairing, decode_pairing, encode_pairing

Run = Callable[[str, tuple[str | int | None, ...]], Awaitable[list[sqlite3.Row]]]

_PUT: Final = (
    "INSERT INTO pairings (pairing_id, pairing) VALUES (?, ?) ON CONFLICT (pairing_id) DO UPDATE SET pairing = excluded.pairing"
)
_GET: Final = "SELECT pairing FROM pairings WHERE pairing_id = ?"
_LISTED: Final = "SELECT pairing FROM pairings ORDER BY pairing_id"
_ERASE: Final = "DELETE FROM pairings WHERE pairing_id = ?"


class SqlitePairings:
    """PairingRows in a file; `run` is the store's way to run one statement and its commit."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def put(self, pairing: Pairing) -> None:
        """Keeps or replaces a pairing; returns after its commit."""
        await self._run(_PUT, (pairing.pairing_id, encode_pairing(pairing)))

    async def get(self, pairing_id: str) -> Pairing | None:
        """One pairing by its id."""
        rows = await self._run(_GET, (pairing_id,))
        return decode_pairing(rows[0][0]) if rows else None

    async def listed(self) -> Sequence[Pairing]:
        """Every pairing, by id."""
        return [decode_pairing(row[0]) for row in await self._run(_LISTED, ())]

    async def erase(self, pairing_id: str) -> None:
        """Forgets a pairing."""
        await self._run(_ERASE, (pairing_id,))
