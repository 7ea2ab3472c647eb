"""One reader of a room: what is sent to them and in which order, whatever carries it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, Literal

from voiceagent.errors import StoreError
from voiceagent.room.feed import Subscription
from voiceagent.values import JSON
from voiceagent.web.standing import Standing
from voiceagent.web.view import View

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15
SLOW_S: Final = 10
"""How long one write may wait for a reader who takes nothing."""

Send = Callable[[str, int | None], Awaitable[None]]
"""Writes one JSON object; the number is its place in the feed, from which a reader may resume, None when it has none."""

End = Literal["gone", "room_closed", "lagging", "token_expired", "store_failed"]
"""Why a reader was sent nothing more."""


class Reader:
    """Sends `stream.ready`, a gap if there is one, what was, the snapshot in its place, and what comes; and signs of life.

    The snapshot stands behind the last line that it already knows of: lines after it are news.
    """

    def __init__(self, room: str, subscription: Subscription, view: View, standing: Standing, send: Send) -> None:
        self._room = room
        self._subscription = subscription
        self._view = view
        self._standing = standing
        self._send = send
        self._writing = asyncio.Lock()

    async def run(self, opening: "Opening", gone: Coroutine[object, object, None]) -> End:
        """Serves the reader until either side ends; `gone` returns when they have left. Returns why it ended."""
        jobs = {
            asyncio.create_task(self._follow(opening)),
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._expire()),
            asyncio.create_task(self._leave(gone)),
        }
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            end = _first(done)
        finally:
            self._subscription.close()
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
        if end != "gone":
            await self._farewell(end)
        return end

    async def write(self, type: str, data: Mapping[str, JSON], seq: int | None = None) -> None:
        """Sends an object of the stream's own, which is no line of the feed; `seq` is the line that it stands behind.

        Raises TimeoutError for a reader who takes nothing.
        """
        place: dict[str, JSON] = {} if seq is None else {"after": seq}
        await self._put(text_of({"v": 1, **place, "type": type, "room_id": self._room, "data": dict(data)}), seq)

    async def _follow(self, opening: "Opening") -> End:
        await self.write("stream.ready", opening.ready)
        if self._subscription.gap is not None:
            first, last = self._subscription.gap
            await self.write("stream.gap", {"from": first, "to": last})
        due = opening.after < opening.seq
        if not due:
            await self._snapshot(opening)
        try:
            async for line in self._subscription.events():
                if self._view.shows(line):
                    await self._put(line.text(), line.seq)
                if due and line.seq == opening.seq:
                    due = False
                    await self._snapshot(opening)
        except StoreError:
            log.exception("room %s: a reader is let go: what was cannot be read", self._room)
            return "store_failed"
        return "lagging" if self._subscription.lagged else "room_closed"

    async def _snapshot(self, opening: "Opening") -> None:
        await self.write("stream.snapshot", self._view.snapshot(opening.snapshot), opening.seq)

    async def _beat(self) -> End:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self.write("stream.alive", {})

    async def _expire(self) -> End:
        await self._standing.ended()
        return "token_expired"

    async def _leave(self, gone: Coroutine[object, object, None]) -> End:
        await gone
        return "gone"

    async def _farewell(self, end: End) -> None:
        """Says why nothing more comes, to those who still take it."""
        try:
            if end == "lagging":
                await self.write("stream.lagging", {"reason": "too_slow", "dropped": "durable"})
            else:
                await self.write("stream.closed", {"reason": end})
        except (TimeoutError, OSError):
            pass

    async def _put(self, text: str, seq: int | None) -> None:
        async with asyncio.timeout(SLOW_S), self._writing:
            await self._send(text, seq)


class Opening:
    """How a reader begins: `after` which number, what is said first, and the room's state as it was at number `seq`."""

    __slots__ = ("after", "ready", "seq", "snapshot")

    def __init__(self, after: int | None, ready: Mapping[str, JSON], snapshot: Mapping[str, JSON]) -> None:
        seq = snapshot["seq"]
        self.seq = seq if isinstance(seq, int) else 0
        self.after = self.seq if after is None else after
        self.ready = {**ready, "after": self.after}
        self.snapshot = snapshot


def text_of(data: Mapping[str, JSON]) -> str:
    """An object as JSON text that UTF-8 can hold."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode(errors="replace").decode()


def _first(done: set["asyncio.Task[End]"]) -> End:
    """Why it ended; a reader who is too slow to be written to, or whose line broke, is gone."""
    for job in done:
        error = job.exception()
        if error is None:
            return job.result()
        if not isinstance(error, (TimeoutError, OSError)):
            log.error("a reader is let go", exc_info=error)
    return "gone"
