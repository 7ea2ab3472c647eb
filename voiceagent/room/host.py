"""What the engine offers to its channels: committing what they make, sounding it, hooks, tasks and ids."""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import TypeVar

from voiceagent.errors import RoomError
from voiceagent.room.ahead import Ahead
from voiceagent.room.channel import Channel, ChannelOutput
from voiceagent.room.compaction import Compaction
from voiceagent.room.desks import Desks
from voiceagent.room.events import Direction, EventSource, EventType, InboundResult, RoomEvent, TextContent
from voiceagent.room.feed import Feed
from voiceagent.room.hearers import hearers
from voiceagent.room.hooks import ErrorEvent, HookOutcome, Hooks, HookTrigger
from voiceagent.room.intake import Intake
from voiceagent.room.ledger import Disposition, Ledger
from voiceagent.room.live import LiveRoom
from voiceagent.room.passage import Passage
from voiceagent.room.reply import Reply
from voiceagent.room.rooms import Rooms
from voiceagent.room.tasks import Tasks
from voiceagent.room.turns import Turns
from voiceagent.room.visibility import INTERNAL
from voiceagent.values import JSON

log = logging.getLogger(__name__)

P = TypeVar("P")


class ChannelHost:
    """The Host protocol, for all channels of one engine; `kit.host` is it."""

    def __init__(
        self,
        rooms: Rooms,
        hooks: Hooks,
        tasks: Tasks,
        passage: Passage,
        intake: Intake,
        *,
        desks: Desks,
    ) -> None:
        self._rooms = rooms
        self._hooks = hooks
        self._tasks = tasks
        self._passage = passage
        self._intake = intake
        self.ahead = Ahead(rooms, passage, intake)
        self.compaction = Compaction(rooms, passage, intake, desks.questions)
        self.jobs = desks.jobs
        self.questions = desks.questions
        self.consumption = desks.consumption

    def new_id(self) -> str:
        """An id for whatever needs one."""
        return self._intake.new_id()

    def reserve_id(self, room_id: str) -> str:
        """An id for an utterance that has just begun; its message is committed under it."""
        return self._intake.reserve(self._rooms.open(room_id))

    async def answer(self, event: RoomEvent, trigger: RoomEvent | None) -> InboundResult:
        """Commits what a channel made for a trigger: under a new id, from its own channel, never as an instruction."""
        room = self._rooms.get(event.room_id)
        if room is None:
            return InboundResult(None, blocked=True, reason="room_closed")
        if event.type is EventType.INSTRUCTION:
            log.warning("room %s: an instruction from channel %s is dropped", event.room_id, event.source.channel_id)
            return InboundResult(None, blocked=True, reason="instruction_from_channel")
        cause = self._passage.place()
        return await self._passage.take(room, await self._intake.answer(room, event, trigger), cause)

    def sound(self, reply: Reply) -> None:
        """Hands a reply to every channel of its room that may hear it; to none when its cause has used up its answers, since the
        room would not take its words either."""
        cause = self._passage.place()
        if cause.depth and reply.channel_id is not None and not cause.allowance.draw(reply.id):
            log.warning("room %s: a reply of %s is not sounded: too many answers to one cause", reply.room_id, reply.channel_id)
            return
        room = self._rooms.get(reply.room_id)
        if room is not None and reply.channel_id is not None:
            room.ledger.sounding(reply.responds_to, reply.channel_id)
        self._sound(reply)

    def _sound(self, reply: Reply) -> None:
        room = self._rooms.get(reply.room_id)
        for seat in hearers(room, reply) if room is not None else ():
            seat.hand(reply)

    async def write_record(
        self, channel: Channel, room_id: str, text: str, metadata: Mapping[str, JSON], *, event_id: str | None = None
    ) -> RoomEvent:
        """Writes a sounding channel's own record, such as a cut: internal, of no participant, delivered to nobody.

        `event_id` is a new_id() that was told of already. Raises RoomError when the channel does not sound or does not sit in the
        room.
        """
        room = self._rooms.open(room_id)
        seat = room.seat(channel.channel_id)
        if seat is None or seat.channel is not channel or not channel.channel_type.sounds:
            raise RoomError(f"channel {channel.channel_id!r} may not write records in room {room_id}")
        source = EventSource(channel.channel_id, channel.channel_type)
        event = replace(self._intake.own(room_id, source, TextContent(text), event_id), visibility=INTERNAL)
        result = await self._passage.take(room, replace(event, metadata=dict(metadata)), self._passage.place())
        if result.event is None:
            raise RoomError(f"room {room_id}: the record was refused: {result.reason}")
        return result.event

    async def run_hooks(self, trigger: HookTrigger, payload: P, room_id: str) -> HookOutcome[P]:
        """Asks the SYNC hooks of a trigger and tells the ASYNC ones what stands."""
        return await self._hooks.run(trigger, payload, self._rooms.open(room_id))

    def notify(self, trigger: HookTrigger, payload: object, room_id: str) -> None:
        """Tells every hook of a trigger without waiting for any."""
        room = self._rooms.get(room_id)
        if room is not None:
            self._hooks.notify(trigger, payload, room)

    def context(self, room_id: str) -> LiveRoom:
        """The room as channels and hooks may read it; a live view. Raises RoomError when it is not open."""
        return self._rooms.open(room_id)

    def feed(self, room_id: str) -> Feed:
        """The room's feed. Raises RoomError when it is not open."""
        return self._rooms.open(room_id).feed

    def ledger(self, room_id: str) -> Ledger:
        """The room's inputs and what becomes of them. Raises RoomError when it is not open."""
        return self._rooms.open(room_id).ledger

    def turns(self, room_id: str) -> Turns:
        """The room's turns as they are measured. Raises RoomError when it is not open."""
        return self._rooms.open(room_id).turns

    def settle(
        self,
        room_id: str,
        input_id: str,
        channel_id: str,
        disposition: Disposition,
        *,
        generation_id: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """What became of an input that a channel was asked about. False when it was not, has said so, or the room is gone."""
        room = self._rooms.get(room_id)
        if room is None:
            return False
        return room.ledger.settle(input_id, channel_id, disposition, generation_id=generation_id, reason=reason)

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Starts a task that the engine owns; an error in it is logged."""
        return self._tasks.spawn(coroutine, name)

    # -- what the engine's seats report ----------------------------------------------------------------------------------

    async def take_answers(self, trigger: RoomEvent, output: ChannelOutput, channel: Channel) -> None:
        """Commits what a channel answered whole, and has it sounded."""
        for event in output.response_events:
            source = EventSource(channel.channel_id, channel.channel_type, Direction.OUTBOUND)
            reply_id = self._intake.new_id()
            named = replace(event, room_id=trigger.room_id, source=source, correlation_id=event.correlation_id or reply_id)
            result = await self.answer(named, trigger)
            stands = result.event
            if stands is None or result.blocked or not isinstance(stands.content, TextContent):
                continue
            reply = Reply(reply_id, trigger.room_id, channel_id=channel.channel_id, responds_to=stands.responds_to)
            reply.visibility = stands.visibility
            reply.write(stands.content.body)
            reply.end()
            self._sound(reply)

    def channel_failed(self, room_id: str, channel_id: str, error: Exception, event_id: str | None) -> None:
        """Tells the hooks of a channel that raised, on an event or a reply."""
        self.notify(HookTrigger.ON_ERROR, ErrorEvent(room_id, channel_id, "channel", error, responds_to=event_id), room_id)
