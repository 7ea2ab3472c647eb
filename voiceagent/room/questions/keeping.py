"""What an agent that asks people questions is offered by its room."""

from collections.abc import Sequence
from typing import Protocol

from voiceagent.room.events import InboundResult
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Asking, Kind, Question
from voiceagent.room.questions.verdict import Verdict


class Returning(Protocol):
    """An answer's way back."""

    async def hand_back(self, question: Question, text: str) -> InboundResult:
        """Has the agent that asked read what a person did. A refusal says why in `reason`: LATER, or for good."""
        ...

    async def told(self, question: Question) -> None:
        """Nothing of an answer is left to be brought to the agent."""
        ...

    def leave(self, question: Question) -> None:
        """Keeps an answer until its agent sits in the room again."""
        ...

    def take_left(self, room_id: str, channel_id: str) -> Sequence[Question]:
        """What waits for an agent that has just sat down; it is that agent's from now on."""
        ...


class QuestionKeeping(Protocol):
    """Asking, and taking back. See the desk for what each does."""

    async def ask(
        self, origin: Origin, generation_id: str, asking: Asking, *, kind: Kind = "question", about: str | None = None
    ) -> Question:
        """Puts a question to the people of a room. Raises QuestionRefusedError, and keeps nothing, when it may not."""
        ...

    async def withdraw(self, question_id: str, room_id: str, channel_id: str) -> Verdict:
        """The agent that asked takes its question back."""
        ...

    def waiting(self, room_id: str) -> Sequence[Question]:
        """The open questions of an open room, in the order in which they were asked."""
        ...

    @property
    def back(self) -> Returning:
        """The answers' way to whoever asked."""
        ...
