"""How far a room's agents go on by themselves: so many instructions that no person wrote, and the next ones wait for a person."""

import asyncio
from collections import deque
from typing import Final

from voiceagent.room.events import EventStatus, EventType, RoomEvent

MOST: Final = 30
"""Instructions in a row that come of jobs and answers, before a person has to say something."""


class Leash:
    """One room's. What a person does beside a message of their own, such as answering a question, gives no more of it."""

    __slots__ = ("_ended", "_given", "_waiting")

    def __init__(self) -> None:
        self._given = 0
        self._waiting: deque[asyncio.Future[None]] | None = None
        self._ended = False

    async def turn(self) -> None:
        """Waits until an agent may be given one more instruction that no person wrote; at once while some are left, or when the
        room ends. Who came first goes first."""
        if self._ended or (self._given < MOST and not self._waiting):
            self._given += 1
            return
        if self._waiting is None:
            self._waiting = deque()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        finally:
            if turn.cancelled() and turn in self._waiting:
                self._waiting.remove(turn)

    def heard(self, event: RoomEvent) -> None:
        """Something was committed: a message that a person wrote or spoke begins the count anew."""
        person = event.source.participant_id is not None and not event.source.channel_type.intelligence
        if person and event.type is EventType.MESSAGE and event.status is not EventStatus.BLOCKED:
            self._given = 0
            self._let_go()

    def end(self) -> None:
        """The room ends: nobody waits any more."""
        self._ended = True
        self._let_go()

    def _let_go(self) -> None:
        while self._waiting and (self._ended or self._given < MOST):
            turn = self._waiting.popleft()
            if not turn.done():
                self._given += 1
                turn.set_result(None)
