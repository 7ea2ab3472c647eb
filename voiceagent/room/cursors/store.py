"""What a store of lines offers to remember how far a follower outside, such as a webhook, has been told of each room's feed."""

from collections.abc import Sequence
from typing import Protocol, cast


class Cursors(Protocol):
    """A number for each follower and room: the last line that the follower has. Every method raises StoreError."""

    async def begin(self, follower: str) -> Sequence[str]:
        """Makes a follower known; returns the rooms with lines that it has not been told of.

        One that is new begins behind what the rooms have; rooms that come later it is told of from their first line.
        """
        ...

    async def claim(self, follower: str, room_id: str) -> int | None:
        """The last line that a follower has of a room, for this process to tell it the next ones; None while another does."""
        ...

    async def move(self, follower: str, room_id: str, seq: int) -> None:
        """The follower has this line, and all before it. Only for what was claimed."""
        ...

    async def release(self, follower: str, room_id: str) -> None:
        """Another process may go on."""
        ...


class KeepsCursors(Protocol):
    """A LineStore that has Cursors."""

    @property
    def cursors(self) -> Cursors:
        """How far followers have been told of its lines."""
        ...


def kept_cursors(lines: object) -> Cursors | None:
    """The cursors of where lines are kept, None when its class does not offer them."""
    return cast(KeepsCursors, lines).cursors if hasattr(type(lines), "cursors") else None
