"""Questions kept in memory, for as long as the process lives."""

from collections.abc import Sequence
from datetime import datetime

from voiceagent.room.questions.question import Question
from voiceagent.room.questions.rows import pending


class MemoryQuestions:
    """QuestionRows without a file."""

    def __init__(self) -> None:
        self._rows: dict[str, Question] = {}

    async def add(self, question: Question) -> None:
        """Keeps a question that has just been asked."""
        self._rows[question.question_id] = question

    async def end(self, question: Question) -> bool:
        """Keeps the end of a question; False when it had ended before."""
        known = self._rows.get(question.question_id)
        if known is None or not known.is_open:
            return False
        self._rows[question.question_id] = question
        return True

    async def put(self, question: Question) -> None:
        """Replaces what is known of a question."""
        self._rows[question.question_id] = question

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        return self._rows.get(question_id)

    async def of_room(self, room_id: str) -> Sequence[Question]:
        """Those of which something is left to do with a room, in the order in which they were asked."""
        return [one for one in self._rows.values() if room_id in (one.room_id, one.asked_in) and pending(one)]

    async def listed(self, since: datetime) -> Sequence[Question]:
        """What is open, and what a person has ended since that time; the newest first."""
        return [one for one in reversed(self._rows.values()) if one.is_open or _ended_since(one, since)]

    def erase(self, room_id: str) -> None:
        """Removes what is about a room, or was asked in it."""
        self._rows = {id: one for id, one in self._rows.items() if room_id not in (one.room_id, one.asked_in)}


def _ended_since(question: Question, since: datetime) -> bool:
    by_person = question.state in ("answered", "dismissed")
    return by_person and question.ended_at is not None and question.ended_at >= since
