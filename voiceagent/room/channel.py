"""What sits in a room: the base that agents, voices and text doors extend."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from voiceagent.errors import RoomError
from voiceagent.room.context import RoomContext
from voiceagent.room.events import ChannelType, InboundResult, RoomEvent
from voiceagent.room.feed import Feed
from voiceagent.room.hooks import HookOutcome, HookTrigger
from voiceagent.room.jobs.keeping import JobKeeping
from voiceagent.room.ledger import Disposition, Ledger
from voiceagent.room.questions.keeping import QuestionKeeping
from voiceagent.room.questions.question import Question
from voiceagent.room.reply import Reply
from voiceagent.room.successor import Compacting
from voiceagent.room.turns import Turns
from voiceagent.values import JSON

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class ChannelOutput:
    """What a channel answers an event with, already whole; streamed answers go through a Reply instead.

    `later`: the channel says what becomes of the event when it knows, by `host.settle`. Otherwise an event that it was asked
    about counts as answered when there are `response_events`, and as listened to when there are none.
    """

    response_events: Sequence[RoomEvent] = field(default_factory=tuple)
    later: bool = False


class Drafting(Protocol):
    """Where an agent shows what it may say."""

    def prepare(self, draft: Reply) -> None:
        """Shows the words of an answer that may never be given to every channel that would sound it."""
        ...


class Host(Protocol):
    """What the engine offers to the channels registered with it."""

    @property
    def ahead(self) -> Drafting:
        """Answers that may never be given."""
        ...

    @property
    def jobs(self) -> JobKeeping:
        """What background jobs need of the room."""
        ...

    @property
    def questions(self) -> QuestionKeeping:
        """What questions that do not block need of the room."""
        ...

    @property
    def compaction(self) -> Compacting:
        """What an agent needs to go on under a summary."""
        ...

    def new_id(self) -> str:
        """An id for a reply or a call."""
        ...

    async def answer(self, event: RoomEvent, trigger: RoomEvent | None) -> InboundResult:
        """Commits an event that a channel made for a trigger, under a new id; None for one that answers nothing."""
        ...

    async def run_hooks(self, trigger: HookTrigger, payload: P, room_id: str) -> HookOutcome[P]:
        """Asks the SYNC hooks of a trigger and tells the ASYNC ones what stands."""
        ...

    def notify(self, trigger: HookTrigger, payload: object, room_id: str) -> None:
        """Tells every hook of a trigger without waiting for any."""
        ...

    def sound(self, reply: Reply) -> None:
        """Hands a reply to every channel of its room that may hear it."""
        ...

    def context(self, room_id: str) -> RoomContext:
        """The room as it is. Raises RoomError when it is not open."""
        ...

    def feed(self, room_id: str) -> Feed:
        """The room's feed. Raises RoomError when it is not open."""
        ...

    def ledger(self, room_id: str) -> Ledger:
        """The room's inputs and what becomes of them. Raises RoomError when it is not open."""
        ...

    def turns(self, room_id: str) -> Turns:
        """The room's turns as they are measured. Raises RoomError when it is not open."""
        ...

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
        """What became of an input that the channel was asked about. False when it was not, or has said so before."""
        ...

    def spawn(self, coroutine: Coroutine[object, object, None], name: str) -> asyncio.Task[None]:
        """Starts a task that the engine owns; an error in it is logged."""
        ...


__all__ = ["Channel", "ChannelOutput", "Host", "RoomContext"]


class Channel:
    """A seat in rooms; one object may sit in many. Subclass it and override what it should hear.

    `on_event` runs in the channel's own delivery task, in index order: what it awaits delays this channel alone. A channel
    that takes long should start a task of its own. What such a task sends is held to come of the event that it was started on,
    for as long as it lives: a task that serves a line for ever is started in `on_attach` or before.
    """

    def __init__(self, channel_id: str, channel_type: ChannelType) -> None:
        self.channel_id = channel_id
        self.channel_type = channel_type
        self._host: Host | None = None

    @property
    def host(self) -> Host:
        """The engine that the channel is registered with. Raises RoomError before that."""
        if self._host is None:
            raise RoomError(f"channel {self.channel_id}: register it with an engine first (kit.register_channel)")
        return self._host

    def on_register(self, host: Host) -> None:
        """The channel belongs to an engine from now on."""
        self._host = host

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        """An event that this channel may know, its own ones excepted."""
        return None

    async def on_heard(self, event: RoomEvent, context: RoomContext) -> None:
        """An event that an agent's channel may know, its own included, asked or not; called before on_event, in index order."""

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        """An agent begins to answer; whoever sounds words takes them from the reply. Must return at once."""

    def foresee(self, event_id: str, event: RoomEvent | None, room_id: str) -> None:
        """Somebody may have said this: an agent may think about it, as long as nothing of that shows before `on_event` brings the
        event. None: under this id nothing comes any more, or it has come to all. Must return at once."""

    def on_draft(self, draft: Reply) -> None:
        """An answer that may never be given is being written: whoever would sound it may get its beginning ready, unheard. It is
        cancelled as `GIVEN` once the reply of the same id begins, otherwise for nothing. Must return at once."""

    def on_attach(self, room_id: str) -> None:
        """The channel has joined a room."""

    def on_detach(self, room_id: str) -> None:
        """The channel has left a room, or the room is gone."""

    def cancel_generation(self, room_id: str, generation_id: str, reason: str) -> bool:
        """Stops an answer that is being made; False when this channel makes no such answer."""
        return False

    def withdraw(self, room_id: str, input_id: str) -> bool:
        """Takes back an input that waits for an answer which this channel makes; False when none of this id waits here."""
        return False

    def admits(self, room_id: str, generation_id: str) -> bool:
        """Whether an answer that this channel makes still takes input in."""
        return False

    def snapshot(self, room_id: str) -> Mapping[str, JSON]:
        """What a host that begins to follow the room should know of this channel: lists by name, such as `generations`."""
        return {}

    def cancel_job(self, room_id: str, job_id: str) -> bool:
        """Asks a background job of this channel to stop; False when it runs no such job."""
        return False

    def on_question_ended(self, question: Question) -> bool:
        """A person has answered or dismissed a question of this channel; False when nobody here can be told of it now."""
        return False

    async def close(self) -> None:
        """The engine closes; stop what still runs."""
