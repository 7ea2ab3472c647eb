"""One channel's place in one room: a bounded queue, told in index order, late for nobody but itself."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from voiceagent.room.cause import Allowance, Cause, current
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.events import ChannelBinding, EventType, RoomEvent
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)

QUEUE: Final = 1_000

Spawn = Callable[[Coroutine[object, object, None], str], asyncio.Task[None]]
Answers = Callable[[RoomEvent, ChannelOutput, Channel], Awaitable[None]]
Failed = Callable[[str, str, Exception, str | None], None]


class Seat:
    """Delivers to one channel. Its task lives only while something waits, so that an idle room runs nothing."""

    __slots__ = ("_answers", "_failed", "_queue", "_room", "_running", "_spawn", "binding", "channel", "stuck")

    def __init__(self, channel: Channel, binding: ChannelBinding, room: RoomContext, spawn: Spawn) -> None:
        self.channel = channel
        self.binding = binding
        self.stuck = False
        self._room = room
        self._spawn = spawn
        self._queue: deque[tuple[RoomEvent, Allowance, bool]] | None = None
        self._running = False
        self._answers: Answers | None = None
        self._failed: Failed | None = None

    def on_outcome(self, answers: Answers, failed: Failed) -> None:
        """Where buffered answers and failures of the channel go."""
        self._answers = answers
        self._failed = failed

    def tell(self, event: RoomEvent, allowance: Allowance, *, asked: bool = True) -> None:
        """Queues an event for the channel; a channel too stuck to take 1,000 is told nothing more. An agent that is not `asked`
        only hears it."""
        if self.stuck:
            return
        if self._queue is None:
            self._queue = deque()
        if len(self._queue) >= QUEUE:
            self.stuck = True
            error = RuntimeError(f"channel {self.binding.channel_id} took none of {QUEUE} events: it is told nothing more")
            log.error("room %s: %s", self._room.room_id, error)
            self._fail(event.id, error)
            return
        self._queue.append((event, allowance, asked))
        if not self._running:
            self._running = True
            self._spawn(self._drain(), f"seat {self.binding.channel_id}")

    def hand(self, reply: Reply) -> None:
        """Hands over an agent's reply; a channel that fails at it harms neither the agent nor the others."""
        try:
            self.channel.on_reply(reply, self._room)
        except Exception as error:
            log.exception("channel %s failed on reply %s", self.binding.channel_id, reply.id)
            self._fail(reply.responds_to, error)

    def leave(self) -> None:
        """Tells the channel nothing more, what is queued included."""
        self.stuck = True
        if self._queue is not None:
            self._queue.clear()

    async def _drain(self) -> None:
        try:
            while self._queue:
                event, allowance, asked = self._queue.popleft()
                await self._deliver(event, allowance, asked)
        finally:
            self._running = False
            self._queue = None

    async def _deliver(self, event: RoomEvent, allowance: Allowance, asked: bool) -> None:
        current.set(Cause(event.chain_depth + 1, allowance))
        try:
            if self.binding.channel_type.intelligence and event.type is not EventType.INSTRUCTION:
                await self.channel.on_heard(event, self._room)
            output = await self.channel.on_event(event, self._room) if asked else None
        except Exception as error:
            log.exception("channel %s failed on event %s", self.binding.channel_id, event.id)
            self._fail(event.id, error)
            return
        if output is not None and output.response_events and self._answers is not None:
            await self._answers(event, output, self.channel)

    def _fail(self, event_id: str | None, error: Exception) -> None:
        if self._failed is not None:
            self._failed(self._room.room_id, self.binding.channel_id, error, event_id)
