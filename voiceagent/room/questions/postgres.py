"""Questions kept in a Postgres database, in the table that tables.py makes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from voiceagent.room.codec import escape
from voiceagent.room.database import Database
from voiceagent.room.questions.question import Question
from voiceagent.room.questions.rows import decode_question, encode_question, pending, seconds

_ADD: Final = (
    "INSERT INTO questions (question_id, room_id, asked_in, open, pending, by_person_at, question)"
    " VALUES ($1, $2, $3, $4::text::boolean, $5::text::boolean, $6::text::bigint, $7)"
)
_PUT: Final = (
    "UPDATE questions SET room_id = $2, asked_in = $3, open = $4::text::boolean, pending = $5::text::boolean,"
    " by_person_at = $6::text::bigint, question = $7 WHERE question_id = $1"
)
_END: Final = f"{_PUT} AND open RETURNING question_id"
_GET: Final = "SELECT question FROM questions WHERE question_id = $1"
_OF_ROOM: Final = "SELECT question FROM questions WHERE pending AND (room_id = $1 OR asked_in = $1) ORDER BY place"
_LISTED: Final = "SELECT question FROM questions WHERE open OR by_person_at >= $1::text::bigint ORDER BY place DESC"


class PostgresQuestions:
    """QuestionRows in a database that several processes share; of two ends that come at once, one is kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, question: Question) -> None:
        """Keeps a question that has just been asked; returns after its commit."""
        await self._database.fetch(_ADD, *_columns(question))

    async def end(self, question: Question) -> bool:
        """Keeps the end of a question; False when it had ended before."""
        return bool(await self._database.fetch(_END, *_columns(question)))

    async def put(self, question: Question) -> None:
        """Replaces what is known of a question."""
        await self._database.fetch(_PUT, *_columns(question))

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        rows = await self._database.fetch(_GET, escape(question_id))
        return decode_question(rows[0]["question"]) if rows else None

    async def of_room(self, room_id: str) -> Sequence[Question]:
        """Those of which something is left to do with a room, in the order in which they were asked."""
        return [decode_question(row["question"]) for row in await self._database.fetch(_OF_ROOM, escape(room_id))]

    async def listed(self, since: datetime) -> Sequence[Question]:
        """What is open, and what a person has ended since that time; the newest first."""
        return [decode_question(row["question"]) for row in await self._database.fetch(_LISTED, str(seconds(since)))]


def _columns(question: Question) -> tuple[str | None, ...]:
    by_person = seconds(question.ended_at) if question.state in ("answered", "dismissed") else None
    return (
        escape(question.question_id),
        escape(question.room_id),
        escape(question.asked_in),
        "true" if question.is_open else "false",
        "true" if pending(question) else "false",
        None if by_person is None else str(by_person),
        encode_question(question),
    )
