"""Consumption kept in memory, for as long as the process lives."""

from collections.abc import Sequence
from datetime import datetime

from voiceagent.room.consumption.state import Consumption, Row


class MemoryConsumption:
    """ConsumptionRows without a file."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[tuple[str, str | None], Consumption]] = {}
        self._room_of: dict[str, str] = {}

    async def put(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Keeps the rows that say more than what is kept, and returns them."""
        kept: list[Row] = []
        for row in rows:
            one = row.consumption
            known = self._rows.setdefault(row.event_id, {})
            self._room_of[row.event_id] = row.room_id
            if one.says_more_than(known.get((one.channel_id, one.participant_id))):
                known[one.channel_id, one.participant_id] = one
                kept.append(row)
        return kept

    async def of(self, event_id: str) -> Sequence[Consumption]:
        """What is kept of one answer."""
        return tuple(self._rows.get(event_id, {}).values())

    def erase(self, room_id: str) -> None:
        """Removes what became of a room's answers."""
        for event_id in [event_id for event_id, room in self._room_of.items() if room == room_id]:
            del self._room_of[event_id], self._rows[event_id]

    async def end_left(self, room_id: str, at: datetime) -> Sequence[Row]:
        """Nothing: what is kept here dies with the process that left it."""
        return ()
