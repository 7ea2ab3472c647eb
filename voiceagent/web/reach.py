"""How far somebody sees who looks over rooms without being in one: which rooms, as whom, and until when."""

from dataclasses import dataclass

from voiceagent.room.questions.question import Question
from voiceagent.web.standing import Standing


@dataclass(frozen=True, slots=True)
class Reach:
    """`room`: the only one, None for all of this host. `participant`: the public id of the participant key's holder, if any.
    `host`: the paired host on which they look, and `person` how they are called there."""

    room: str | None
    standing: Standing
    participant: str | None = None
    host: str | None = None
    person: str | None = None

    @property
    def name(self) -> str:
        """Whose command ids they are."""
        return self.participant or ("host" if self.host is None else f"paired {self.host}")

    @property
    def everywhere(self) -> bool:
        """Whether they are this host's own, and see whatever it sees, paired hosts too."""
        return self.room is None and self.standing.host and self.host is None

    def may_end(self, question: Question) -> bool:
        """Whether they may answer or dismiss a question by a button or in words."""
        return question.is_open and question.kept_from(self.participant, "button", self.host) is None

    def covers(self, room: str) -> bool:
        """Whether they may look into a room."""
        return self.room in (None, room)

    def sees(self, question: Question) -> bool:
        """Whether they may know of a question: what comes of something private is for hosts alone, and nobody is shown one that
        has not been allowed yet."""
        shown = question.state != "awaiting_allow" and (question.end != "refused") and question.kept_by is None
        return shown and self.covers(question.room_id) and (self.standing.host or question.audience == "all")
