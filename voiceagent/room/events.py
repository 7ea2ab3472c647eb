"""What happened in a room, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal

from voiceagent.values import JSON


class EventType(StrEnum):
    """What kind of fact an event is."""

    MESSAGE = "message"
    INSTRUCTION = "instruction"
    TOOL_CALL_START = "tool_call_start"
    TOOL_CALL_END = "tool_call_end"
    SYSTEM = "system"


class ChannelType(StrEnum):
    """How a channel reaches people, or that an agent sits behind it."""

    AI = "ai"
    VOICE = "voice"
    AUDIO_VIDEO = "audio_video"
    TEXT = "text"
    SYSTEM = "system"

    @property
    def intelligence(self) -> bool:
        """Whether an agent answers there; every other type carries words to people."""
        return self is ChannelType.AI

    @property
    def sounds(self) -> bool:
        """Whether what is said there is heard, so that it can be cut."""
        return self in (ChannelType.VOICE, ChannelType.AUDIO_VIDEO)


class Direction(StrEnum):
    """Inbound: from a person or the outside. Outbound: from an agent or the host."""

    INBOUND = "inbound"
    OUTBOUND = "outbound"


class EventStatus(StrEnum):
    """Whether the room took the event."""

    PENDING = "pending"
    DELIVERED = "delivered"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class TextContent:
    """Words, spoken or typed."""

    body: str
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ToolCallContent:
    """A tool's call, or its end with `result` or `error`; `arguments` is JSON text."""

    call_id: str
    tool: str
    arguments: str = "{}"
    result: str | None = None
    error: str | None = None
    kind: Literal["tool_call"] = "tool_call"

    @property
    def body(self) -> str:
        """The result or error as text; empty while the tool runs."""
        return self.result if self.result is not None else (self.error or "")


@dataclass(frozen=True, slots=True)
class SystemContent:
    """A fact about the room itself, such as somebody joining; `code` is for programs, `body` for people."""

    body: str
    code: str = ""
    kind: Literal["system"] = "system"


@dataclass(frozen=True, slots=True)
class RecordingContent:
    """A reference to stored sound; `body` is its transcript where one is known."""

    uri: str
    duration_ms: int
    body: str = ""
    kind: Literal["recording"] = "recording"


Content = TextContent | ToolCallContent | SystemContent | RecordingContent


@dataclass(frozen=True, slots=True)
class EventSource:
    """Where an event came from. `participant_id` is None for agents, hosts and records that a channel itself writes."""

    channel_id: str
    channel_type: ChannelType
    direction: Direction = Direction.INBOUND
    participant_id: str | None = None


@dataclass(frozen=True, slots=True)
class RoomEvent:
    """One fact in a room's timeline.

    `visibility` says who may know it (see visibility.py), `addressed_to` which agents are asked to act (None: all that see it,
    empty: nobody), `response_visibility` is a ceiling for every answer derived from it. `responds_to` names the event that this
    one answers; `parent_event_id` the root of its thread. `index` is None until committed; blocked events are stored and take
    one too.
    """

    id: str
    room_id: str
    source: EventSource
    content: Content
    created_at: datetime
    type: EventType = EventType.MESSAGE
    status: EventStatus = EventStatus.PENDING
    blocked_by: str | None = None
    visibility: str = "all"
    addressed_to: tuple[str, ...] | None = None
    response_visibility: str | None = None
    index: int | None = None
    chain_depth: int = 0
    parent_event_id: str | None = None
    responds_to: str | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    metadata: Mapping[str, JSON] = field(default_factory=dict)

    def with_metadata(self, **entries: JSON) -> "RoomEvent":
        """The same event with these metadata entries set."""
        return replace(self, metadata={**self.metadata, **entries})


class Role(StrEnum):
    """What a participant is in the room."""

    OWNER = "owner"
    MEMBER = "member"
    AGENT = "agent"
    OBSERVER = "observer"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class Participant:
    """A person (or a human adviser, an observer, a bot) in a room, and the channels they are reached through."""

    id: str
    display_name: str | None = None
    role: Role = Role.MEMBER
    connected_via: tuple[str, ...] = ()
    active: bool = True


class Access(StrEnum):
    """What a bound channel may do."""

    READ_WRITE = "read_write"
    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ChannelBinding:
    """A channel's seat in one room."""

    channel_id: str
    channel_type: ChannelType
    access: Access = Access.READ_WRITE
    muted: bool = False
    visibility: str = "all"

    @property
    def can_read(self) -> bool:
        """Whether events are delivered there."""
        return self.access in (Access.READ_WRITE, Access.READ_ONLY)

    @property
    def can_write(self) -> bool:
        """Whether its events are taken."""
        return self.access in (Access.READ_WRITE, Access.WRITE_ONLY) and not self.muted


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """What somebody says or types into a room, before the room has made an event of it.

    `reserved_id` is an id that the engine gave out before the words were known (an utterance from its first sound); any other
    id is replaced. `visibility` and `response_visibility` may not be `internal`.
    """

    channel_id: str
    content: Content
    sender_id: str | None = None
    type: EventType = EventType.MESSAGE
    visibility: str = "all"
    addressed_to: tuple[str, ...] | None = None
    response_visibility: str | None = None
    parent_event_id: str | None = None
    idempotency_key: str | None = None
    reserved_id: str | None = None
    metadata: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InboundResult:
    """What became of an inbound message: the stored event (None when nothing was stored), or why it was refused."""

    event: RoomEvent | None
    blocked: bool = False
    reason: str | None = None
    duplicate: bool = False
