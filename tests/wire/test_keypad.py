"""Keys that a page presses: digit n picks option n, while a question was the last thing said aloud."""

from typing import Any

import httpx

from tests.wire.asked import Asked, asked
from voiceagent.room.events import Participant
from voiceagent.room.questions.question import Answer, Question
from voiceagent.room.reply import Reply
from voiceagent.web.names import participant_id

KEY = "k" * 32


async def press(there: Asked, digits: str, id: str, **headers: str) -> dict[str, Any]:
    body = {"type": "keypad.press", "id": id, "data": {"digits": digits}}
    async with httpx.AsyncClient(base_url=there.url, headers=headers) as client:
        return dict((await client.post("v1/rooms/den/commands", json=body)).json())


def said(there: Asked, question: Question | None) -> None:
    """A question, or something else, is said aloud."""
    reply = Reply("r1", "den", channel_id="nova", question_id=None if question is None else question.question_id)
    there.engine.questions.answering.sounds(reply)


async def test_a_digit_picks_an_option_of_the_question_that_was_said_last() -> None:
    async with asked() as there:
        await there.engine.join("den", Participant(participant_id(KEY), "Anna"))
        question = await there.ask("den", "Tea?", "yes", "no")
        key = {"participant-key": KEY}
        assert (await press(there, "2", "command-1", **key))["error"]["code"] == "not_active"
        said(there, question)
        assert (await press(there, "2", "command-2"))["error"]["code"] == "not_allowed"
        assert (await press(there, "9*", "command-3", **key))["accepted"] is False
        said(there, None)
        assert (await press(there, "2", "command-4", **key))["accepted"] is False
        said(there, question)
        assert (await press(there, "2", "command-5", **key))["disposition"] == "answered"
        assert (await press(there, "1", "command-6", **key))["accepted"] is False
        assert [each.answer for each in there.agent.told] == [Answer("dtmf", (1,), participant_id=participant_id(KEY))]
