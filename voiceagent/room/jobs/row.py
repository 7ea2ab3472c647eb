"""A background job as it is stored, and what a store offers to keep such rows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from voiceagent.errors import StoreError
from voiceagent.room.line import Audience
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

JobState = Literal["running", "returned", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job of one agent in one room: the call that began it, who runs it, and what it came to.

    `result` is what the model reads of it, an error's text included; None while it runs. `told` says that nothing of it is left
    to be brought back to the agent. `owner` names the engine that runs it. `responds_to` is what the
    agent was answering; `parent_event_id` is that event's, `chain_depth` and `response_visibility` (None: all) its answer's:
    they bound what is said of the result.
    """

    job_id: str
    room_id: str
    channel_id: str
    generation_id: str
    call_id: str
    tool: str
    arguments: str
    label: str
    owner: str
    created_at: datetime
    responds_to: str | None = None
    state: JobState = "running"
    result: str | None = None
    told: bool = False
    response_visibility: str | None = None
    parent_event_id: str | None = None
    chain_depth: int = 0

    @property
    def audience(self) -> Audience:
        """Who is told of it: what answers something private is for hosts alone."""
        return "all" if self.response_visibility in (None, ALL, "transport") else "host"

    def summary(self) -> dict[str, JSON]:
        """What hosts read of it in a snapshot."""
        return {
            "job_id": self.job_id,
            "channel_id": self.channel_id,
            "generation_id": self.generation_id,
            "call_id": self.call_id,
            "tool": self.tool,
            "label": self.label,
            "audience": self.audience,
        }


class JobRows(Protocol):
    """Keeps jobs beside a store's rooms. What `put` returned from survives the process."""

    @property
    def keeper(self) -> str:
        """The name of this process among those that share the rows."""
        ...

    async def put(self, row: JobRow) -> None:
        """Keeps a job, or replaces what is known of it. Raises StoreError, also when another job has its call."""
        ...

    async def of_call(self, room_id: str, channel_id: str, generation_id: str, call_id: str) -> JobRow | None:
        """The job that a call began; a model numbers its calls anew in each answer, so the answer is part of the call's name."""
        ...

    async def untold(self, room_id: str) -> Sequence[JobRow]:
        """The jobs of a room that are not told, in the order in which they were begun."""
        ...

    async def living(self, keepers: Collection[str]) -> Collection[str]:
        """Which of these other processes still run, as far as can be known."""
        ...


def encode_job(row: JobRow) -> str:
    """JSON text with every field. Raises StoreError for what UTF-8 cannot hold."""
    try:
        return _ROW.dump_json(row, warnings="error").decode()
    except (PydanticSerializationError, ValueError) as error:
        raise StoreError(f"job {row.job_id!r} cannot be written as JSON: {error}") from error


def decode_job(text: str | bytes) -> JobRow:
    """The job in JSON text; fields that this version does not know are left out. Raises StoreError for anything else."""
    try:
        return _ROW.validate_json(text)
    except (ValidationError, ValueError) as error:
        raise StoreError(f"a stored job cannot be read: {type(error).__name__}") from error


def call_taken(row: JobRow) -> StoreError:
    """A call begins one job."""
    return StoreError(f"call {row.call_id!r} of answer {row.generation_id!r} has begun another job already; of_call returns it")


_ROW: TypeAdapter[JobRow] = TypeAdapter(JobRow)
