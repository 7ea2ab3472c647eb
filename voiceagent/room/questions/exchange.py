"""Questions between this host and those that it is paired with: taken up from there, and ended here when they ended there."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from voiceagent import clock
from voiceagent.errors import QuestionRefusedError
from voiceagent.room.questions.elsewhere import Afar, Elsewhere
from voiceagent.room.questions.question import Answer, End, Question, State
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.questions.verdict import Verdict

PutUp = Callable[[Question], Awaitable[Question]]
"""Puts a question to people unless it was before; how it stands. Raises QuestionRefusedError."""


class EndOne(Protocol):
    """Ends a question that is open."""

    async def __call__(self, question: Question, state: State, end: End, answer: Answer | None = None) -> Verdict:
        """Of two ends the first is kept."""
        ...


class Exchange:
    """One desk's. Methods raise StoreError."""

    def __init__(self, rows: QuestionRows, elsewhere: Elsewhere, put_up: PutUp, end: EndOne) -> None:
        self._rows = rows
        self._elsewhere = elsewhere
        self._put_up = put_up
        self._end = end

    def pair(self, afar: Afar) -> None:
        """Agents may ask about rooms of paired hosts from now on, as far as they may about other rooms."""
        self._elsewhere.afar = afar

    async def take_up(self, question: Question) -> Question:
        """Another host's agent asks about a room here, under an id of its own: the question as it stands, put to people unless it
        was before. Raises QuestionRefusedError."""
        known = await self._rows.get(question.question_id)
        if known is not None:
            return known
        why = question.asking.refusal() or await self._elsewhere.strange(question.room_id)
        if why is not None:
            raise QuestionRefusedError(why)
        return await self._put_up(question)

    async def came_back(self, question_id: str, state: State, end: End, answer: Answer | None = None) -> None:
        """The host that keeps a question tells how it has ended there."""
        known = await self._rows.get(question_id)
        if known is not None and known.kept_by is not None and known.is_open:
            await self._end(known, state, end, answer)

    async def unpaired(self, pairing_id: str) -> None:
        """A pairing is over: what was asked over it, from either side, ends, and nobody is told."""
        for one in await self._rows.listed(clock.utc()):
            if one.is_open and pairing_id in (one.kept_by, one.asked_from):
                await self._end(one, "ended", "unpaired")
