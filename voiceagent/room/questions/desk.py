"""Where questions are asked, answered, withdrawn and ended: one end each, told in the feed, and brought back to whoever asked."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from voiceagent import clock
from voiceagent.errors import QuestionRefusedError, StoreError
from voiceagent.room.cause import agents
from voiceagent.room.handing import Handing
from voiceagent.room.live import LiveRoom
from voiceagent.room.origin import Origin
from voiceagent.room.questions.answering import Answering
from voiceagent.room.questions.back import Back
from voiceagent.room.questions.claim import AnswerJudge, NoJudge
from voiceagent.room.questions.elsewhere import Elsewhere, allowed, card_id, card_of
from voiceagent.room.questions.exchange import Exchange
from voiceagent.room.questions.memory import MemoryQuestions
from voiceagent.room.questions.news import QuestionNews, QuestionWatchers, What
from voiceagent.room.questions.question import MOST_ASKED, MOST_WAITING, Answer, Asking, End, Kind, Question, State, Via
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.questions.verdict import Verdict
from voiceagent.room.rooms import Rooms
from voiceagent.room.seat import Spawn
from voiceagent.room.store import Store
from voiceagent.values import JSON

log = logging.getLogger(__name__)

LISTED: Final = timedelta(days=1)
"""How long a question that a person has ended is listed."""


def rows_of(store: Store) -> QuestionRows:
    """Where a store keeps questions; in memory when it has no `questions`."""
    kept: QuestionRows | None = vars(store).get("questions")
    return MemoryQuestions() if kept is None else kept


def _barred(question: Question) -> str | None:
    """Why nobody may end it now, whatever they say: only people do, and only what they were shown."""
    if agents.get():
        return "agents_do_not_answer"
    return "not_allowed_yet" if question.state == "awaiting_allow" else None


class QuestionDesk:
    """The questions of one engine's rooms; `kit.questions` is it, `back` the answers' way to whoever asked, and `answering` what
    people say and key meanwhile.

    Of two answers the first ends the question, and the other gets `already_ended`. What a person did is brought to the agent
    that asked, at once where it sits in its room, otherwise when it sits there again. `watchers` are told of every change, also
    in rooms that are not open; `exchange` is what paired hosts have to do with it. Methods raise StoreError.
    """

    def __init__(
        self,
        rows: QuestionRows,
        rooms: Rooms,
        handing: Handing,
        new_id: Callable[[], str],
        *,
        elsewhere: Elsewhere,
        judge: AnswerJudge | None,
        spawn: Spawn,
    ) -> None:
        self._rows = rows
        self._rooms = rooms
        self.back = Back(rows, rooms, handing)
        self._new_id = new_id
        self._elsewhere = elsewhere
        self.exchange = Exchange(rows, elsewhere, self._put_up, self._ended)
        self.watchers = QuestionWatchers()
        self.answering = Answering(self, rooms, handing, judge or NoJudge(), spawn)
        self._changing = asyncio.Lock()
        self._open: dict[str, dict[str, Question]] = {}

    # -- asking ---------------------------------------------------------------------------------------------------------

    async def ask(
        self, origin: Origin, generation_id: str, asking: Asking, *, kind: Kind = "question", about: str | None = None
    ) -> Question:
        """Puts a question to the people of the agent's room, or of another one that it is about, where a person may have to allow
        it first. Raises QuestionRefusedError, and keeps nothing, when it may not."""
        self._rooms.open(origin.room_id)
        elsewhere = about is not None and about != origin.room_id
        kept_by, why = None, asking.refusal()
        if why is None and elsewhere:
            kept_by, why = await self._elsewhere.place(origin, about or "")
        if why is not None:
            raise QuestionRefusedError(why)
        question = Question(
            self._new_id(),
            about or origin.room_id,
            origin.room_id,
            origin.channel_id,
            generation_id,
            asking,
            clock.utc(),
            kind=kind,
            state="awaiting_allow" if elsewhere and self._elsewhere.policy == "ask" else "open",
            response_visibility=origin.response_visibility,
            parent_event_id=origin.parent_event_id,
            chain_depth=origin.chain_depth,
            kept_by=kept_by,
        )
        async with self._changing:
            why = await self._full(question)
            if why is not None:
                raise QuestionRefusedError(why)
            await self._rows.add(question)
            if question.state == "awaiting_allow":
                await self._rows.add(card_of(question))
        self._show(question if question.state == "open" else card_of(question))
        return question

    async def _put_up(self, question: Question) -> Question:
        """Puts another host's question to people, unless it was before."""
        async with self._changing:
            known = await self._rows.get(question.question_id)
            if known is not None:
                return known
            why = await self._full(question)
            if why is not None:
                raise QuestionRefusedError(why)
            await self._rows.add(question)
        self._show(question)
        return question

    def _show(self, question: Question) -> None:
        """Puts it to the people of its room, where that is open."""
        if question.room_id in self._rooms:
            self._open.setdefault(question.room_id, {})[question.question_id] = question
        self._tell(question, "opened", question.opened_data(spoken=False))

    async def _full(self, question: Question) -> str | None:
        """Why no more can be asked."""
        there = [one for one in await self._rows.of_room(question.room_id) if one.is_open]
        here = there if question.asked_in == question.room_id else await self._rows.of_room(question.asked_in)
        by = (question.asked_in, question.channel_id)
        asked = sum(one.is_open and one.allows is None and (one.asked_in, one.channel_id) == by for one in here)
        waiting = sum(one.room_id == question.room_id for one in there)
        if asked >= MOST_ASKED:
            return f"{asked} questions of yours wait here, and at most {MOST_ASKED} may: withdraw one, or wait for an answer"
        if waiting >= MOST_WAITING:
            return f"{waiting} questions wait in this room already, and at most {MOST_WAITING} may: wait for an answer"
        return None

    # -- ending ---------------------------------------------------------------------------------------------------------

    async def answer(self, question_id: str, answer: Answer) -> Verdict:
        """A person's answer: the first is taken, in an open room or a closed one."""
        known = await self._rows.get(question_id)
        if known is None:
            return Verdict("unknown")
        if not known.is_open:
            return Verdict("already_ended", known)
        why = _barred(known) or known.refusal(answer)
        if why is not None:
            return Verdict("refused", known, why)
        return await self._ended(known, "answered", "answered", answer)

    async def dismiss(
        self,
        question_id: str,
        participant_id: str | None,
        via: Via = "button",
        *,
        host: str | None = None,
        name: str | None = None,
    ) -> Verdict:
        """A person will not answer; the agent is told so. `host`: they did it on a paired host, where they are called `name`."""
        known = await self._rows.get(question_id)
        if known is None:
            return Verdict("unknown")
        if not known.is_open:
            return Verdict("already_ended", known)
        why = _barred(known) or known.kept_from(participant_id, via, host)
        if why is not None:
            return Verdict("refused", known, why)
        return await self._ended(
            known, "dismissed", "dismissed", Answer(via, participant_id=participant_id, host=host, name=name)
        )

    async def withdraw(self, question_id: str, room_id: str, channel_id: str) -> Verdict:
        """The agent that asked takes its question back."""
        known = await self._rows.get(question_id)
        if known is None or (known.asked_in, known.channel_id) != (room_id, channel_id):
            return Verdict("unknown")
        return await self._ended(known, "withdrawn", "withdrawn")

    async def end_room(self, room_id: str) -> None:
        """A room ends for good: what waits in it, or was asked in it, ends, and nobody is told."""
        await self._end_all(await self._rows.of_room(room_id), "room_closed")

    async def agent_left(self, room_id: str, channel_id: str) -> None:
        """An agent was taken out of a room: what it asked there ends, and nobody is told."""
        asked = [one for one in await self._rows.of_room(room_id) if (one.asked_in, one.channel_id) == (room_id, channel_id)]
        await self._end_all(asked, "agent_detached")

    async def move(self, room_id: str, channel_id: str, before: str) -> None:
        """An agent's conversation `before` has a successor: what it asked there goes on with the same ids."""
        async with self._changing:
            for question in await self._rows.of_room(room_id):
                if not question.is_open or (question.asked_in, question.channel_id) != (room_id, channel_id):
                    continue
                moved = replace(question, moved_from=before)
                await self._rows.put(moved)
                waiting = self._open.get(moved.room_id, {})
                if moved.question_id in waiting:
                    waiting[moved.question_id] = moved

    async def _end_all(self, questions: Sequence[Question], end: End) -> None:
        for question in questions:
            if question.is_open:
                await self._ended(question, "ended", end)

    async def _ended(self, question: Question, state: State, end: End, answer: Answer | None = None) -> Verdict:
        ended = question.ended(state, end, clock.utc(), answer)
        async with self._changing:
            if not await self._rows.end(ended):
                return Verdict("already_ended", await self._rows.get(question.question_id))
        waiting = self._open.get(question.room_id, {})
        waiting.pop(question.question_id, None)
        if not waiting:
            self._open.pop(question.room_id, None)
        if question.state != "awaiting_allow":  # nobody was shown it
            self._news(ended, "ended", ended.ended_data())
        ended = await self._line(ended)
        self.back.bring(ended)
        if question.state == "awaiting_allow":
            card = await self._rows.get(card_id(question.question_id))
            if card is not None and card.is_open:
                await self._ended(card, "withdrawn", "withdrawn")
        if ended.allows is not None:
            await self._decided(ended.allows, ended)
        return Verdict("taken", ended)

    async def _decided(self, question_id: str, card: Question) -> None:
        """A person has allowed a question about another room, or has not: then it ends, and its agent is told."""
        if card.state != "answered" or not allowed(card.answer):
            waiting = await self._rows.get(question_id)
            if waiting is not None and waiting.state == "awaiting_allow":
                await self._ended(waiting, "ended", "refused")
            return
        async with self._changing:
            waiting = await self._rows.get(question_id)
            if waiting is None or waiting.state != "awaiting_allow":
                return
            opened = replace(waiting, state="open")
            await self._rows.put(opened)
        self._show(opened)

    # -- looking in -----------------------------------------------------------------------------------------------------

    def waiting(self, room_id: str) -> Sequence[Question]:
        """The open questions of an open room, in the order in which they were asked."""
        return tuple(self._open.get(room_id, {}).values())

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        return await self._rows.get(question_id)

    async def listed(self) -> Sequence[Question]:
        """Over all rooms, the newest first: what is open, and what a person has ended in the last day."""
        return [one for one in await self._rows.listed(clock.utc() - LISTED) if one.state != "awaiting_allow"]

    async def recover(self, room: LiveRoom) -> None:
        """A room opens: what waits in it is known again, and what ended while it was closed is told."""
        try:
            for question in await self._rows.of_room(room.room_id):
                if question.state == "awaiting_allow":
                    await self._undecided(question, room.room_id)
                elif question.is_open and question.room_id == room.room_id:
                    self._open.setdefault(room.room_id, {})[question.question_id] = question
                if not question.lined and question.room_id == room.room_id:
                    question = await self._line(question)
                self.back.leave_all(question, room.room_id)
        except StoreError:
            log.exception("room %s: its questions are not known", room.room_id)

    async def _undecided(self, question: Question, room_id: str) -> None:
        """What an earlier run has broken off: a card that was decided and not acted on, or not made."""
        if question.asked_in != room_id:
            return
        card = await self._rows.get(card_id(question.question_id))
        if card is None:
            await self._rows.add(card_of(question))
            self._show(card_of(question))
        elif not card.is_open:
            await self._decided(question.question_id, card)

    def forget(self, room_id: str) -> None:
        """Lets go of a room that closes; the rows stay."""
        self._open.pop(room_id, None)
        self.back.forget(room_id)

    def spoken(self, question: Question, speech_id: str) -> None:
        """Tells the room that a question is being said aloud."""
        self._tell(question, "spoken", {"question_id": question.question_id, "speech_id": speech_id})

    def proposed(
        self, question: Question, input_id: str, option: int | None, confidence: float, *, text: str | None = None
    ) -> None:
        """Tells the room what somebody seems to have answered, before it is read back."""
        data: dict[str, JSON] = {"question_id": question.question_id, "input_id": input_id, "confidence": round(confidence, 3)}
        known: dict[str, JSON] = {"option": option, "text": text}
        self._tell(question, "proposed", {**data, **{name: value for name, value in known.items() if value is not None}})

    async def _line(self, question: Question) -> Question:
        """Tells the room of a question's end, where it is open."""
        room = self._rooms.get(question.room_id)
        if room is None or room.closed or question.lined:
            return question
        self._publish(room, question, "ended", question.ended_data())
        question = replace(question, lined=True)
        await self._rows.put(question)
        return question

    def _tell(self, question: Question, what: What, data: dict[str, JSON]) -> None:
        room = self._rooms.get(question.room_id)
        if room is not None:
            self._publish(room, question, what, data)
        self._news(question, what, data)

    def _news(self, question: Question, what: What, data: dict[str, JSON]) -> None:
        if what == "ended":
            self.answering.ended(question)
        self.watchers.tell(QuestionNews(what, question, data, clock.utc()))

    def _publish(self, room: LiveRoom, question: Question, what: What, data: dict[str, JSON]) -> None:
        room.feed.publish(
            f"question.{what}",
            data,
            channel_id=question.channel_id,
            generation_id=question.generation_id,
            audience=question.audience,
        )
