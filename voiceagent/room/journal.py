"""Numbers the durable lines of all feeds: stores them in batches, then gives them to the feeds in their order."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Final, TypeVar

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.keeper import Outlet
from voiceagent.room.lines.store import BATCH, LineStore
from voiceagent.room.subscription import PAGE

log = logging.getLogger(__name__)

T = TypeVar("T")

PACE_MS: Final = 4
"""How long after one batch the next one is written at the earliest, so that a burst is few commits."""

RETRY_MS: Final = 1_000
"""How long to wait before a store that failed is tried again."""

MOST: Final = 20_000
"""How much waits for a store that fails; droppable lines go first, then what comes is lost."""

LAST_MS: Final = 2_000
"""How long the engine's end waits for a store."""

_AT_ONCE: Final = 16  # lines given before others have a turn


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What waits: a durable line, or a step in its place between them, or (neither) news of lines that others have stored."""

    feed: Outlet
    line: FeedEvent | None = None
    step: Callable[[], None] | None = None
    droppable: bool = False


class Journal:
    """The Keeper of a LineStore; the engine owns it, and closes it. Its task lives only while something waits.

    A store that fails is tried again every second; order and numbers stay as they would have been, and nobody waits for it.
    """

    durable = True

    def __init__(self, lines: LineStore, dropped: Callable[[int], None] = lambda _: None) -> None:
        """`dropped` is told of how many lines are lost while the store fails."""
        self._lines = lines
        self._dropped = dropped
        self._queue: deque[_Waiting] = deque()
        self._taken: deque[_Waiting] = deque()
        self._of: dict[Outlet, int] = {}
        self._news: set[Outlet] = set()
        self._writing: asyncio.Task[None] | None = None
        self._next_ms = 0
        self._droppable = 0
        self._lost = 0

    @property
    def waiting(self) -> int:
        """How much waits to be stored, or to be given on behind what does."""
        return len(self._queue)

    def keep(self, feed: Outlet, line: FeedEvent) -> None:
        """Stores a line soon, and gives it to its feed then."""
        self._add(_Waiting(feed, line))

    def behind(self, feed: Outlet, step: Callable[[], None], *, droppable: bool = False) -> None:
        """Runs a step behind what waits of a feed; at once when nothing does."""
        if feed in self._of:
            self._add(_Waiting(feed, step=step, droppable=droppable))
        else:
            step()

    def news(self, feed: Outlet) -> None:
        """Another process has stored lines of this feed: they are read, and given to it."""
        if feed not in self._news:
            self._news.add(feed)
            self._add(_Waiting(feed))

    async def past(self, room_id: str, after: int, limit: int) -> Sequence[FeedEvent]:
        """The oldest lines behind a number. Raises StoreError."""
        return await self._lines.after(room_id, after, limit)

    async def written(self, room_id: str) -> None:
        """Returns once nothing waits of a room's feeds, or after LAST_MS."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_MS / 1000):
                for feed in [feed for feed in self._of if feed.room_id == room_id]:
                    given = asyncio.Event()
                    self.behind(feed, given.set)
                    await given.wait()

    async def flush(self) -> None:
        """Returns once nothing waits, or after LAST_MS."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_MS / 1000):
                while self._writing is not None and not self._writing.done():
                    await asyncio.wait((self._writing,))

    async def close(self) -> None:
        """Writes what waits, within LAST_MS; nothing may be added afterwards."""
        await self.flush()
        if self._writing is not None and not self._writing.done():
            self._writing.cancel()
            await asyncio.wait((self._writing,))
            log.error("lines of %s feeds are not kept: the store did not take them in time", len(self._of))
            for one in (*self._taken, *self._queue):
                if one.step is not None and not one.droppable:
                    one.step()

    def _add(self, waiting: _Waiting) -> None:
        if len(self._queue) >= MOST and not self._make_room(waiting):
            return
        self._queue.append(waiting)
        self._droppable += waiting.droppable
        self._of[waiting.feed] = self._of.get(waiting.feed, 0) + 1
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write(), name="journal", context=Context())

    def _make_room(self, waiting: _Waiting) -> bool:
        """Lets droppable lines go. False when this one must be lost; steps that are not droppable never are."""
        if self._droppable:
            kept = [one for one in self._queue if not one.droppable]
            for one in self._queue:
                if one.droppable:
                    self._done(one.feed)
            self._dropped(len(self._queue) - len(kept))
            self._queue = deque(kept)
            self._droppable = 0
        if len(self._queue) < MOST or (waiting.line is None and not waiting.droppable):
            return True
        self._lost += waiting.line is not None
        self._dropped(1)
        if self._lost == 1:
            log.error("room %s: the store has failed for so long that lines of feeds are lost from now on", waiting.feed.room_id)
        return False

    async def _write(self) -> None:
        while self._queue:
            await clock.sleep_until(self._next_ms)
            self._take()
            lines = [one.line for one in self._taken if one.line is not None]
            numbers = await self._persist(lambda lines=lines: self._lines.append(lines)) if lines else []  # type: ignore[misc]
            self._next_ms = clock.now() + PACE_MS
            if self._lost:
                log.error("the store works again; %s lines of feeds are lost", self._lost)
                self._lost = 0
            await self._give_out(deque(numbers))

    def _take(self) -> None:
        """Takes what comes next, with at most BATCH lines to store."""
        lines = 0
        while self._queue and lines < BATCH:
            one = self._queue.popleft()
            self._droppable -= one.droppable
            lines += one.line is not None
            self._taken.append(one)

    async def _persist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the store says, asked again for as long as it fails."""
        failures = 0
        while True:
            try:
                answer = await ask()
            except Exception as error:
                failures += 1
                if failures == 1:
                    shown = None if isinstance(error, StoreError) else error
                    log.error("lines of feeds wait for the store, tried again every second: %s", error, exc_info=shown)
                await asyncio.sleep(RETRY_MS / 1000)
            else:
                if failures:
                    log.warning("the store takes lines of feeds again, after %s failures", failures)
                return answer

    async def _give_out(self, numbers: deque[int | None]) -> None:
        current: set[Outlet] = set()
        given = 0
        while self._taken:
            one = self._taken[0]
            if one.line is not None:
                seq = numbers.popleft()
                if seq is not None:
                    await self._give(one.feed, one.line, seq)
                elif one.feed not in current:
                    await self._catch_up(one.feed)
                    current.add(one.feed)
            elif one.step is None:
                self._news.discard(one.feed)
                await self._catch_up(one.feed)
            self._taken.popleft()
            if one.step is not None:
                one.step()
            self._done(one.feed)
            given += 1
            if given % _AT_ONCE == 0:
                await asyncio.sleep(0)

    async def _give(self, feed: Outlet, line: FeedEvent, seq: int) -> None:
        if seq > feed.seq + 1:
            await self._catch_up(feed, seq - 1)
        if seq > feed.seq:
            feed.give(line.at(seq, seq - 1))

    async def _catch_up(self, feed: Outlet, to: int | None = None) -> None:
        """Gives a feed what others have stored of it, up to a number; one that nobody reads only goes on behind that."""
        if not feed.watched and to is None:
            to = (await self._persist(lambda: self._lines.end(feed.room_id))).seq
        while feed.watched and (to is None or feed.seq < to):
            page = await self._persist(lambda: self._lines.after(feed.room_id, feed.seq, PAGE))
            for line in page:
                if to is None or (line.seq or 0) <= to:
                    feed.give(line)
            if len(page) < PAGE:
                break
        if to is not None:
            feed.skip(to)

    def _done(self, feed: Outlet) -> None:
        left = self._of[feed] - 1
        if left:
            self._of[feed] = left
        else:
            del self._of[feed]
