"""One reader of the inbox: how everything stands, then what is asked, said, proposed and ended in any room that they may see."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Final

from voiceagent.errors import StoreError
from voiceagent.room.questions.news import QuestionNews
from voiceagent.values import JSON
from voiceagent.web.inbox.board import Board
from voiceagent.web.lifeline import End, Lifeline, Send, text_of
from voiceagent.web.reach import Reach

log = logging.getLogger(__name__)

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
        self._news: asyncio.Queue[QuestionNews] = asyncio.Queue(WAITING)
        self._lagging = False

    async def run(self, gone: Coroutine[object, object, None]) -> End:
        """Serves the reader until either side ends; `gone` returns when they have left. Returns why it ended."""
        forget = self._board.watch(self._take)
        try:
            return await self._lifeline.run(self._follow(), gone)
        finally:
            forget()

    def _take(self, news: QuestionNews) -> None:
        if self._lagging or not self._reach.sees(news.question):
            return
        try:
            self._news.put_nowait(news)
        except asyncio.QueueFull:
            self._lagging = True

    async def _follow(self) -> End:
        try:
            snapshot = await self._board.snapshot(self._reach)
            await self._lifeline.write("inbox.snapshot", snapshot)
            while not (self._lagging and self._news.empty()):
                await self._line(await self._news.get())
        except StoreError:
            log.exception("a reader of the inbox is let go: it cannot be read")
            return "store_failed"
        return "lagging"

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
        await self._lifeline.put(text_of(line))
