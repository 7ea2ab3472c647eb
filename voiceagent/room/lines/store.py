"""What a store offers besides when it keeps the lines of feeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, cast

from voiceagent.room.line import FeedEvent, Moment
from voiceagent.room.store import Store

KEPT: Final = 10_000
"""How many of a room's newest lines are kept at least."""

BATCH: Final = 500
"""How many lines are written at once at most."""


@dataclass(frozen=True, slots=True)
class FeedEnd:
    """Where a room's feed ends: its newest number (0: none), the newest event that has had its line (-1: none), the last line's
    moment."""

    seq: int = 0
    told: int = -1
    last: Moment | None = None


NOTHING: Final = FeedEnd()


class LineStore(Protocol):
    """Keeps the durable lines of every room's feed, the newest KEPT of each at least.

    Each event has one line of type `room.event`, in the order of their indices, whoever appends which of them.
    """

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        """Keeps at most BATCH lines, all or none, and returns their numbers; gapless a room, over all processes.

        None stands for a line that is kept already, under whichever number: an event that has its line, or a batch that was kept
        though its first append raised. Events in between that have none get theirs before. Raises StoreError; then the next call
        must be for the same lines.
        """
        ...

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        """The oldest lines behind a number, at most so many. Raises StoreError."""
        ...

    async def end(self, room_id: str) -> FeedEnd:
        """Where the room's feed ends. Raises StoreError."""
        ...

    async def claim(self, room_id: str) -> list[FeedEvent]:
        """The lines that opened what nobody will end: inputs accepted and not settled, generations started and not over, whose
        process is gone. Each is given to one caller, who ends it; to another one when that one has gone, too. Raises StoreError.
        """
        ...


class KeepsLines(Protocol):
    """A Store that has a LineStore."""

    @property
    def feed_lines(self) -> LineStore:
        """Where the lines of its rooms' feeds are kept."""
        ...


def kept_lines(store: Store) -> LineStore | None:
    """The line store of a store, None when its class does not offer one."""
    return cast(KeepsLines, store).feed_lines if hasattr(type(store), "feed_lines") else None
