"""One channel's place in one room: a bounded queue, told in index order, late for nobody but itself."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Final

from voiceagent.room.bounded import contained, from_within
from voiceagent.room.cause import Allowance, Cause, current
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.events import ChannelBinding, ChannelType, EventType, RoomEvent
from voiceagent.room.ledger import Disposition, Ledger
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)

QUEUE: Final = 1_000

Spawn = Callable[[Coroutine[object, object, None], str], asyncio.Task[None]]
Answers = Callable[[RoomEvent, ChannelOutput, Channel], Awaitable[None]]
Failed = Callable[[str, str, Exception, str | None], None]
Taken = Callable[[RoomEvent, str], None]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Where buffered answers and failures of channels go, and what a channel that carries text has taken: one for all seats."""

    answers: Answers
    failed: Failed
    taken: Taken


class Seat:
    """Delivers to one channel. Its task lives only while something waits, so that an idle room runs nothing."""

    __slots__ = (
        "_ledger",
        "_left",
        "_missed",
        "_outcomes",
        "_queue",
        "_room",
        "_running",
        "_spawn",
        "binding",
        "channel",
    )

    def __init__(self, channel: Channel, binding: ChannelBinding, room: RoomContext, spawn: Spawn) -> None:
        self.channel = channel
        self.binding = binding
        self._left = False
        self._missed = 0
        self._room = room
        self._spawn = spawn
        self._queue: deque[tuple[RoomEvent, Allowance, bool]] | None = None
        self._running = False
        self._outcomes: Outcomes | None = None
        self._ledger: Ledger | None = None

    def on_outcome(self, outcomes: Outcomes, ledger: Ledger) -> None:
        """Where outcomes go, and what became of the inputs that the channel was asked about."""
        self._outcomes = outcomes
        self._ledger = ledger

    def tell(self, event: RoomEvent, allowance: Allowance, *, asked: bool = True) -> None:
        """Queues an event for the channel. An agent that is not `asked` only hears it.

        A channel that is 1,000 behind misses what comes until it has caught up; ON_ERROR is told when that begins and, with the
        number missed, when it ends.
        """
        if self._left:
            return
        if self._queue is None:
            self._queue = deque()
        if self._missed or len(self._queue) >= QUEUE:
            self._missed += 1
            if asked:
                self._settle(event, "failed", "lagging")
            if self._missed == 1:
                self._lagging(f"is {QUEUE} events behind: it misses what comes until it has caught up", event.id)
            return
        self._queue.append((event, allowance, asked))
        if not self._running:
            self._running = True
            self._spawn(self._drain(), f"seat {self.binding.channel_id}")

    def hand(self, reply: Reply) -> None:
        """Hands over an agent's reply; a channel that fails at it harms neither the agent nor the others."""
        try:
            with contained():
                self.channel.on_reply(reply, self._room)
        except Exception as error:
            log.exception("channel %s failed on reply %s", self.binding.channel_id, reply.id)
            self._fail(reply.responds_to, error)

    def show(self, draft: Reply) -> None:
        """Shows an answer that may never be given; nobody is told of a channel that fails at it."""
        try:
            with contained():
                self.channel.on_draft(draft)
        except Exception:
            log.exception("channel %s failed on draft %s", self.binding.channel_id, draft.id)

    def foresee(self, event: RoomEvent) -> None:
        """Shows the channel what may have been said; nobody is told of one that fails at it."""
        try:
            with contained():
                self.channel.foresee(event.id, event, event.room_id)
        except Exception:
            log.exception("channel %s failed to think ahead of %s", self.binding.channel_id, event.id)

    def leave(self) -> None:
        """Tells the channel nothing more, what is queued included."""
        self._left = True
        self._missed = 0
        if self._queue is not None:
            self._queue.clear()

    async def _drain(self) -> None:
        try:
            while self._queue:
                event, allowance, asked = self._queue.popleft()
                await self._deliver(event, allowance, asked)
                if not self._queue and self._missed:
                    missed, self._missed = self._missed, 0
                    self._lagging(f"has caught up, and missed {missed} events", event.id)
        finally:
            self._running = False
            self._queue = None

    async def _deliver(self, event: RoomEvent, allowance: Allowance, asked: bool) -> None:
        current.set(Cause(event.chain_depth + 1, allowance))
        try:
            with contained():
                if self.binding.channel_type.intelligence and event.type is not EventType.INSTRUCTION:
                    await self.channel.on_heard(event, self._room)
                output = await self.channel.on_event(event, self._room) if asked else None
            if output is not None and output.response_events and self._outcomes is not None:
                await self._outcomes.answers(event, output, self.channel)
            if self._outcomes is not None and self.binding.channel_type is ChannelType.TEXT:
                self._outcomes.taken(event, self.binding.channel_id)
            if asked and (output is None or not output.later):
                self._settle(event, "listened" if output is None or not output.response_events else "answered")
        except asyncio.CancelledError:
            if not from_within():
                raise
            self._failed_on(event, RuntimeError("it was cancelled from within"), asked)
        except Exception as error:  # noqa: BLE001 - one channel's failure is not the room's
            self._failed_on(event, error, asked)

    def _failed_on(self, event: RoomEvent, error: Exception, asked: bool) -> None:
        log.error("channel %s failed on event %s", self.binding.channel_id, event.id, exc_info=error)
        self._fail(event.id, error)
        if asked:
            self._settle(event, "failed", "channel")

    def _settle(self, event: RoomEvent, disposition: Disposition, reason: str | None = None) -> None:
        if self._ledger is not None:
            self._ledger.settle(event.id, self.binding.channel_id, disposition, reason=reason)

    def _lagging(self, what: str, event_id: str) -> None:
        error = RuntimeError(f"channel {self.binding.channel_id} {what}")
        log.error("room %s: %s", self._room.room_id, error)
        self._fail(event_id, error)

    def _fail(self, event_id: str | None, error: Exception) -> None:
        if self._outcomes is not None:
            self._outcomes.failed(self._room.room_id, self.binding.channel_id, error, event_id)
