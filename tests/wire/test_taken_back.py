"""What somebody typed while a card holds the answer up is taken back, on the page and by command, before an agent reads it."""

import time
from contextlib import AsyncExitStack
from typing import Any

import httpx
from playwright.async_api import expect
from pydantic import SecretStr

from tests.scenario.asking import WAITS, call
from tests.wire.browser import Visitor, visiting
from tests.wire.writing import desk
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.events import Participant
from voiceagent.room.questions.question import Answer
from voiceagent.web.auth import issue
from voiceagent.web.names import participant_id
from voiceagent.web.settings import WebSettings

SECRET = "a secret of at least thirty-two bytes"
ANN, BOB = "a-key-that-is-anns-alone-and-long", "a-key-that-is-bobs-alone-and-long"
WAIT = call("ask_and_wait", question="Which hall?", options=["A", "B"])


def booker() -> tuple[AIChannel, ScriptedModel]:
    model = ScriptedModel([(WAIT,), "Hall B, at noon."])
    return AIChannel("nova", provider=model, settings=WAITS), model


async def type_in(visitor: Visitor, text: str) -> None:
    await visitor.page.fill("#text", text)
    await visitor.page.press("#text", "Enter")


async def test_q58_a_message_that_waits_is_taken_back_by_keyboard_and_never_read() -> None:
    agent, model = booker()
    async with desk(agent=agent) as there, visiting(there.url, viewport={"width": 390, "height": 780}) as visitor:
        await visitor.join(microphone=False)
        await type_in(visitor, "book it")
        await expect(visitor.page.get_by_text("Which hall?").first).to_be_attached()
        await type_in(visitor, "at nine, please")
        button = visitor.page.get_by_role("button", name="Take back: at nine, please")
        await expect(button).to_be_visible()
        await button.focus()
        await visitor.page.keyboard.press("Enter")
        await expect(visitor.page.locator(".own .standing[data-disposition=withdrawn]")).to_have_text("taken back")
        await expect(button).to_have_count(0)
        (card,) = there.engine.questions.waiting("lobby")
        assert (await there.engine.questions.answer(card.question_id, Answer("button", (1,)))).taken
        await expect(visitor.page.locator("#transcript .agent .words").last).to_have_text("Hall B, at noon.")
        assert not any("at nine" in message.content for message in model.prompts[-1].messages)


async def test_only_whoever_wrote_it_takes_it_back_and_only_while_it_waits() -> None:
    agent, _ = booker()
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(desk(settings=WebSettings(token_secret=SecretStr(SECRET)), agent=agent))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=there.url))
        bearer = f"Bearer {issue(SECRET, 'lobby', int(time.time()) + 60)}"

        async def give(key: str, number: int, type: str, **data: str) -> dict[str, Any]:
            command = {"type": type, "id": f"0000000{number}", "data": data}
            headers = {"authorization": bearer, "participant-key": key}
            return dict((await client.post("v1/rooms/lobby/commands", json=command, headers=headers)).json())

        await there.engine.create_room("lobby")
        await there.engine.attach_channel("lobby", "nova")
        for key, name in ((ANN, "Ann"), (BOB, "Bob")):
            await there.engine.join("lobby", Participant(participant_id(key), name))
        reader = there.engine.feed("lobby").subscribe(after=0)
        await give(ANN, 1, "input.submit", text="book it")
        async for event in reader.events():
            if event.type == "question.opened":
                break
        typed = (await give(ANN, 2, "input.submit", text="at nine, please"))["input_id"]
        async for event in reader.events():
            if event.type == "input.queued" and event.data["input_id"] == typed:
                break
        assert (await give(BOB, 3, "input.withdraw", input_id=typed))["error"]["code"] == "not_allowed"
        assert (await give(BOB, 4, "input.withdraw", input_id="none"))["error"]["code"] == "not_allowed"
        first, again = [await give(ANN, 5, "input.withdraw", input_id=typed) for _ in range(2)]
        assert (first["accepted"], first["disposition"], again["duplicate"]) == (True, "withdrawn", True)
        assert (await give(ANN, 6, "input.withdraw", input_id=typed))["error"]["code"] == "not_active"
        reader.close()
