"""Lines of feeds kept in memory, numbered and given on at once."""

from collections.abc import Callable, Sequence
from typing import Final

from voiceagent.room.cursors.memory import MemoryCursors
from voiceagent.room.cursors.store import Cursors
from voiceagent.room.line import FeedEvent, Moment
from voiceagent.room.lines.keeper import Outlet
from voiceagent.room.lines.numbering import index_of
from voiceagent.room.lines.store import KEPT, NOTHING, FeedEnd

_SLACK: Final = 500  # lines are let go in blocks, for each block costs a copy


class LineMemory:
    """A LineStore and a Keeper without a file. A room that is closed and opened again goes on with its numbers."""

    durable = False

    def __init__(self) -> None:
        self._rooms: dict[str, _Lines] = {}
        self._cursors = MemoryCursors(self.ends)

    @property
    def cursors(self) -> Cursors:
        """How far followers outside have been told of the rooms' feeds."""
        return self._cursors

    def keep(self, feed: Outlet, line: FeedEvent) -> None:
        """Numbers a line and gives it to the feed; an event that has its line already gets no second one."""
        room = self._rooms.setdefault(feed.room_id, _Lines())
        kept = room.add(line)
        if kept is None:
            return
        for missed in room.after(feed.seq, kept.after - feed.seq):  # by an older feed of the same room
            feed.give(missed)
        feed.give(kept)

    def behind(self, feed: Outlet, step: Callable[[], None], *, droppable: bool = False) -> None:
        """Runs the step, for nothing ever waits here."""
        step()

    def news(self, feed: Outlet) -> None:
        """There are no others."""

    def ends(self) -> dict[str, int]:
        """The number of each room's newest line."""
        return {room_id: room.end.seq for room_id, room in self._rooms.items()}

    async def past(self, room_id: str, after: int, limit: int) -> Sequence[FeedEvent]:
        """The oldest lines behind a number."""
        return await self.after(room_id, after, limit)

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        """Numbers and keeps lines; None for an event that has its line already."""
        kept = [self._rooms.setdefault(line.room_id, _Lines()).add(line) for line in lines]
        return [None if line is None else line.seq for line in kept]

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        """The oldest lines behind a number, at most so many."""
        room = self._rooms.get(room_id)
        return room.after(seq, limit) if room is not None else []

    async def end(self, room_id: str) -> FeedEnd:
        """Where the room's feed ends."""
        room = self._rooms.get(room_id)
        return room.end if room is not None else NOTHING

    def erase(self, room_id: str) -> None:
        """Removes a room's lines, and how far followers are in them."""
        self._rooms.pop(room_id, None)
        self._cursors.erase(room_id)

    async def claim(self, room_id: str) -> list[FeedEvent]:
        """Nothing: what is kept here dies with the process that would end it."""
        return []


class _Lines:
    """One room's lines, without a gap between their numbers."""

    __slots__ = ("_lines", "_seq", "_told")

    def __init__(self) -> None:
        self._lines: list[FeedEvent] = []
        self._seq = 0
        self._told = -1

    @property
    def end(self) -> FeedEnd:
        """Where they end."""
        last = self._lines[-1] if self._lines else None
        return FeedEnd(self._seq, self._told, Moment(last.at_ms, last.time) if last else None)

    def add(self, line: FeedEvent) -> FeedEvent | None:
        """Numbers and keeps a line; None when its event has one."""
        index = index_of(line)
        if index is not None:
            if index <= self._told:
                return None
            self._told = index
        after, self._seq = self._seq, self._seq + 1
        line = line.at(self._seq, after)
        self._lines.append(line)
        if len(self._lines) >= KEPT + _SLACK:
            del self._lines[:-KEPT]
        return line

    def after(self, seq: int, limit: int) -> list[FeedEvent]:
        """The oldest lines behind a number, at most so many."""
        start = max(0, len(self._lines) - (self._seq - seq))
        return self._lines[start : start + max(0, limit)]
