"""Which rooms a receiver has still to be told of, and when: decided without a loop."""

import heapq
from dataclasses import dataclass
from typing import Final

FIRST_MS: Final = 1_000
"""The wait after the first failure; each further one doubles it."""


def backoff_ms(failures: int, longest_ms: int, chance: float) -> int:
    """How long to wait after so many failures in a row: between half of the doubled wait and all of it, as `chance` (0 to 1) has
    it, so that many who failed together do not come back together."""
    doubled = FIRST_MS << min(max(failures, 1) - 1, 30)
    whole = min(longest_ms, doubled)
    return round(whole * (0.5 + 0.5 * chance))


@dataclass(slots=True)
class _Room:
    """A room that has something to tell: it waits until `due`, or somebody is at it; `again`: more has come meanwhile."""

    due: int
    failures: int = 0
    busy: bool = False
    again: bool = False


class Backlog:
    """One receiver's rooms. One that is taken is given to nobody else until it is done or has failed; times are in ms."""

    def __init__(self) -> None:
        self._rooms: dict[str, _Room] = {}
        self._order: list[tuple[int, int, str]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._rooms)

    @property
    def pressing(self) -> bool:
        """Whether there is a room that has not failed."""
        return any(not room.failures for room in self._rooms.values())

    def wake(self, room_id: str, now: int) -> None:
        """A room has a new line. One that has failed still waits its time."""
        room = self._rooms.get(room_id)
        if room is None:
            self._rooms[room_id] = _Room(now)
            self._queue(room_id, now)
        elif room.busy:
            room.again = True

    def take(self, now: int) -> str | None:
        """The room that is due first, None when none is."""
        if not self._order or self._order[0][0] > now:
            return None
        _, _, room_id = heapq.heappop(self._order)
        room = self._rooms[room_id]
        room.busy, room.again = True, False
        return room_id

    def next_at(self) -> int | None:
        """When the next room is due; None when none waits."""
        return self._order[0][0] if self._order else None

    def done(self, room_id: str, now: int) -> None:
        """All that the room had is told."""
        room = self._rooms.pop(room_id)
        if room.again:
            self.wake(room_id, now)

    def failures(self, room_id: str) -> int:
        """How often it has failed in a row."""
        return self._rooms[room_id].failures

    def succeeded(self, room_id: str) -> None:
        """A line of the room has arrived."""
        self._rooms[room_id].failures = 0

    def failed(self, room_id: str, due: int) -> None:
        """The receiver did not take a line; the room is tried again at `due`."""
        room = self._rooms[room_id]
        room.failures += 1
        self.later(room_id, due)

    def later(self, room_id: str, due: int) -> None:
        """The room cannot be told of now, and nobody is at fault."""
        room = self._rooms[room_id]
        room.busy, room.due = False, due
        self._queue(room_id, due)

    def _queue(self, room_id: str, due: int) -> None:
        self._count += 1
        heapq.heappush(self._order, (due, self._count, room_id))
