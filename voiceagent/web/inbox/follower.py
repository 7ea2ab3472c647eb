"""One reader of the inbox: how everything stands, then what is asked, said, proposed and ended in any room that they may see."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Final

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.questions.news import QuestionNews
from voiceagent.values import JSON
from voiceagent.web.inbox.board import Board
from voiceagent.web.lifeline import End, Lifeline, Send, text_of
from voiceagent.web.pairing.neighbour import HostListing
from voiceagent.web.reach import Reach

log = logging.getLogger(__name__)

LOOK_S: Final = 4

WAITING: Final = 1_000
"""How much news waits for a reader before they are too slow."""


class Follower:
    """Sends `inbox.snapshot`, then the lines of questions as they come, each with the question's whole `entry`, and what paired
    hosts tell meanwhile. Lines have no number: whoever comes again begins with a snapshot, which may know of the next few lines.
    """

    def __init__(self, board: Board, reach: Reach, send: Send) -> None:
        self._board = board
        self._reach = reach
        self._lifeline = Lifeline(None, reach.standing, send)
        self._news: asyncio.Queue[QuestionNews | HostListing | None] = asyncio.Queue(WAITING)
        self._lagging = False
        self._here: list[JSON] = []

    async def run(self, gone: Coroutine[object, object, None]) -> End:
        """Serves the reader until either side ends; `gone` returns when they have left. Returns why it ended."""
        forget = self._board.watch(self._reach, self._take, self._put)
        try:
            return await self._lifeline.run(self._follow(), gone)
        finally:
            forget()

    def _take(self, news: QuestionNews) -> None:
        if self._reach.sees(news.question):
            self._put(news)

    def _put(self, news: QuestionNews | HostListing | None) -> None:
        if self._lagging:
            return
        try:
            self._news.put_nowait(news)
        except asyncio.QueueFull:
            self._lagging = True

    async def _follow(self) -> End:
        try:
            await self._all()
            while not (self._lagging and self._news.empty()):
                match await self._next():
                    case None:  # hosts have come or gone
                        await self._all()
                    case HostListing() as listing:
                        await self._lifeline.write("inbox.host", listing.told(clock.now()))
                    case news:
                        await self._line(news)
        except StoreError:
            log.exception("a reader of the inbox is let go: it cannot be read")
            return "store_failed"
        return "lagging"

    async def _next(self) -> QuestionNews | HostListing | None:
        """What comes next. Where other processes write to the same store, that is looked through every few seconds meanwhile."""
        while self._board.is_shared:
            try:
                async with asyncio.timeout(LOOK_S):
                    return await self._news.get()
            except TimeoutError:
                if await self._board.here(self._reach) != self._here:
                    return None
        return await self._news.get()

    async def _all(self) -> None:
        self._here = await self._board.here(self._reach)
        await self._lifeline.write("inbox.snapshot", await self._board.snapshot(self._reach))

    async def _line(self, news: QuestionNews) -> None:
        question = news.question
        line: dict[str, JSON] = {
            "v": 1,
            "type": f"question.{news.what}",
            "time": news.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "room_id": question.room_id,
            "channel_id": question.channel_id,
            "generation_id": question.generation_id,
            "data": dict(news.data),
            "entry": await self._board.entry(question, self._reach),
        }
        self._here = await self._board.here(self._reach) if self._board.is_shared else []
        await self._lifeline.put(text_of(line))
