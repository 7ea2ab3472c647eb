"""Cursors kept in memory, for as long as the lines that they count."""

from collections.abc import Callable, Mapping, Sequence


class MemoryCursors:
    """Cursors without a file."""

    def __init__(self, ends: Callable[[], Mapping[str, int]]) -> None:
        """`ends` gives the number of each room's newest line."""
        self._ends = ends
        self._at: dict[str, dict[str, int]] = {}

    async def begin(self, follower: str) -> Sequence[str]:
        """Makes a follower known; returns the rooms with lines that it has not been told of."""
        ends = self._ends()
        at = self._at.setdefault(follower, dict(ends))
        return [room for room, seq in ends.items() if seq > at.get(room, 0)]

    async def claim(self, follower: str, room_id: str) -> int | None:
        """The last line that a follower has of a room."""
        return self._at.setdefault(follower, {}).get(room_id, 0)

    async def move(self, follower: str, room_id: str, seq: int) -> None:
        """The follower has this line, and all before it."""
        self._at.setdefault(follower, {})[room_id] = seq

    def erase(self, room_id: str) -> None:
        """Nobody has been told of a room."""
        for at in self._at.values():
            at.pop(room_id, None)

    async def release(self, follower: str, room_id: str) -> None:
        """There is no other process."""
