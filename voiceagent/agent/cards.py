"""Cards on which a tool of an agent waits until a person has ended them, or the answer that it is made for is stopped."""

import asyncio

from voiceagent.room.questions.elsewhere import allowed
from voiceagent.room.questions.question import Question
from voiceagent.room.reply import Reply


class Cards:
    """One agent's in one room. A card outlives the tool that waits on it: what a person does then comes back by itself."""

    __slots__ = ("_allowed", "_waiting")

    def __init__(self) -> None:
        self._allowed: dict[str, None] = {}
        self._waiting: dict[str, asyncio.Future[Question]] = {}

    async def wait(self, question: Question, reply: Reply) -> Question | None:
        """The question as a person has ended it, however long that takes; None when the answer was stopped before, or the agent
        leaves."""
        ended: asyncio.Future[Question] = asyncio.get_running_loop().create_future()
        self._waiting[question.question_id] = ended
        stopped = asyncio.ensure_future(reply.until_ended())
        try:
            await asyncio.wait((ended, stopped), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            self._waiting.pop(question.question_id, None)
        return ended.result() if ended.done() and not ended.cancelled() else None

    def ended(self, question: Question) -> bool:
        """A person has ended a card; False when no tool waits on it. A step that they allow then may be taken once, later."""
        waiting = self._waiting.pop(question.question_id, None)
        if waiting is None or waiting.done():
            if question.kind == "approval" and question.asking.detail is not None and allowed(question.answer):
                self._allowed[question.asking.detail] = None
            return False
        waiting.set_result(question)
        return True

    def consent(self, shown: str) -> bool:
        """Whether a person has allowed exactly this step, as it was shown to them, when no tool waited any more; said once."""
        known = shown in self._allowed
        self._allowed.pop(shown, None)
        return known

    def close(self) -> None:
        """The agent leaves: no tool waits any more."""
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()
