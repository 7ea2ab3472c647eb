"""What is told of answers while they are made: generations, their words, their tools, and their background jobs."""

from typing import Literal

from pydantic import JsonValue

from voiceagent.web.schema.data import Data

Purpose = Literal["answer", "offer", "greeting", "handback"]


class Cause(Data):
    """What brought an answer about, where that is no input."""

    job_id: str | None = None
    question_id: str | None = None
    generation_id: str | None = None
    kind: Literal["question_answered", "question_proposed"] | None = None
    options: list[int] | None = None
    """The options of that question which a person chose."""
    input_id: str | None = None
    """What was said, when that is read back before it counts as an answer."""


class GenerationStarted(Data):
    """An answer begins, before any of its work."""

    initial_input_id: str
    purpose: Purpose
    chain_depth: int
    call_id: str | None = None
    caused_by: Cause | None = None


class TextDelta(Data):
    """A piece of the answer as the model writes it."""

    text: str
    segment: int = 0
    at: int | None = None
    """How many characters of the answer are before it."""


class AssistantMessage(Data):
    """The words of one call of the model, whole; later ones may say otherwise."""

    segment: int
    at: int | None = None
    """How many characters of the answer are before it."""
    text: str
    provisional: Literal[True]
    input_ids: list[str]
    accepted_input_ids: list[str]


class ToolStarted(Data):
    """A tool runs."""

    call_id: str
    tool: str


class ToolEnded(Data):
    """It has ended."""

    call_id: str
    tool: str
    outcome: str


class _Ended(Data):
    input_ids: tuple[str, ...] = ()
    """What the answer took in, in order."""
    accepted_input_ids: tuple[str, ...] = ()
    """What its model accepted while it answered, and is not known to have used."""
    event_ids: tuple[str, ...] = ()
    """Its rows in the timeline."""


class GenerationFinished(_Ended):
    """The answer is made; what was heard of it is told by `speech.*`."""

    text: str
    """The last words without a tool call: the answer itself."""
    speech_ids: tuple[str, ...] = ()
    active_job_ids: list[str]
    question_ids: tuple[str, ...] = ()
    disposition: Literal["manager_turn_finished"]
    usage: dict[str, JsonValue] | None = None
    """Tokens by kind, where the model says. `discarded_requests`, `discarded_characters` and `discarded_` with a kind: what was
    begun for this turn before it was there, and thrown away."""


class GenerationFailed(_Ended):
    """The answer broke off; nothing is done again, and nothing that was done is undone."""

    error_type: str
    error_category: str
    stage: str
    retryable: bool = False
    replayed: Literal[False]
    effects: Literal["not_rolled_back"]


class GenerationDetached(_Ended):
    """The answer was given up."""

    cancellation: Literal["confirmed", "unconfirmed"]
    """Confirmed: none of its work goes on."""
    reason: Literal["barge_in", "stop", "superseded", "shutdown", "host"]


class _Job(Data):
    job_id: str
    call_id: str
    tool: str
    label: str


class Job(_Job):
    """A background job, as far as it has come."""

    outcome: Literal["ok", "error", "unconfirmed"] | None = None
    effects: Literal["not_rolled_back"] | None = None


class JobUpdated(_Job):
    """What a job says of itself while it runs."""

    text: str


class JobReply(_Job):
    """What becomes of a job's result on its way back to the agent."""

    status: Literal["scheduled", "completed", "interrupted", "skipped"]
    generation_id: str | None = None
    speech_id: str | None = None
    reason: str | None = None
