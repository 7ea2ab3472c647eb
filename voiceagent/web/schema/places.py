"""What is told of the room and of its people, and of the stream that tells it."""

from typing import Literal

from pydantic import Field, JsonValue

from voiceagent.web.schema.answers import Purpose
from voiceagent.web.schema.data import Data


class Source(Data):
    """Where an event came from; agents have no participant."""

    channel_id: str
    channel_type: str
    direction: str
    participant_id: str | None = None


class Content(Data):
    """Words, a tool's call, a fact about the room, or stored sound."""

    kind: Literal["text", "tool_call", "system", "recording"]
    body: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: str | None = None
    """JSON text."""
    result: str | None = None
    error: str | None = None
    code: str | None = None
    uri: str | None = None
    duration_ms: int | None = None


class Stored(Data):
    """One event of the timeline."""

    id: str
    room_id: str
    index: int
    type: Literal["message", "instruction", "tool_call_start", "tool_call_end", "system"]
    source: Source
    content: Content
    created_at: str
    status: Literal["pending", "delivered", "blocked"]
    blocked_by: str | None = None
    visibility: str
    addressed_to: list[str] | None = None
    response_visibility: str | None = None
    chain_depth: int = 0
    parent_event_id: str | None = None
    responds_to: str | None = None
    correlation_id: str | None = None
    """Of an answer: its generation."""
    idempotency_key: str | None = None
    metadata: dict[str, JsonValue]


class Committed(Data):
    """An event is in the timeline."""

    event: Stored


class Person(Data):
    """Somebody came or left."""

    participant_id: str
    name: str | None = None


class Muted(Data):
    """Somebody's microphone is off or on."""

    participant_id: str
    muted: bool


class Thought(Data):
    """What the agent has in mind."""

    text: str
    want_to_say: list[str]
    urgent: bool
    duration_ms: int | None = None
    """None when the agent has just spoken."""


class Listening(Data):
    """Whether the agent was asked to listen only, and by whom."""

    listening: bool
    speaker: str | None = None
    text: str | None = None


class Ready(Data):
    """The stream is open."""

    epoch: str
    """Names this opening of a room whose numbers do not outlive it."""
    after: int
    """Lines behind this number follow. Below the number that was asked for: the room's numbers began anew."""
    host: bool
    """Whether the reader is shown what hosts are."""
    people: list[Person]


class Gap(Data):
    """Lines that the reader missed and that are kept no longer."""

    from_: int = Field(alias="from")
    to: int


class OpenGeneration(Data):
    """An answer that is being made."""

    generation_id: str
    channel_id: str | None = None
    responds_to: str | None = None
    purpose: Purpose
    text: str
    """All of it so far."""
    audience: Literal["all", "host"]
    input_ids: tuple[str, ...] = ()
    accepted_input_ids: tuple[str, ...] = ()


class Starter(Data):
    """Who started a room; `room_id` is the room in which that was done."""

    kind: Literal["person", "agent"]
    id: str
    room_id: str | None = None


class Snapshot(Data):
    """The room as it is at line `seq`; lines behind it are news."""

    room_id: str
    seq: int
    people: list[dict[str, JsonValue]]
    generations: list[OpenGeneration]
    speeches: list[dict[str, JsonValue]]
    jobs: list[dict[str, JsonValue]]
    questions: list[dict[str, JsonValue]]
    started_by: Starter | None = None
    listening: dict[str, JsonValue] | None = None
    """By agent; for hosts."""


class Lagging(Data):
    """The reader took too little, and has missed lines that must not be missed: resume behind the last number that came."""

    reason: Literal["too_slow"]
    dropped: Literal["durable"]


class Closed(Data):
    """Nothing more comes; come again unless the token has expired."""

    reason: Literal["room_closed", "token_expired", "store_failed"]


class Alive(Data):
    """A sign of life where nothing else is told."""
