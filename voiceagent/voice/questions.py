"""Open questions said aloud: which of a room's questions are said on its calls, when, and in what words."""

from collections.abc import Sequence
from typing import Final

from voiceagent.languages import language_of
from voiceagent.room.engine import RoomEngine
from voiceagent.room.questions.news import QuestionNews
from voiceagent.room.questions.question import Question
from voiceagent.room.reply import Reply
from voiceagent.voice.floor import Floor

FREE_MS: Final = 600
"""How long nothing may sound and nobody speak before a question is said: an agent that has just finished leaves people a moment,
and what it says next comes sooner."""

MOST_SAID: Final = 3
"""Options that are said; the others are on the screen, or found by asking."""

_OR: Final = {"en": ("or", "or something else"), "fr": ("ou", "ou autre chose"), "es": ("o", "u otra cosa")}


class SpokenQuestions:
    """Of one floor. A question is said once on it, when nothing sounds and nobody speaks, and never over a person: one who begins
    first has it wait for the next such moment. `run()` is its life, and ends with the floor's."""

    def __init__(self, engine: RoomEngine, floor: Floor, language: str) -> None:
        self._engine = engine
        self._floor = floor
        self._language = language
        self._unsaid: dict[str, Question] = {}
        self._saying: Reply | None = None

    async def run(self) -> None:
        """Until the floor closes."""
        questions = self._engine.questions
        unwatch = questions.watchers.watch(self._take)
        try:
            self._unsaid = {one.question_id: one for one in questions.waiting(self._floor.room_id)}
            while not self._floor.rest.over:
                await self._step()
        finally:
            unwatch()
            questions.answering.silent(self._floor.room_id)

    def look(self) -> None:
        """People have come: what was shown to others may have to be said to them."""
        self._floor.rest.stir()

    def _take(self, news: QuestionNews) -> None:
        if news.question.room_id != self._floor.room_id:
            return
        question_id = news.question.question_id
        if news.what == "opened":
            self._unsaid[question_id] = news.question
        elif news.what == "ended":
            self._unsaid.pop(question_id, None)
            if self._saying is not None and self._saying.question_id == question_id:
                self._floor.cancel(self._saying.id, "question_ended")
        self._floor.rest.stir()

    async def _step(self) -> None:
        rest = self._floor.rest
        if not rest.free or self._next() is None:
            await rest.changed()
            return
        if await rest.lasts(FREE_MS) and (question := self._next()) is not None:
            await self._say(question)

    async def _say(self, question: Question) -> None:
        """Says it, unless somebody speaks before its first sound."""
        rest, text = self._floor.rest, spoken_form(question, self._language)
        reply = self._saying = Reply(self._engine.host.new_id(), self._floor.room_id, question_id=question.question_id)
        reply.write(text)
        reply.end()
        self._floor.take(reply)
        while not reply.heard and reply.cancelled is None and not rest.idle:
            if rest.voices:
                self._floor.cancel(reply.id, "yields")
                return
            await rest.changed()
        self._unsaid.pop(question.question_id, None)

    def _next(self) -> Question | None:
        return next((question for question in self._unsaid.values() if self._is_said(question)), None)

    def _is_said(self, question: Question) -> bool:
        """Whether it is to be said to those who are on the line now."""
        asking, lines = question.asking, self._floor.listeners.lines
        if not question.is_plain or question.audience != "all" or asking.speak == "never" or self._listens_only(question):
            return False
        asked = [line for line in lines if not line.deaf and question.may_answer(line.participant_id)]
        urgent = asking.speak == "now" or asking.urgency == "now"
        return bool(asked) and (urgent or any(not line.has_screen for line in asked))

    def _listens_only(self, question: Question) -> bool:
        """Whether the agent that asks was told to be quiet here; of one in another room, the agents of this one."""
        room = self._engine.context(self._floor.room_id)
        seat = room.seat(question.channel_id)
        agents = [seat] if seat is not None else [one for one in room.seats if one.binding.channel_type.intelligence]
        return any(one.channel.snapshot(room.room_id).get("listening") is not None for one in agents)


def spoken_form(question: Question, language: str) -> str:
    """The question and at most three of its options, as they are said; never its detail. `language` is a code, or `auto`."""
    asked = question.asking.question.strip()
    if not question.asking.options:
        return asked
    either, more = _OR.get(language_of(asked) if language == "auto" else language, _OR["en"])
    said = [option.strip().rstrip(".") for option in question.asking.options[:MOST_SAID]]
    said[0] = said[0][:1].upper() + said[0][1:]
    if len(question.asking.options) > MOST_SAID:
        return f"{_ended(asked)} {', '.join(said)}, {more}?"
    return f"{_ended(asked)} {_joined(said, either)}?"


def _joined(options: Sequence[str], either: str) -> str:
    *first, last = options
    return f"{', '.join(first)}, {either} {last}" if first else last


def _ended(asked: str) -> str:
    """The question as a sentence of its own."""
    return asked if asked[-1] in ".?!:…" else f"{asked}?"
