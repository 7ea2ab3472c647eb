"""Answers and dismissals that people give by button or text: who may give them, and what comes of each."""

from typing import Final

from voiceagent.room.engine import RoomEngine
from voiceagent.room.questions.question import LONGEST_ANSWER, Answer, Question
from voiceagent.room.questions.verdict import Verdict
from voiceagent.values import JSON
from voiceagent.web.command import Ack, AnswerQuestion, PressKeys, QuestionCommand
from voiceagent.web.inbox.entries import Entries
from voiceagent.web.reach import Reach

REASONS: Final = {
    "not_asked_of": "it is put to somebody else",
    "too_long": f"an answer has at most {LONGEST_ANSWER} characters",
    "empty": "the answer is empty",
    "no_such_option": "the question has no such option",
    "one_option": "this question takes one option",
    "choose_an_option": "choose one of its options",
    "not_from_afar": "an agent waits for it, and it is answered on its own host alone",
}
"""The desk's refusals in words."""


class Answering:
    """Answers questions of one engine's rooms, whether these are open or not."""

    def __init__(self, engine: RoomEngine) -> None:
        self._engine = engine
        self._entries = Entries(engine)

    async def do(self, reach: Reach, command: QuestionCommand) -> Ack:
        """Answers or dismisses. A question that the sender may not see is not found, as one that does not exist.

        Raises StoreError.
        """
        if command.data.host is not None:
            return Ack.refusal(command.id, "not_found", "this host's own answer paired hosts' questions, in the inbox")
        question = await self._engine.questions.get(command.data.question_id)
        if question is None or not reach.sees(question):
            return Ack.refusal(command.id, "not_found", "there is no such question, or it is not for you")
        known = reach.standing.host or reach.host is not None
        if not known and not await self._was_here(question.room_id, reach.participant):
            return Ack.refusal(command.id, "not_here", "you were never in the room of this question: join it first")
        return await self._ack(reach, command, await self._ended(question, reach, command))

    async def keyed(self, room_id: str, participant: str | None, command: PressKeys) -> Ack:
        """Presses keys in a room; the first that picks an option of the question that was said aloud last answers it.

        Raises StoreError.
        """
        for digit in command.data.digits:
            verdict = await self._engine.questions.answering.keyed(room_id, participant, digit)
            if verdict is not None and verdict.taken:
                return Ack(id=command.id, accepted=True, disposition="answered")
        return Ack.refusal(command.id, "not_active", "no question was said aloud just now that these keys answer")

    async def _ended(self, question: Question, reach: Reach, command: QuestionCommand) -> Verdict:
        desk = self._engine.questions
        if not isinstance(command, AnswerQuestion):
            return await desk.dismiss(question.question_id, reach.participant, host=reach.host, name=reach.person)
        data = command.data
        answer = Answer(
            "button" if data.text is None else "text",
            data.places,
            None if data.text is None else data.text.strip(),
            participant_id=reach.participant,
            host=reach.host,
            name=reach.person,
        )
        return await desk.answer(question.question_id, answer)

    async def _was_here(self, room_id: str, participant: str | None) -> bool:
        return participant is not None and participant in await self._entries.people(room_id)

    async def _ack(self, reach: Reach, command: QuestionCommand, verdict: Verdict) -> Ack:
        question = verdict.question
        if question is None:
            return Ack.refusal(command.id, "not_found", "there is no such question, or it is not for you")
        entry = await self._entries.of(question, reach)
        if verdict.taken:
            disposition = "answered" if question.state == "answered" else "dismissed"
            return Ack.model_validate({"id": command.id, "accepted": True, "disposition": disposition, "question": entry})
        if verdict.result == "already_ended":
            refused = Ack.refusal(command.id, "already_ended", ended_words(question, _name(entry)))
        else:
            reason = verdict.reason or "it cannot be answered"
            refused = Ack.refusal(command.id, "refused", f"not taken: {REASONS.get(reason, reason)}")
        return refused.model_copy(update={"question": entry})


def ended_words(question: Question, name: str | None) -> str:
    """How a question ended and by whom, as a sentence; `name` is who did it, where that is known."""
    answer, who = question.answer, name or "somebody"
    if question.state == "answered" and answer is not None:
        said = [question.asking.options[place] for place in answer.options] or [answer.text or ""]
        return f"{who} has answered it already: {', '.join(said)}"
    if question.state == "dismissed":
        return f"{who} has dismissed it already"
    if question.state == "withdrawn":
        return "the agent has taken it back"
    return "it has ended with its room, or with the agent that asked"


def _name(entry: dict[str, JSON]) -> str | None:
    answer = entry.get("answer")
    name = answer.get("name") if isinstance(answer, dict) else None
    return name if isinstance(name, str) else None
