"""A stream of objects to one reader, whatever carries it: written one at a time, with signs of life, until somebody ends it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Final, Literal

from voiceagent.values import JSON
from voiceagent.web.standing import Standing

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15
SLOW_S: Final = 10
"""How long one write may wait for a reader who takes nothing."""

Send = Callable[[str, int | None], Awaitable[None]]
"""Writes one JSON object; the number is its place in the feed, from which a reader may resume, None when it has none."""

End = Literal["gone", "room_closed", "lagging", "token_expired", "store_failed"]
"""Why a reader was sent nothing more."""


class Lifeline:
    """One reader's stream. `room` is named in the objects of the stream's own; None for one over several rooms."""

    def __init__(self, room: str | None, standing: Standing, send: Send) -> None:
        self._room = room
        self._standing = standing
        self._send = send
        self._writing = asyncio.Lock()

    async def run(self, follow: Coroutine[object, object, End], gone: Coroutine[object, object, None]) -> End:
        """Serves the reader until either side ends: `follow` writes, `gone` returns when they have left. Returns why it ended."""
        jobs = {
            asyncio.create_task(follow),
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._expire()),
            asyncio.create_task(self._leave(gone)),
        }
        try:
            done, _ = await asyncio.wait(jobs, return_when=asyncio.FIRST_COMPLETED)
            end = _first(done)
        finally:
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
        room: dict[str, JSON] = {} if self._room is None else {"room_id": self._room}
        await self.put(text_of({"v": 1, **place, "type": type, **room, "data": dict(data)}), seq)

    async def put(self, text: str, seq: int | None = None) -> None:
        """Sends one object's text. Raises TimeoutError for a reader who takes nothing."""
        async with asyncio.timeout(SLOW_S), self._writing:
            await self._send(text, seq)

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
