"""How a feed and whoever numbers its lines speak to each other."""

from collections.abc import Callable, Sequence
from typing import Protocol

from voiceagent.room.line import FeedEvent


class Outlet(Protocol):
    """A feed, as its keeper knows it: where numbered lines go."""

    room_id: str

    @property
    def seq(self) -> int:
        """The number of the newest line that it was given."""
        ...

    @property
    def watched(self) -> bool:
        """Whether anybody reads."""
        ...

    def give(self, line: FeedEvent) -> None:
        """Tells every reader of a line that is stored, or of a droppable one."""
        ...

    def skip(self, seq: int) -> None:
        """Goes on behind a number whose lines nobody reads."""
        ...


class Keeper(Protocol):
    """Numbers the durable lines of feeds and keeps them."""

    @property
    def durable(self) -> bool:
        """Whether the numbers go on when the program has been started again."""
        ...

    def keep(self, feed: Outlet, line: FeedEvent) -> None:
        """Keeps a line and hands it to `feed.give` with its number: at once or later, in the order of the calls."""
        ...

    def behind(self, feed: Outlet, step: Callable[[], None], *, droppable: bool = False) -> None:
        """Runs a step when what the feed keeps has been given: at once when nothing waits. A droppable one may be left out."""
        ...

    def news(self, feed: Outlet) -> None:
        """Others may have stored lines of this feed: they are read, and given to it in their place."""
        ...

    async def past(self, room_id: str, after: int, limit: int) -> Sequence[FeedEvent]:
        """The oldest durable lines behind a number. Raises StoreError."""
        ...
