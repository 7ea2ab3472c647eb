"""What sits in a room: the base that agents, voices and text doors extend."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from voiceagent.room.events import ChannelBinding, ChannelType, Participant, RoomEvent
from voiceagent.room.reply import Reply


class RoomContext(Protocol):
    """A room as its channels and hooks may read it; a live view, cheap to hand over."""

    @property
    def room_id(self) -> str:
        """The room's id."""
        ...

    @property
    def participants(self) -> Sequence[Participant]:
        """Everybody who ever joined, in order of joining; look at `active`."""
        ...

    @property
    def bindings(self) -> Sequence[ChannelBinding]:
        """The channels in the room, in order of attachment."""
        ...

    @property
    def recent_events(self) -> Sequence[RoomEvent]:
        """The newest committed events, oldest first, BLOCKED and internal ones included; readers filter."""
        ...


@dataclass(frozen=True, slots=True)
class ChannelOutput:
    """What a channel answers an event with, already whole; streamed answers go through a Reply instead."""

    response_events: Sequence[RoomEvent] = field(default_factory=tuple)


class Channel:
    """A seat in rooms; one object may sit in many. Subclass it and override what it should hear.

    `on_event` runs in the channel's own delivery task, in index order: what it awaits delays this channel alone. A channel
    that takes long should start a task of its own.
    """

    def __init__(self, channel_id: str, channel_type: ChannelType) -> None:
        self.channel_id = channel_id
        self.channel_type = channel_type

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        """An event that this channel may know, its own ones excepted."""
        return None

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        """An agent begins to answer; whoever sounds words takes them from the reply. Must return at once."""

    def on_attach(self, room_id: str) -> None:
        """The channel has joined a room."""

    def on_detach(self, room_id: str) -> None:
        """The channel has left a room, or the room is gone."""

    async def close(self) -> None:
        """The engine closes; stop what still runs."""
