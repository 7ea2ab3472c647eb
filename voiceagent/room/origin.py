"""The turn that something comes back to behind it: a job's result, a person's answer; and how such an instruction is marked."""

from dataclasses import dataclass
from typing import Final

CAUSED_BY: Final = "caused_by"
"""The metadata of an instruction that says what it came of; `automatic` beside it says that no person wrote it."""

LATER: Final = "later"
"""Why something is not handed back now: the agent is not there, the room stops, or too much waits for the agent."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The turn that something comes back to: what bounds an answer to it bounds what is made of what comes back."""

    room_id: str
    channel_id: str
    response_visibility: str | None = None
    parent_event_id: str | None = None
    chain_depth: int = 0
