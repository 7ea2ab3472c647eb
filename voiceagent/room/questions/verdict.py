"""What came of somebody's try to end a question."""

from dataclasses import dataclass
from typing import Literal

from voiceagent.room.questions.question import Question


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an answer, a dismissal or a withdrawal. `question` is the question as it stands; None when it is unknown."""

    result: Literal["taken", "already_ended", "unknown", "refused"]
    question: Question | None = None
    reason: str | None = None

    @property
    def taken(self) -> bool:
        """Whether it ended the question."""
        return self.result == "taken"
