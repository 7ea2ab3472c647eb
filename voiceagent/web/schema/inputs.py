"""What is told of inputs: what people say or type, what the application instructs, and what becomes of each."""

from typing import Literal

from pydantic import JsonValue

from voiceagent.web.schema.data import Data, Delivery, Disposition


class _Input(Data):
    input_id: str
    """The same from its first sound to its end."""


class InputStarted(_Input):
    """Somebody begins to speak."""

    participant_id: str | None = None
    name: str | None = None
    kind: Literal["speech", "text", "dtmf"] = "speech"


class InputPartial(_Input):
    """Words of unfinished speech, which may still change."""

    text: str
    participant_id: str | None = None
    stable_chars: int = 0
    """How many characters will not change any more."""


class InputAccepted(_Input):
    """It is the room's."""

    kind: Literal["user", "steer", "service"]
    text: str | None = None
    """What was said; an instruction's is told to nobody but its agents."""
    source: str
    """The channel it came by; `application` for an instruction."""
    event_id: str | None = None
    """The message in the timeline; an instruction has none."""
    participant_id: str | None = None
    key: str | None = None
    """What it was handed in under, so that twice is once."""
    audio_ms: int | None = None
    """How long the speech was."""


class InputDecided(_Input):
    """An agent's policy has decided whether it speaks."""

    channel_id: str
    mode: Literal["speak", "offer", "silent"]
    reason: str
    judgments: dict[str, JsonValue]
    duration_ms: int
    asked_again: bool
    final: bool
    late: bool = False
    """No turn follows any more, whatever was decided."""
    turn: dict[str, JsonValue]
    """What was decided on: a line of an evaluation set."""


class InputQueued(_Input):
    """An agent has found a way for it."""

    delivery: Delivery
    generation_id: str | None = None
    """The answer that is to take it in, where that has begun."""


class InputDelivered(_Input):
    """An answer has taken it in."""

    delivery: Delivery
    source: str
    generation_id: str


class Steering(_Input):
    """How an input fares that was handed to a request while it ran."""

    provider_response_id: str | None = None
    reason: str | None = None


class InputLeft(_Input):
    """No answer took it in (held), it was taken back before (withdrawn), or nobody knows (unknown); `input.settled` follows."""

    reason: str | None = None
    route: Delivery | None = None


class InputSettled(_Input):
    """Its one end."""

    disposition: Disposition
    generation_ids: tuple[str, ...] = ()
    """The answers that took it in."""
    reason: str | None = None
    text: str | None = None
    """What a sign of listening was, since it becomes no message."""
    route: Delivery | None = None
    participant_id: str | None = None


class CommandRejected(Data):
    """What was asked for could not be done."""

    command: str
    reason: str
    job_id: str | None = None
