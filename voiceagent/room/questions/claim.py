"""What somebody may have answered by what they said: the finding, who finds it, and what the room does about it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from voiceagent.room.events import RoomEvent
from voiceagent.room.live import LiveRoom
from voiceagent.room.questions.aloud import Proposal
from voiceagent.room.questions.question import Question


@dataclass(frozen=True, slots=True)
class Claim:
    """One question that an utterance seems to answer: with an option, by its place, or with words of its own. `sure`: it may be
    taken as it stands; otherwise it is read back first. `confidence` is 0..1."""

    question_id: str
    option: int | None
    text: str | None
    confidence: float
    sure: bool


class AnswerJudge(Protocol):
    """Finds what an utterance answers. What is not plainly an answer is none."""

    async def judge(
        self, questions: Sequence[Question], utterance: str, *, said_last: str | None, read_back: Proposal | None
    ) -> Claim | None:
        """None for ordinary speech. `questions` are those that whoever spoke may answer, `said_last` is the one that was said
        aloud last, `read_back` what this person has just been asked to confirm."""
        ...


class NoJudge:
    """Takes everything for ordinary speech."""

    async def judge(
        self, questions: Sequence[Question], utterance: str, *, said_last: str | None, read_back: Proposal | None
    ) -> Claim | None:
        """None."""
        return None


class Claims(Protocol):
    """What a message's way into its room passes while questions wait there."""

    def concerns(self, room: LiveRoom, event: RoomEvent) -> bool:
        """Whether the message may answer anything, and has to be judged."""
        ...

    def expected(self, room: LiveRoom, event: RoomEvent) -> Collection[str]:
        """The agents that will rather be told of it as an answer: they do not think ahead of it."""
        ...

    async def judged(self, room: LiveRoom, event: RoomEvent) -> Claim | None:
        """What it answers; asked once, before it is committed."""
        ...

    async def settled(self, room: LiveRoom, event: RoomEvent, claim: Claim) -> Collection[str]:
        """Acts on that behind the commit; returns the agents that hear of it in another way, and are not asked about it."""
        ...


class NoClaims:
    """No message answers anything."""

    def concerns(self, room: LiveRoom, event: RoomEvent) -> bool:
        """Never."""
        return False

    def expected(self, room: LiveRoom, event: RoomEvent) -> Collection[str]:
        """None."""
        return ()

    async def judged(self, room: LiveRoom, event: RoomEvent) -> Claim | None:
        """Nothing."""
        return None

    async def settled(self, room: LiveRoom, event: RoomEvent, claim: Claim) -> Collection[str]:
        """Nobody."""
        return ()
