"""The way of what people answered back to the agent that asked: at once, or when it sits in its room again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from voiceagent.room.events import InboundResult
from voiceagent.room.handing import Handing
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Question
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.rooms import Rooms
from voiceagent.values import JSON


class Back:
    """Answers on their way in one engine's rooms."""

    def __init__(self, rows: QuestionRows, rooms: Rooms, handing: Handing) -> None:
        self._rows = rows
        self._rooms = rooms
        self._handing = handing
        self._telling = asyncio.Lock()
        self._left: dict[tuple[str, str], dict[str, Question]] = {}

    async def hand_back(self, question: Question, text: str) -> InboundResult:
        """Has the agent that asked read what a person did. A refusal says why in `reason`: LATER, or for good."""
        origin = Origin(
            question.asked_in,
            question.channel_id,
            question.response_visibility,
            question.parent_event_id,
            question.chain_depth,
        )
        caused: dict[str, JSON] = {
            "kind": "question_answered",
            "question_id": question.question_id,
            "generation_id": question.generation_id,
        }
        if question.answer is not None and question.answer.options:
            caused["options"] = list(question.answer.options)
        return await self._handing.back(origin, text, caused)

    async def told(self, question: Question) -> None:
        """Nothing of an answer is left to be brought to the agent."""
        async with self._telling:
            known = await self._rows.get(question.question_id)
            if known is not None:
                await self._rows.put(replace(known, told_there=True) if question.is_copy else replace(known, told=True))

    def leave(self, question: Question) -> None:
        """Keeps an answer until its agent sits in the room again."""
        if question.asked_in in self._rooms:
            self._left.setdefault((question.asked_in, question.channel_id), {})[question.question_id] = question

    def take_left(self, room_id: str, channel_id: str) -> Sequence[Question]:
        """What waits for an agent that has just sat down; it is that agent's from now on."""
        anybodys = self._left.pop((room_id, ""), {}).values()
        own = self._left.pop((room_id, channel_id), {}).values()
        return (*own, *(one.copy_for(channel_id) for one in anybodys))

    def bring(self, question: Question) -> None:
        """Has those told who are to be, or leaves it: the agent that asked, and the first agent of the room that it is about."""
        if not question.told:
            self._bring(question)
        if not question.told_there:
            room = self._rooms.get(question.room_id)
            agents = [one.channel_id for one in room.bindings if one.channel_type.intelligence] if room is not None else []
            self._bring(question.copy_for(agents[0] if agents else ""))

    def leave_all(self, question: Question, room_id: str) -> None:
        """A room opens: what is to be told in it waits for its agents."""
        if not question.told and question.asked_in == room_id:
            self.leave(question)
        if not question.told_there and question.room_id == room_id:
            self.leave(question.copy_for(""))

    def _bring(self, question: Question) -> None:
        room = self._rooms.get(question.asked_in)
        seat = room.seat(question.channel_id) if room is not None else None
        if seat is None or not seat.channel.on_question_ended(question):
            self.leave(question)

    def forget(self, room_id: str) -> None:
        """Lets go of a room that closes; the rows stay."""
        for key in [key for key in self._left if key[0] == room_id]:
            del self._left[key]
