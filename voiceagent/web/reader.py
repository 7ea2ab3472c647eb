"""One reader of a room: what is sent to them and in which order, whatever carries it."""

import logging
from collections.abc import Coroutine, Mapping

from voiceagent.errors import StoreError
from voiceagent.room.feed import Subscription
from voiceagent.values import JSON
from voiceagent.web.lifeline import End, Lifeline, Send
from voiceagent.web.standing import Standing
from voiceagent.web.view import View

log = logging.getLogger(__name__)


class Reader:
    """Sends `stream.ready`, a gap if there is one, what was, the snapshot in its place, and what comes; and signs of life.

    The snapshot stands behind the last line that it already knows of: lines after it are news.
    """

    def __init__(self, room: str, subscription: Subscription, view: View, standing: Standing, send: Send) -> None:
        self._room = room
        self._subscription = subscription
        self._view = view
        self._lifeline = Lifeline(room, standing, send)

    async def run(self, opening: "Opening", gone: Coroutine[object, object, None]) -> End:
        """Serves the reader until either side ends; `gone` returns when they have left. Returns why it ended."""
        try:
            return await self._lifeline.run(self._follow(opening), gone)
        finally:
            self._subscription.close()

    async def write(self, type: str, data: Mapping[str, JSON], seq: int | None = None) -> None:
        """Sends an object of the stream's own, which is no line of the feed; `seq` is the line that it stands behind.

        Raises TimeoutError for a reader who takes nothing.
        """
        await self._lifeline.write(type, data, seq)

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
                    await self._lifeline.put(line.text(), line.seq)
                if due and line.seq == opening.seq:
                    due = False
                    await self._snapshot(opening)
        except StoreError:
            log.exception("room %s: a reader is let go: what was cannot be read", self._room)
            return "store_failed"
        finally:
            self._subscription.close()
        return "lagging" if self._subscription.lagged else "room_closed"

    async def _snapshot(self, opening: "Opening") -> None:
        await self.write("stream.snapshot", self._view.snapshot(opening.snapshot), opening.seq)


class Opening:
    """How a reader begins: `after` which number, what is said first, and the room's state as it was at number `seq`."""

    __slots__ = ("after", "ready", "seq", "snapshot")

    def __init__(self, after: int | None, ready: Mapping[str, JSON], snapshot: Mapping[str, JSON]) -> None:
        seq = snapshot["seq"]
        self.seq = seq if isinstance(seq, int) else 0
        self.after = self.seq if after is None else after
        self.ready = {**ready, "after": self.after}
        self.snapshot = snapshot
