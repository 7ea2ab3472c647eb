"""Questions kept in an SQLite file, in the table that schema.py makes."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final

from voiceagent.room.questions.question import Question
from voiceagent.room.questions.rows import decode_question, encode_question, pending, seconds

Value = str | int | None
Run = Callable[[str, tuple[Value, ...]], Awaitable[list[sqlite3.Row]]]

_ADD: Final = (
    "INSERT INTO questions (question_id, room_id, asked_in, open, pending, by_person_at, question) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SET: Final = "room_id = ?, asked_in = ?, open = ?, pending = ?, by_person_at = ?, question = ? WHERE question_id = ?"
_PUT: Final = f"UPDATE questions SET {_SET}"
_END: Final = f"{_PUT} AND open = 1 RETURNING 1"
_GET: Final = "SELECT question FROM questions WHERE question_id = ?"
_OF_ROOM: Final = "SELECT question FROM questions WHERE pending = 1 AND (room_id = ? OR asked_in = ?) ORDER BY place"
_LISTED: Final = "SELECT question FROM questions WHERE open = 1 OR by_person_at >= ? ORDER BY place DESC"


class SqliteQuestions:
    """QuestionRows in a file that one engine writes to; `run` is the store's way to run one statement and its commit."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def add(self, question: Question) -> None:
        """Keeps a question that has just been asked; returns after its commit."""
        await self._run(_ADD, (question.question_id, *columns(question)))

    async def end(self, question: Question) -> bool:
        """Keeps the end of a question; False when it had ended before."""
        return bool(await self._run(_END, (*columns(question), question.question_id)))

    async def put(self, question: Question) -> None:
        """Replaces what is known of a question."""
        await self._run(_PUT, (*columns(question), question.question_id))

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        rows = await self._run(_GET, (question_id,))
        return decode_question(rows[0][0]) if rows else None

    async def of_room(self, room_id: str) -> Sequence[Question]:
        """Those of which something is left to do with a room, in the order in which they were asked."""
        return [decode_question(row[0]) for row in await self._run(_OF_ROOM, (room_id, room_id))]

    async def listed(self, since: datetime) -> Sequence[Question]:
        """What is open, and what a person has ended since that time; the newest first."""
        return [decode_question(row[0]) for row in await self._run(_LISTED, (seconds(since),))]


def columns(question: Question) -> tuple[str, str, int, int, int | None, str]:
    """What questions are found by, and the whole of it."""
    by_person = seconds(question.ended_at) if question.state in ("answered", "dismissed") else None
    return (
        question.room_id,
        question.asked_in,
        int(question.is_open),
        int(pending(question)),
        by_person,
        encode_question(question),
    )
