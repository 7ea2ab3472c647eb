"""Where questions are asked, answered, withdrawn and ended: one end each, told in the feed, and brought back to whoever asked."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from voiceagent import clock
from voiceagent.errors import QuestionRefusedError, StoreError
from voiceagent.room.handing import Handing
from voiceagent.room.live import LiveRoom
from voiceagent.room.origin import Origin
from voiceagent.room.questions.back import Back
from voiceagent.room.questions.memory import MemoryQuestions
from voiceagent.room.questions.question import MOST_ASKED, MOST_WAITING, Answer, Asking, End, Kind, Question, State, Via
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.questions.verdict import Verdict
from voiceagent.room.rooms import Rooms
from voiceagent.room.store import Store
from voiceagent.values import JSON

log = logging.getLogger(__name__)

LISTED: Final = timedelta(days=1)
"""How long a question that a person has ended is listed."""


def rows_of(store: Store) -> QuestionRows:
    """Where a store keeps questions; in memory when it has no `questions`."""
    kept: QuestionRows | None = vars(store).get("questions")
    return MemoryQuestions() if kept is None else kept


class QuestionDesk:
    """The questions of one engine's rooms; `kit.questions` is it, and `back` the answers' way to whoever asked.

    Of two answers the first ends the question, and the other gets `already_ended`. What a person did is brought to the agent
    that asked, at once where it sits in its room, otherwise when it sits there again. Methods raise StoreError.
    """

    def __init__(self, rows: QuestionRows, rooms: Rooms, handing: Handing, new_id: Callable[[], str]) -> None:
        self._rows = rows
        self._rooms = rooms
        self.back = Back(rows, rooms, handing)
        self._new_id = new_id
        self._asking = asyncio.Lock()
        self._open: dict[str, dict[str, Question]] = {}

    # -- asking ---------------------------------------------------------------------------------------------------------

    async def ask(self, origin: Origin, generation_id: str, asking: Asking, *, kind: Kind = "question") -> Question:
        """Puts a question to the people of the agent's room. Raises QuestionRefusedError, and keeps nothing, when it may not."""
        why = asking.refusal()
        if why is not None:
            raise QuestionRefusedError(why)
        room = self._rooms.open(origin.room_id)
        question = Question(
            self._new_id(),
            origin.room_id,
            origin.room_id,
            origin.channel_id,
            generation_id,
            asking,
            clock.utc(),
            kind=kind,
            response_visibility=origin.response_visibility,
            parent_event_id=origin.parent_event_id,
            chain_depth=origin.chain_depth,
        )
        async with self._asking:
            why = self._full(question)
            if why is not None:
                raise QuestionRefusedError(why)
            await self._rows.add(question)
            self._open.setdefault(question.room_id, {})[question.question_id] = question
        self._publish(room, question, "opened", question.opened_data(spoken=False))
        return question

    def _full(self, question: Question) -> str | None:
        """Why no more can be asked."""
        waiting = self._open.get(question.room_id, {}).values()
        asked = sum(one.channel_id == question.channel_id for one in waiting)
        if asked >= MOST_ASKED:
            return f"{asked} questions of yours wait here, and at most {MOST_ASKED} may: withdraw one, or wait for an answer"
        if len(waiting) >= MOST_WAITING:
            return f"{len(waiting)} questions wait in this room already, and at most {MOST_WAITING} may: wait for an answer"
        return None

    # -- ending ---------------------------------------------------------------------------------------------------------

    async def answer(self, question_id: str, answer: Answer) -> Verdict:
        """A person's answer: the first is taken, in an open room or a closed one."""
        known = await self._rows.get(question_id)
        if known is None:
            return Verdict("unknown")
        if not known.is_open:
            return Verdict("already_ended", known)
        why = "not_allowed_yet" if known.state == "awaiting_allow" else known.refusal(answer)
        if why is not None:
            return Verdict("refused", known, why)
        return await self._ended(known, "answered", "answered", answer)

    async def dismiss(self, question_id: str, participant_id: str | None, via: Via = "button") -> Verdict:
        """A person will not answer; the agent is told so."""
        known = await self._rows.get(question_id)
        if known is None:
            return Verdict("unknown")
        if not known.may_answer(participant_id):
            return Verdict("refused", known, "not_asked_of")
        return await self._ended(known, "dismissed", "dismissed", Answer(via, participant_id=participant_id))

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

    async def _end_all(self, questions: Sequence[Question], end: End) -> None:
        for question in questions:
            if question.is_open:
                await self._ended(question, "ended", end)

    async def _ended(self, question: Question, state: State, end: End, answer: Answer | None = None) -> Verdict:
        ended = question.ended(state, end, clock.utc(), answer)
        if not await self._rows.end(ended):
            return Verdict("already_ended", await self._rows.get(question.question_id))
        waiting = self._open.get(question.room_id, {})
        waiting.pop(question.question_id, None)
        if not waiting:
            self._open.pop(question.room_id, None)
        ended = await self._line(ended)
        if not ended.told:
            self.back.bring(ended)
        return Verdict("taken", ended)

    # -- looking in -----------------------------------------------------------------------------------------------------

    def waiting(self, room_id: str) -> Sequence[Question]:
        """The open questions of an open room, in the order in which they were asked."""
        return tuple(self._open.get(room_id, {}).values())

    async def get(self, question_id: str) -> Question | None:
        """One question by its id."""
        return await self._rows.get(question_id)

    async def listed(self) -> Sequence[Question]:
        """Over all rooms, the newest first: what is open, and what a person has ended in the last day."""
        return await self._rows.listed(clock.utc() - LISTED)

    async def recover(self, room: LiveRoom) -> None:
        """A room opens: what waits in it is known again, and what ended while it was closed is told."""
        try:
            for question in await self._rows.of_room(room.room_id):
                if question.is_open and question.room_id == room.room_id:
                    self._open.setdefault(room.room_id, {})[question.question_id] = question
                if not question.lined and question.room_id == room.room_id:
                    question = await self._line(question)
                if not question.told and question.asked_in == room.room_id:
                    self.back.leave(question)
        except StoreError:
            log.exception("room %s: its questions are not known", room.room_id)

    def forget(self, room_id: str) -> None:
        """Lets go of a room that closes; the rows stay."""
        self._open.pop(room_id, None)
        self.back.forget(room_id)

    def spoken(self, question: Question, speech_id: str) -> None:
        """Tells the room that a question is being said aloud."""
        self._tell(question, "spoken", {"question_id": question.question_id, "speech_id": speech_id})

    def proposed(self, question: Question, input_id: str, option: int | None, confidence: float) -> None:
        """Tells the room what somebody seems to have answered, before it is read back."""
        data: dict[str, JSON] = {"question_id": question.question_id, "input_id": input_id, "confidence": round(confidence, 3)}
        self._tell(question, "proposed", data if option is None else {**data, "option": option})

    async def _line(self, question: Question) -> Question:
        """Tells the room of a question's end, where it is open."""
        room = self._rooms.get(question.room_id)
        if room is None or room.closed:
            return question
        told: dict[str, JSON] = {"question_id": question.question_id, "end": question.end}
        if question.answer is not None and question.state == "answered":
            told["answer"] = question.answer.told()
        delivered: list[JSON] = [] if question.told else [question.channel_id]
        self._publish(room, question, "ended", {**told, "delivered_to": delivered})
        question = replace(question, lined=True)
        await self._rows.put(question)
        return question

    def _tell(self, question: Question, what: str, data: dict[str, JSON]) -> None:
        room = self._rooms.get(question.room_id)
        if room is not None:
            self._publish(room, question, what, data)

    def _publish(self, room: LiveRoom, question: Question, what: str, data: dict[str, JSON]) -> None:
        room.feed.publish(
            f"question.{what}",
            data,
            channel_id=question.channel_id,
            generation_id=question.generation_id,
            audience=question.audience,
        )
