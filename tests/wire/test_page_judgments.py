"""What the page shows its host of a deciding agent, and the labels it saves."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.wire.browser import Visitor, serving, visiting
from tests.wire.door import Receiver
from voiceagent.agent.channel import AIChannel
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.thinker import MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.engine import RoomEngine
from voiceagent.values import JSON
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

SCRIPT = ({"directness": 0.2}, {"directness": 0.2, "corrects": 0.1}, {"listen_request": 0.9})
THOUGHT = Thought("They are talking about <b>films</b>.", ("Films are lent for one week.",))


@asynccontextmanager
async def page(width: int) -> AsyncIterator[Visitor]:
    """A page on an agent whose judgments and thought are scripted, joined without a microphone."""
    settings = WebSettings()
    async with RoomEngine() as engine:
        policy = ClassifierSpeakPolicy(MockClassifier(SCRIPT), agent_name="Nova")
        engine.register_channel(AIChannel("nova", provider=EchoModel(), speak_policy=policy, thinker=MockThinker([THOUGHT])))

        async def open_room(room: str) -> None:
            await engine.create_room(room)
            await engine.attach_channel(room, "nova")

        app = build(Receiver(engine), engine, settings, lambda: Status("0", "echo", agent="Nova"), open_room)
        async with serving(app, settings) as url, visiting(url, viewport={"width": width, "height": 740}) as visitor:
            await visitor.join(microphone=False)
            yield visitor


async def say(visitor: Visitor, text: str) -> None:
    await visitor.page.fill("#text", text)
    await visitor.page.press("#text", "Enter")


def read(path: Path) -> list[dict[str, JSON]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("width", [1280, 360])
async def test_a_host_sees_decisions_thoughts_and_listening_and_saves_labels(width: int) -> None:
    async with page(width) as visitor:
        shown = visitor.page
        await say(visitor, "How long can we keep the films, Bo?")
        await visitor.until("shown", ".judged.silent")
        await visitor.until("shown", "#mind:not([hidden])")
        assert await shown.inner_text("#thought") == THOUGHT.text
        assert await shown.inner_text("#wishes") == THOUGHT.want_to_say[0]
        assert await shown.inner_text(".judged summary") == "Nova kept quiet\nnobody spoke to it"
        assert not await shown.is_visible(".weighed dl")
        await say(visitor, "Just listen for now.")
        await visitor.until("shown", "#listens:not([hidden])")
        assert "Anna: \u201cJust listen for now.\u201d" in await shown.inner_text("#listens")

        await shown.locator(".judged > summary >> nth=0").focus()
        await shown.keyboard.press("Enter")
        for key in ("Tab", "Tab", "Space"):
            await shown.keyboard.press(key)
        assert await shown.get_attribute(".relabel button[data-mode=offer] >> nth=0", "aria-pressed") == "true"
        await shown.click(".weighed > summary >> nth=0")
        assert "spoken to the agent\n0.20" in await shown.inner_text(".weighed dl >> nth=0")
        assert "only listens" not in await shown.inner_text(".weighed dl >> nth=0")
        if not await shown.locator("#panel").evaluate("panel => panel.open"):
            await shown.click("#panel summary")
        async with shown.expect_download() as saving:
            await shown.click("#save-labels")
        lines = read(Path(await (await saving.value).path()))
        assert len(lines) == 1
        assert lines[0]["expected"] == "offer"
        assert lines[0]["last"] == {"speaker": "Anna", "text": "How long can we keep the films, Bo?"}
        assert {"id", "agent", "people", "history", "last", "expected", "labels", "tags", "language"} <= set(lines[0])
        assert await shown.evaluate("document.documentElement.scrollWidth") <= width
