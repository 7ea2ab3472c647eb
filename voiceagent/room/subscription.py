"""One reader of a room's feed: what was before it from where lines are kept, then what comes, in a bounded queue."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.room.line import FeedEvent

QUEUE: Final = 1_000
"""How many lines wait for a reader before it is too slow."""

PAGE: Final = 200
"""How many older lines are read at once: about 2 ms of the loop's time."""

Past = Callable[[int, int], Awaitable[Sequence[FeedEvent]]]
"""Durable lines behind a number, oldest first, at most so many."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a reader begins: behind line `after`, with lines up to `live` from the past and those behind it as they come.

    `gap`: the first and last number of the lines that it asked for and that are kept no longer; None when all are there.
    """

    after: int
    live: int
    gap: tuple[int, int] | None = None


class Subscription:
    """One reader's bounded queue. A slow reader loses droppable lines first, and is closed when durable ones pile up.

    `lagged` says that it was. `gap`: as in Start. While it reads the past it is never too slow: what has come meanwhile is read
    from there, too.
    """

    __slots__ = ("_at", "_closed", "_dropped", "_left", "_past", "_past_to", "_queue", "_waiting", "gap", "lagged")

    def __init__(
        self,
        start: Start,
        past: Past,
        left: Callable[["Subscription"], None],
        dropped: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`left` is told that it has closed, `dropped` of how many droppable lines it lost."""
        self.gap = start.gap
        self.lagged = False
        self._at, self._past_to = start.after, start.live
        self._past = past
        self._left = left
        self._dropped = dropped
        self._queue: deque[FeedEvent] = deque()
        self._waiting: asyncio.Future[None] | None = None
        self._closed = False

    def offer(self, line: FeedEvent) -> None:
        """Queues a line for the reader; never blocks."""
        if self._closed:
            return
        queue = self._queue
        if len(queue) >= QUEUE:
            if line.seq is None:
                self._dropped(1)
                return
            if not self._make_room(line.seq):
                return
            queue = self._queue
        queue.append(line)
        if self._waiting is not None:
            self._wake(self._waiting)

    async def events(self) -> AsyncIterator[FeedEvent]:
        """Lines as they come, until either side closes. One task reads. Raises StoreError when older lines cannot be read."""
        while True:
            while self._at < self._past_to:
                for line in await self._older():
                    self._at = line.seq or self._at
                    yield line
            while self._queue:
                yield self._queue.popleft()
            if self._closed:
                return
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None

    def close(self) -> None:
        """No more lines; what is queued is still read."""
        if not self._closed:
            self._closed = True
            if self._waiting is not None:
                self._wake(self._waiting)
            self._left(self)

    async def _older(self) -> Sequence[FeedEvent]:
        """The next page of the past. A hole in it means that lines went while it was read: the reader is too slow."""
        page = [line for line in await self._past(self._at, PAGE) if (line.seq or 0) <= self._past_to]
        whole = bool(page) and all(line.seq == number for number, line in enumerate(page, self._at + 1))
        if whole:
            return page
        self._queue.clear()
        self._at = self._past_to
        self.lagged = True
        self.close()
        return ()

    def _make_room(self, seq: int) -> bool:
        """Lets go of droppable lines, before durable line `seq` is queued. False when the line needs no queue any more."""
        durable = deque(waiting for waiting in self._queue if waiting.seq is not None)
        if len(durable) < len(self._queue):
            self._dropped(len(self._queue) - len(durable))
        if self._at < self._past_to:
            self._queue.clear()
            self._past_to = seq
            return False
        self._queue = durable
        if len(self._queue) < QUEUE:
            return True
        self.lagged = True
        self.close()
        return False

    @staticmethod
    def _wake(waiting: asyncio.Future[None]) -> None:
        if not waiting.done():
            waiting.set_result(None)
