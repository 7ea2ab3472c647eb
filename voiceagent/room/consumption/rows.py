"""What a store offers besides to keep what became of answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol, cast

from voiceagent.room.consumption.memory import MemoryConsumption
from voiceagent.room.consumption.state import Consumption, Row
from voiceagent.room.store import Store

BATCH: Final = 100
"""How many rows are written at once at most."""


class ConsumptionRows(Protocol):
    """Keeps, for each answer, channel and person, the strongest report. What `put` returned from survives the process."""

    async def put(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Keeps those of at most BATCH rows, each of another key, that say more than what is kept, and returns them.

        All or none. Raises StoreError.
        """
        ...

    async def of(self, event_id: str) -> Sequence[Consumption]:
        """What is kept of one answer. Raises StoreError."""
        ...

    async def end_left(self, room_id: str, at: datetime) -> Sequence[Row]:
        """Ends what a process that is gone has left queued (never played) or playing (cut where it was known to have come).

        Returns those rows as they stand; each is given to one caller. Raises StoreError.
        """
        ...


def rows_of(store: Store) -> ConsumptionRows:
    """Where a store keeps consumption; in memory when its class has no `consumption`."""
    return cast(KeepsConsumption, store).consumption if hasattr(type(store), "consumption") else MemoryConsumption()


class KeepsConsumption(Protocol):
    """A Store that has ConsumptionRows."""

    @property
    def consumption(self) -> ConsumptionRows:
        """Where it is kept what became of answers."""
        ...
