"""A room as ordered events for hosts: what happened, what is being said, who is told."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from voiceagent import clock
from voiceagent.room.codec import event_json
from voiceagent.room.events import EventStatus, RoomEvent
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

Audience = Literal["all", "host"]

RING: Final = 1_000
QUEUE: Final = 1_000


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One line of a room's feed. Durable ones have their own gapless `seq`; droppable ones carry the last one as `after`.

    `at_ms` is milliseconds since the feed began. `audience`: `host` keeps it from participants.
    """

    seq: int | None
    after: int
    at_ms: int
    time: str
    type: str
    room_id: str
    channel_id: str | None = None
    session_id: str | None = None
    generation_id: str | None = None
    responds_to: str | None = None
    audience: Audience = "all"
    data: Mapping[str, JSON] = field(default_factory=dict)
    event: RoomEvent | None = None

    def as_json(self) -> dict[str, JSON]:
        """The envelope as hosts read it."""
        named = {
            "channel_id": self.channel_id,
            "session_id": self.session_id,
            "generation_id": self.generation_id,
            "responds_to": self.responds_to,
        }
        place: dict[str, JSON] = {"seq": self.seq} if self.seq is not None else {"after": self.after}
        return {
            "v": 1,
            **place,
            "at_ms": self.at_ms,
            "time": self.time,
            "type": self.type,
            "room_id": self.room_id,
            **{key: value for key, value in named.items() if value is not None},
            "data": dict(self.data) if self.event is None else {"event": event_json(self.event)},
        }


class Subscription:
    """One reader's bounded queue. A slow reader loses droppable events first, and is closed when durable ones pile up."""

    def __init__(self, backlog: tuple[FeedEvent, ...], left: Callable[["Subscription"], None]) -> None:
        self._queue: deque[FeedEvent] = deque(backlog)
        self._left = left
        self._more = asyncio.Event()
        self._closed = False
        self.lagged = False

    def offer(self, event: FeedEvent) -> None:
        """Queues an event for the reader; never blocks."""
        if self._closed:
            return
        if len(self._queue) >= QUEUE:
            if event.seq is None:
                return
            self._queue = deque(waiting for waiting in self._queue if waiting.seq is not None)
        if len(self._queue) >= QUEUE:
            self.lagged = True
            self.close()
            return
        self._queue.append(event)
        self._more.set()

    async def events(self) -> AsyncIterator[FeedEvent]:
        """Events as they come, until either side closes."""
        while True:
            while self._queue:
                yield self._queue.popleft()
            if self._closed:
                return
            self._more.clear()
            await self._more.wait()

    def close(self) -> None:
        """No more events; what is queued is still read."""
        if not self._closed:
            self._closed = True
            self._more.set()
            self._left(self)


class Feed:
    """One room's feed: a bounded ring of what was, and its readers."""

    __slots__ = ("_began", "_readers", "_ring", "_seq", "room_id")

    def __init__(self, room_id: str) -> None:
        self.room_id = room_id
        self._seq = 0
        self._began: int | None = None
        self._ring: deque[FeedEvent] | None = None
        self._readers: tuple[Subscription, ...] = ()

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
        event: RoomEvent | None = None,
    ) -> FeedEvent:
        """Adds a line and tells every reader at once."""
        now = clock.now()
        if self._began is None:
            self._began = now
        after, self._seq = self._seq, self._seq + durable
        line = FeedEvent(
            seq=self._seq if durable else None,
            after=after,
            at_ms=now - self._began,
            time=clock.utc().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            type=type,
            room_id=self.room_id,
            channel_id=channel_id,
            session_id=session_id,
            generation_id=generation_id,
            responds_to=responds_to,
            audience=audience,
            data=data,
            event=event,
        )
        if durable:
            self._keep(line)
        for reader in self._readers:
            reader.offer(line)
        return line

    def commit(self, event: RoomEvent) -> FeedEvent:
        """Publishes a committed event; refused ones, and those withheld from people's channels, go to hosts alone."""
        public = event.status is not EventStatus.BLOCKED and event.visibility in (ALL, "transport")
        return self.publish(
            "room.event",
            {},
            event=event,
            channel_id=event.source.channel_id,
            generation_id=event.correlation_id,
            responds_to=event.responds_to,
            audience="all" if public else "host",
        )

    def subscribe(self, after: int | None = None) -> Subscription:
        """A reader from now on; with `after`, durable events behind that number first, as far as the ring still has them."""
        backlog = () if after is None else tuple(e for e in self._ring or () if e.seq is not None and e.seq > after)
        reader = Subscription(backlog, self._leave)
        self._readers = (*self._readers, reader)
        return reader

    def close(self) -> None:
        """Ends every reader."""
        for reader in self._readers:
            reader.close()

    def _keep(self, line: FeedEvent) -> None:
        if self._ring is None:
            self._ring = deque(maxlen=RING)
        self._ring.append(line)

    def _leave(self, reader: Subscription) -> None:
        self._readers = tuple(r for r in self._readers if r is not reader)
