"""The room engine: the one object a host holds to open rooms, seat channels, send messages and listen (the seeds' `kit`)."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Literal, TypeVar

from voiceagent.errors import RoomError
from voiceagent.room.announcing import Announcing
from voiceagent.room.bounded import bounded, contained
from voiceagent.room.channel import Channel
from voiceagent.room.consumption.desk import ConsumptionDesk
from voiceagent.room.consumption.rows import rows_of as consumption_of
from voiceagent.room.consumption.state import Consumption
from voiceagent.room.desks import Desks
from voiceagent.room.door import checked_message
from voiceagent.room.events import (
    Access,
    ChannelBinding,
    InboundMessage,
    InboundResult,
    Participant,
    RoomEvent,
)
from voiceagent.room.feed import Feed, FeedEvent
from voiceagent.room.handing import Handing
from voiceagent.room.hooks import FAIL_CLOSED, Hook, HookExecution, Hooks, HookTrigger, as_hook_function
from voiceagent.room.host import ChannelHost
from voiceagent.room.intake import Intake
from voiceagent.room.jobs.desk import JobDesk, rows_of
from voiceagent.room.lifecycle import Lifecycle
from voiceagent.room.live import LiveRoom
from voiceagent.room.memory import MemoryStore
from voiceagent.room.opening import Opening
from voiceagent.room.passage import SYSTEM_CHANNEL, Bounds, Passage
from voiceagent.room.people import People
from voiceagent.room.questions.claim import AnswerJudge
from voiceagent.room.questions.desk import QuestionDesk
from voiceagent.room.questions.desk import rows_of as questions_of
from voiceagent.room.questions.elsewhere import Elsewhere, OtherRooms
from voiceagent.room.receipt import Receipt
from voiceagent.room.register.entry import Starter
from voiceagent.room.register.memory import register_of
from voiceagent.room.reply import Reply
from voiceagent.room.rooms import Rooms
from voiceagent.room.seat import Outcomes, Seat
from voiceagent.room.snapshot import snapshot
from voiceagent.room.steering import Steering
from voiceagent.room.store import Store
from voiceagent.room.tasks import Tasks
from voiceagent.room.visibility import INTERNAL, check_channel_id, normal
from voiceagent.trace.witness import NOBODY, Witness
from voiceagent.values import JSON

log = logging.getLogger(__name__)

CLOSE_MS: Final = 30_000
"""How long a channel may take to close."""

F = TypeVar("F", bound=Callable[..., object])
P = TypeVar("P")


class RoomEngine:
    """Rooms, the channels in them, and the one way for an event to get in.

    Use it as `async with RoomEngine() as kit:`; leaving the block ends every task. `store` keeps what is committed (in memory by
    default), `max_chain_depth` bounds how long agents may answer each other, `process_timeout` (seconds) bounds everything before
    a commit, `ids` makes ids (uuid4 by default; a seeded source makes runs repeatable). `witness` is told what is measured,
    `on_line` of every durable line of every room's feed, once it is stored; neither may wait. `other_rooms`: whether agents may
    ask people about other rooms that they work with. `judge` finds which open question something said or typed answers; without
    one nothing does, and questions are answered by buttons, keys and words typed into them.
    """

    def __init__(
        self,
        *,
        store: Store | None = None,
        max_chain_depth: int = 5,
        process_timeout: float = 30.0,
        ids: Callable[[], str] | None = None,
        witness: Witness = NOBODY,
        on_line: Callable[[FeedEvent], None] = lambda _: None,
        other_rooms: OtherRooms = "off",
        judge: AnswerJudge | None = None,
    ) -> None:
        self.store: Store = store if store is not None else MemoryStore()
        self._new_id = ids or (lambda: uuid.uuid4().hex)
        self._tasks = Tasks()
        self._spawn = self._tasks.spawn  # one for all seats
        self._hooks = Hooks(self._tasks.spawn)
        self._rooms = Rooms()
        self.register = register_of(self.store)
        self._opening = Opening(self.store, witness, on_line)
        bounds = Bounds.of(max_chain_depth, process_timeout)
        self._consumption = ConsumptionDesk(consumption_of(self.store), self._rooms, self.store, self._tasks.spawn)
        self._passage = Passage(self.store, self._hooks, self._tasks.spawn, self._new_id, bounds, said=self._consumption.said)
        self._intake = Intake(self.store, self._new_id)
        handing = Handing(self._rooms, self._passage, self._intake)
        self._jobs = JobDesk(rows_of(self.store), self._rooms, handing)
        elsewhere = Elsewhere(self._rooms, self.register, other_rooms)
        self.questions = QuestionDesk(
            questions_of(self.store), self._rooms, handing, self._new_id, elsewhere=elsewhere, judge=judge, spawn=self._spawn
        )
        self._passage.claims = self.questions.answering
        desks = Desks(self._jobs, self.questions, self._consumption)
        self.host = ChannelHost(self._rooms, self._hooks, self._tasks, self._passage, self._intake, desks=desks)
        self._life = Lifecycle(self._rooms, self._opening, self._passage.sharing, desks, self.register)
        self._outcomes = Outcomes(self.host.take_answers, self.host.channel_failed, self._consumption.taken)
        self._people = People(self.store, self._passage, self._intake, self._hooks)
        self._announcing = Announcing(self._rooms, self._passage, self._intake, self.store, self.host.sound)
        self._steering = Steering(self._rooms, self._passage, self._intake, self.store)
        self._channels: dict[str, Channel] = {}
        self._following: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "RoomEngine":
        await self._tasks.__aenter__()
        if self._passage.sharing.is_shared:
            self._following = self._tasks.spawn(self._passage.sharing.follow(self._rooms), "news of other processes")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._following is not None:
            self._following.cancel()
        for room in self._rooms:
            room.ledger.stop("shutdown")
            if room.leash is not None:
                room.leash.end()
        try:
            for channel in self._channels.values():
                try:
                    await bounded(channel.close(), CLOSE_MS)
                except Exception:
                    log.exception("channel %s failed to close", channel.channel_id)
        finally:
            await self._consumption.flush()
            rooms = self._rooms.clear()
            try:
                await self._tasks.__aexit__(kind, error, trace)
            finally:
                for room in rooms:  # now, for what was on its way until here is in their feeds
                    room.end("shutdown")
                await self._opening.close()

    # -- hooks ----------------------------------------------------------------------------------------------------------

    def hook(
        self,
        trigger: HookTrigger,
        *,
        execution: HookExecution = HookExecution.SYNC,
        priority: int = 0,
        name: str | None = None,
        timeout: float = 30.0,
        fail_closed: bool | None = None,
    ) -> Callable[[F], F]:
        """Registers an async function `(payload, context)` for a trigger; lower `priority` runs first, `timeout` is in seconds.

        A SYNC hook returns a HookResult; one that fails or is late is passed over, unless `fail_closed` makes it block, as it
        does unasked before words are spoken (BEFORE_TTS) and on what was heard (ON_TRANSCRIPTION).
        """
        closed = trigger in FAIL_CLOSED if fail_closed is None else fail_closed

        def register(function: F) -> F:
            hook_name = name or str(getattr(function, "__name__", "hook"))
            called = as_hook_function(function)
            self._hooks.add(Hook(hook_name, trigger, execution, priority, called, round(timeout * 1000), closed))
            return function

        return register

    # -- rooms and seats ------------------------------------------------------------------------------------------------

    def register_channel(self, channel: Channel) -> None:
        """Makes a channel known, so that it can sit in rooms. Raises RoomError when its id is taken or cannot be named."""
        if channel.channel_id == SYSTEM_CHANNEL:
            raise RoomError(f"channel id {SYSTEM_CHANNEL!r} is the room's own: give this channel another id")
        known = self._channels.get(check_channel_id(channel.channel_id))
        if known is not None and known is not channel:
            raise RoomError(f"channel id {channel.channel_id!r} is taken: give this channel another id")
        self._channels[channel.channel_id] = channel
        channel.on_register(self.host)

    async def create_room(
        self, room_id: str | None = None, *, started_by: str | None = None, started_in: str | None = None
    ) -> str:
        """Opens a room, with what the store knows of it; does nothing when it is open. Returns its id.

        `started_by` is kept with a new room: the channel id of an agent that is registered, otherwise a participant's id;
        `started_in` names the room where that was done. Raises RoomArchivedError when it is closed for good.
        """
        room_id = room_id or self._new_id()
        channel = self._channels.get(started_by or "")
        kind: Literal["person", "agent"] = "agent" if channel is not None and channel.channel_type.intelligence else "person"
        await self._life.open(room_id, Starter(kind, started_by, started_in) if started_by else None)
        return room_id

    async def close_room(self, room_id: str) -> None:
        """Closes a room: its channels leave, its feed ends, nothing more is taken. What is stored stays."""
        await self._life.close(room_id, self.detach_channel)

    async def archive_room(self, room_id: str) -> None:
        """Closes a room for good, open or not; it can be read in the store. Its open questions end, and nobody is told."""
        await self._life.archive(room_id, self.detach_channel)

    async def delete_room(self, room_id: str) -> None:
        """Archives a room and removes everything of it from the store; its id may be used anew. Raises StoreError."""
        await self._life.delete(room_id, self.detach_channel)

    async def attach_channel(
        self, room_id: str, channel_id: str, *, access: Access = Access.READ_WRITE, muted: bool = False, visibility: str = "all"
    ) -> None:
        """Seats a registered channel in a room, or changes the terms of its seat. `visibility` bounds what it writes."""
        room = self._rooms.open(room_id)
        channel = self._channels.get(channel_id)
        if channel is None:
            raise RoomError(f"channel {channel_id!r} is not registered: call kit.register_channel first")
        visibility = normal(visibility)
        if visibility == INTERNAL:
            raise RoomError("a channel's visibility cannot be 'internal'")
        binding = ChannelBinding(channel_id, channel.channel_type, access, muted, visibility)
        known = room.seat(channel_id)
        if known is not None:
            known.binding = binding
            return
        seat = Seat(channel, binding, room, self._spawn)
        seat.on_outcome(self._outcomes, room.ledger)
        room.take_seat(seat)
        channel.on_attach(room_id)

    async def detach_channel(self, room_id: str, channel_id: str) -> None:
        """Takes a channel's seat away; does nothing when it has none."""
        room = self._rooms.open(room_id)
        seat = room.leave_seat(channel_id)
        if seat is not None:
            seat.leave()
            try:
                with contained():
                    seat.channel.on_detach(room_id)
            except Exception as error:
                log.exception("room %s: channel %s failed to leave", room_id, channel_id)
                self.host.channel_failed(room_id, channel_id, error, None)
            room.ledger.left(channel_id, "detached")
            if not room.closed:
                await self.questions.agent_left(room_id, channel_id)

    async def join(self, room_id: str, participant: Participant) -> None:
        """Adds a person to a room, or brings them back; the room is told when they were not there already."""
        await self._people.join(self._rooms.open(room_id), participant)

    async def leave(self, room_id: str, participant_id: str) -> None:
        """Marks a person as gone; does nothing when they are not there."""
        await self._people.leave(self._rooms.open(room_id), participant_id)

    # -- events in ------------------------------------------------------------------------------------------------------

    async def process_inbound(self, message: InboundMessage, *, room_id: str) -> InboundResult:
        """Takes a message into a room; returns once it is committed and told, and never waits for who answers it.

        Raises RoomError for a visibility that may not be asked for and for what JSON cannot hold, StoreError when the event could
        not be kept.
        """
        room = self._rooms.get(room_id)
        if room is None or room.closed:
            return await self._passage.closed(room_id, message)
        message = checked_message(message)
        cause = self._passage.place()
        event = await self._intake.event(room, message, self._channels.get(message.channel_id), cause.depth)
        return await self._passage.take(room, event, cause)

    async def send_event(self, event: RoomEvent) -> InboundResult:
        """Takes an event that a host wrote, from a channel of its room, under a new id; raises as process_inbound does."""
        message = InboundMessage(
            channel_id=event.source.channel_id,
            content=event.content,
            sender_id=event.source.participant_id,
            type=event.type,
            visibility=event.visibility,
            addressed_to=event.addressed_to,
            response_visibility=event.response_visibility,
            parent_event_id=event.parent_event_id,
            idempotency_key=event.idempotency_key,
            metadata=event.metadata,
        )
        return await self.process_inbound(message, room_id=event.room_id)

    async def deliver(
        self,
        room_id: str,
        text: str,
        *,
        instruction: bool = False,
        addressed_to: Sequence[str] | str | None = None,
        standalone: bool = False,
        idempotency_key: str | None = None,
    ) -> RoomEvent:
        """Says something into a room, or, as an instruction, has agents answer something that nobody said.

        An instruction is read by the agents named (by all of the room when none is named) and stored nowhere; their answers name
        its id. `standalone`: they answer without reading the conversation. Raises RoomError when no agent is there.
        """
        if not instruction:
            return await self._announcing.said(room_id, text)
        room = self._rooms.open(room_id)
        event = self._intake.instruction(room, text, addressed_to, idempotency_key)
        if standalone:
            event = event.with_metadata(standalone=True)
        cause = self._passage.place()
        result = await self._passage.instruct(room, replace(event, chain_depth=cause.depth), cause)
        if result.event is None:
            raise RoomError(f"the instruction was blocked: {result.reason}")
        return result.event

    async def say(self, room_id: str, text: str, *, channel_id: str | None = None, urgent: bool = True) -> Reply:
        """Says a text in the name of an agent's channel (the room's first one by default): stored, sounded, answered by nobody.

        `urgent` cuts what sounds now; otherwise the text waits its turn. A text that a hook or the agent's seat refuses comes
        back as a cancelled reply, unheard. Raises RoomError when no agent sits in the room.
        """
        return await self._announcing.say(room_id, text, channel_id, urgent=urgent)

    def cancel_job(self, room_id: str, job_id: str) -> bool:
        """Asks an agent's background job to stop; what it has done is not undone.

        False, and `command.rejected` in the feed, when it is not active. Raises RoomError when the room is not open.
        """
        return self._jobs.cancel(self._rooms.open(room_id), job_id)

    async def steer(
        self,
        room_id: str,
        text: str,
        *,
        participant_id: str | None = None,
        generation_id: str | None = None,
        input_id: str | None = None,
    ) -> Receipt:
        """Corrects what an agent is doing, in a person's name or the application's; no policy is asked.

        With `generation_id` the text goes into that answer or into none, and is refused once that has ended. Without, it joins
        the answer that is being made, or opens one. `input_id` names it: given again with the same text it returns how far that
        has come, with another it is refused. Raises StoreError.
        """
        return await self._steering.steer(
            room_id, text, participant_id=participant_id, generation_id=generation_id, input_id=input_id
        )

    def cancel_generation(self, room_id: str, generation_id: str, reason: str = "host") -> bool:
        """Stops an answer that is being made, or sounds; False when there is none of this id.

        Raises RoomError when the room is not open.
        """
        seats = self._rooms.open(room_id).seats
        return any(seat.channel.cancel_generation(room_id, generation_id, reason) for seat in seats)

    def withdraw_input(self, room_id: str, input_id: str) -> bool:
        """Takes back an input that waits for an answer's next request: no agent reads it. False when none does."""
        return sum(seat.channel.withdraw(room_id, input_id) for seat in self._rooms.open(room_id).seats) > 0

    async def read(
        self, event_id: str, participant_id: str, *, channel_id: str | None = None, room_id: str | None = None
    ) -> None:
        """Says that a person has read a message. Raises RoomError when no open room has it (`room_id`: this one), StoreError."""
        await self._consumption.read(event_id, participant_id, channel_id=channel_id, room_id=room_id)

    # -- looking in -----------------------------------------------------------------------------------------------------

    async def consumption(self, event_id: str) -> tuple[Consumption, ...]:
        """What became of an answer, for each channel and person that was to have it: heard, cut, never played, delivered, read.

        Empty for what nobody was told. Raises StoreError.
        """
        return await self._consumption.of(event_id)

    def context(self, room_id: str) -> LiveRoom:
        """The room as channels and hooks may read it; a live view. Raises RoomError when it is not open."""
        return self._rooms.open(room_id)

    @property
    def open_rooms(self) -> Sequence[LiveRoom]:
        """The rooms that are open; live views."""
        return tuple(self._rooms)

    @property
    def load(self) -> tuple[int, int]:
        """How many rooms are open, and how many lines of their feeds wait for the store."""
        return len(tuple(self._rooms)), self._opening.waiting

    def feed(self, room_id: str) -> Feed:
        """The room's feed. Raises RoomError when it is not open."""
        return self._rooms.open(room_id).feed

    def snapshot(self, room_id: str) -> dict[str, JSON]:
        """The room for a host that begins to follow it: see snapshot.py. Raises RoomError when it is not open."""
        room = self._rooms.open(room_id)
        return snapshot(room, room.feed.seq, [question.summary() for question in self.questions.waiting(room_id)])
