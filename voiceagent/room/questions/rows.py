"""What a store offers to keep questions, and a question as JSON text."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from voiceagent.errors import StoreError
from voiceagent.room.questions.question import Question


class QuestionRows(Protocol):
    """Keeps questions beside a store's rooms. What a method returned from survives the process; all raise StoreError."""

    async def add(self, question: Question) -> None:
        """Keeps a question that has just been asked."""
        ...

    async def end(self, question: Question) -> bool:
        """Keeps the end of a question; False when it had ended before, of which nothing changes then."""
        ...

    async def put(self, question: Question) -> None:
        """Replaces what is known of a question: allowed, moved, told, lined."""
        ...

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        ...

    async def of_room(self, room_id: str) -> Sequence[Question]:
        """Those of which something is left to do with a room: it is about it, or was asked in it, and is open, untold or unlined.

        In the order in which they were asked.
        """
        ...

    async def listed(self, since: datetime) -> Sequence[Question]:
        """Over all rooms, the newest first: what is open, and what a person has ended since that time."""
        ...


def encode_question(question: Question) -> str:
    """JSON text with every field. Raises StoreError for what UTF-8 cannot hold."""
    try:
        return _QUESTION.dump_json(question, warnings="error").decode()
    except (PydanticSerializationError, ValueError) as error:
        raise StoreError(f"question {question.question_id!r} cannot be written as JSON: {error}") from error


def decode_question(text: str | bytes) -> Question:
    """The question in JSON text; fields that this version does not know are left out. Raises StoreError for anything else."""
    try:
        return _QUESTION.validate_json(text)
    except (ValidationError, ValueError) as error:
        raise StoreError(f"a stored question cannot be read: {type(error).__name__}") from error


def pending(question: Question) -> bool:
    """Whether something is left to do with it."""
    return question.is_open or not (question.told and question.told_there and question.lined)


def seconds(at: datetime | None) -> int | None:
    """A time as it is compared in a store: whole seconds since 1970."""
    return None if at is None else int(at.timestamp())


_QUESTION: TypeAdapter[Question] = TypeAdapter(Question)
