"""Pairings kept in memory, for as long as the process lives."""

from collections.abc import Sequence

from voiceagent.room.pairings.pairing import Pairing, PairingRows
from voiceagent.room.store import Store


class MemoryPairings:
    """PairingRows without a file."""

    def __init__(self) -> None:
        self._rows: dict[str, Pairing] = {}

    async def put(self, pairing: Pairing) -> None:
        """Keeps or replaces a pairing."""
        self._rows[pairing.pairing_id] = pairing

    async def get(self, pairing_id: str) -> Pairing | None:
        """One pairing by its id."""
        return self._rows.get(pairing_id)

    async def listed(self) -> Sequence[Pairing]:
        """Every pairing, by id."""
        return [self._rows[id] for id in sorted(self._rows)]

    async def erase(self, pairing_id: str) -> None:
        """Forgets a pairing."""
        self._rows.pop(pairing_id, None)


def pairings_of(store: Store) -> PairingRows:
    """Where a store keeps pairings; in memory when it has no `pairings`."""
    kept: PairingRows | None = vars(store).get("pairings")
    return MemoryPairings() if kept is None else kept
