"""What an agent that runs background jobs is offered by its room."""

from collections.abc import Sequence
from typing import Protocol

from voiceagent.room.events import InboundResult
from voiceagent.room.jobs.row import JobRow, JobRows
from voiceagent.values import JSON


class JobKeeping(Protocol):
    """Rows that outlive the process, lines in the feed, and a result's way back."""

    @property
    def rows(self) -> JobRows:
        """Where jobs are kept."""
        ...

    @property
    def owner(self) -> str:
        """The name that this run of the engine puts on its jobs."""
        ...

    def publish(self, row: JobRow, what: str, data: dict[str, JSON] | None = None, *, durable: bool = True) -> None:
        """Adds `job.<what>` to the feed of the job's room; nothing when the room is closed."""
        ...

    async def hand_back(self, row: JobRow, text: str) -> InboundResult:
        """Has the agent that began a job read what came of it. A refusal says why in `reason`: LATER, or for good."""
        ...

    def leave(self, row: JobRow) -> None:
        """Keeps what a job came to until its agent sits in the room again."""
        ...

    def take_left(self, room_id: str, channel_id: str) -> Sequence[JobRow]:
        """What waits for an agent that has just sat down; it is that agent's from now on."""
        ...
