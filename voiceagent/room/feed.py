"""A room as ordered lines for hosts: what happened, what is being said, who is told."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from voiceagent import clock
from voiceagent.room.events import RoomEvent
from voiceagent.room.line import Audience, FeedEvent, Moment, event_line
from voiceagent.room.lines.keeper import Keeper
from voiceagent.room.lines.memory import LineMemory
from voiceagent.room.lines.store import KEPT, NOTHING, FeedEnd
from voiceagent.room.subscription import QUEUE, Start, Subscription
from voiceagent.room.watch import UNWATCHED, Watch
from voiceagent.values import JSON

__all__ = ["KEPT", "QUEUE", "Audience", "Feed", "FeedEvent", "Subscription"]

_MS: Final = 1000


class Feed:
    """One room's feed: what is published goes to where lines are kept, and from there to every reader."""

    __slots__ = ("_began", "_keeper", "_last", "_readers", "_seq", "_watch", "room_id")

    def __init__(self, room_id: str, keeper: Keeper | None = None, end: FeedEnd = NOTHING, watch: Watch = UNWATCHED) -> None:
        """`keeper`: memory of its own by default. `end`: where the feed stood when the room was last closed."""
        self.room_id = room_id
        self._keeper: Keeper = keeper if keeper is not None else LineMemory()
        self._seq = end.seq
        self._began: int | None = None
        self._last: Moment | None = None
        self._readers: tuple[Subscription, ...] = ()
        self._watch = watch
        if end.last is not None:
            self._began = clock.now() - end.last.at_ms - max(0, _ms_since(end.last.time))

    @property
    def seq(self) -> int:
        """The number of the newest line that readers were given."""
        return self._seq

    @property
    def durable(self) -> bool:
        """Whether the numbers go on when the program has been started again."""
        return self._keeper.durable

    @property
    def watched(self) -> bool:
        """Whether anybody reads."""
        return bool(self._readers)

    def publish(
        self,
        type: str,
        data: Mapping[str, JSON],
        *,
        durable: bool = True,
        channel_id: str | None = None,
        session_id: str | None = None,
        generation_id: str | None = None,
        responds_to: str | None = None,
        audience: Audience = "all",
    ) -> None:
        """Adds a line. Readers are given it once it is stored; a droppable one as soon as those before it are."""
        now = clock.now()
        moment = self._moment(now)
        line = FeedEvent(
            None,
            self._seq,
            moment.at_ms,
            moment.time,
            type,
            self.room_id,
            channel_id,
            session_id,
            generation_id,
            responds_to,
            audience,
            data,
        )
        self._watch.published(line, now)
        if durable:
            self._keeper.keep(self, line)
        else:
            self._keeper.behind(self, lambda: self.give(line), droppable=True)

    def commit(self, event: RoomEvent) -> None:
        """Adds the line of a committed event; refused ones, and those withheld from people's channels, are for hosts alone."""
        self._keeper.keep(self, event_line(event, self._moment(clock.now()), None, self._seq))

    def subscribe(self, after: int | None = None) -> Subscription:
        """A reader from now on; with `after`, the durable lines behind that number first, as far as they are kept.

        Where they are not, the reader's `gap` names the first and the last number that is missing. A number that was not
        given out yet belongs to another count: the reader begins now, with the gap (1, newest).
        """
        reader = Subscription(self._start(after), self._past, self._leave, self._watch.dropped)
        self._readers = (*self._readers, reader)
        return reader

    def refresh(self) -> None:
        """Takes in the lines that other processes may have stored."""
        self._keeper.news(self)

    def close(self) -> None:
        """Ends every reader, behind what was published before."""
        readers = self._readers

        def end() -> None:
            for reader in readers:
                reader.close()

        self._keeper.behind(self, end)

    # -- for the keeper --------------------------------------------------------------------------------------------------

    def give(self, line: FeedEvent) -> None:
        """Tells every reader of a line that is stored, or of a droppable one."""
        if line.seq is not None:
            self._seq = line.seq
        elif line.after != self._seq:
            line = line.at(None, self._seq)
        for reader in self._readers:
            reader.offer(line)
        if line.seq is not None:
            self._watch.stored(line)

    def skip(self, seq: int) -> None:
        """Goes on behind a number whose lines nobody reads."""
        self._seq = max(self._seq, seq)

    def _start(self, after: int | None) -> Start:
        if after is None:
            return Start(self._seq, self._seq)
        if after > self._seq:
            return Start(self._seq, self._seq, (1, self._seq))
        kept = max(after, self._seq - KEPT)
        return Start(kept, self._seq, None if kept == after else (after + 1, kept))

    async def _past(self, after: int, limit: int) -> Sequence[FeedEvent]:
        return await self._keeper.past(self.room_id, after, limit)

    def _moment(self, now: int) -> Moment:
        if self._began is None:
            self._began = now
        if self._last is None or self._last.at_ms != now - self._began:  # lines come several at a time
            self._last = Moment(now - self._began, clock.utc().isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        return self._last

    def _leave(self, reader: Subscription) -> None:
        self._readers = tuple(r for r in self._readers if r is not reader)


def _ms_since(time: str) -> int:
    return round((clock.utc() - datetime.fromisoformat(time)).total_seconds() * _MS)
