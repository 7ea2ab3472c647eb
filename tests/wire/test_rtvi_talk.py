"""A whole talk over RTVI, with Pipecat's own client in a real Chromium: heard, answered aloud word by word, interrupted."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wire.browser import serving
from tests.wire.pipecat_page import PipecatPage, bundled, calling, page_server
from tests.wire.test_browser_conversation import LONG, spoken, word_errors
from voiceagent.app import App, Choices
from voiceagent.config import Settings
from voiceagent.errors import ModelError
from voiceagent.web import server

LOUD = """
() => new Promise((done, failed) => {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(document.querySelector('#line').srcObject).connect(analyser);
  const data = new Float32Array(analyser.fftSize), since = Date.now();
  const look = setInterval(() => {
    analyser.getFloatTimeDomainData(data);
    const loud = Math.max(...data.map(Math.abs)) > 0.05;
    if (!loud && Date.now() - since < 10000) return;
    clearInterval(look);
    if (loud) done(Date.now()); else failed(new Error('nothing is heard'));
  }, 20);
})
"""


@asynccontextmanager
async def program(tmp_path: Path, microphone: Path) -> AsyncIterator[PipecatPage]:
    """The app with real ears and a real voice, a brain that always says the same, and a Pipecat page of another origin."""
    canned = tmp_path / "answers.jsonl"
    canned.write_text(json.dumps({"text": LONG}))
    page = tmp_path / "page"
    page.mkdir()
    async with page_server(bundled(page)) as page_url:
        settings = Settings.model_validate(
            {
                "llm": {"brain": "canned", "canned": str(canned)},
                "voice": {"greeting": "Welcome."},
                "judgment": {"policy": "always"},
                "web": {"allowed_origins": [page_url.rstrip("/")]},
            }
        )
        try:
            async with App(settings, Choices(memory=True)) as app:
                asgi = server.build(app.reception, app.engine, settings.web, app.status, app.open_room)
                async with serving(asgi, settings.web) as url, calling(page_url, url, microphone) as caller:
                    yield caller
        except ModelError as error:
            pytest.skip(f"a model is missing: {error}")


def of(messages: list[dict[str, Any]], *types: str) -> list[dict[str, Any]]:
    """The messages of these types."""
    return [message for message in messages if message["type"] in types]


def data_of(messages: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    """What the messages of one type carry."""
    return [message["data"] for message in of(messages, type)]


def assert_balanced(messages: list[dict[str, Any]], began: str, ended: str) -> None:
    """Beginnings and ends take turns."""
    names = [message["type"] for message in of(messages, began, ended)]
    assert names == ([began, ended] * len(names))[: len(names)]


async def test_a_talk_with_its_transcripts_its_words_as_they_are_spoken_and_an_interruption(
    shared_audio: Path, tmp_path: Path
) -> None:
    microphone = spoken(shared_audio / "tau2-order_status.wav", tmp_path / "microphone.wav", 5.0, 8.0)
    async with program(tmp_path, microphone) as page:
        ready = await page.dial("order", requestData={"name": "Anna"})
        final = "window.called.filter((one) => one.name === 'onUserTranscript' && one.data.final)"
        await page.called("onUserStartedSpeaking")
        await page.told("input.accepted")
        said = await page.run(f"{final}[0].data")
        await page.told("bot-tts-started", 2)
        await page.run(LOUD)
        await page.told("bot-interrupted")
        await page.told("speech.cut")
        messages = await page.all_told()
        names = set(await page.run("[...new Set(window.called.map((one) => one.name))]"))
    assert word_errors(said["text"]) <= 1
    assert said["user_id"] == ready["about"]["participant_id"]
    outputs = data_of(messages, "bot-output")
    greeting = [one for one in outputs if one["text"] == "Welcome."]
    assert greeting[0]["will_be_spoken"]
    assert greeting[-1]["spoken_status"] == "completed"
    first = [one for one in outputs if one["segment_id"] == greeting[0]["segment_id"] + 1]
    assert first[0]["text"] == LONG.split(". ")[0] + "."
    assert [one["spoken_status"] for one in first][:2] == ["new", "in-progress"]
    for one in outputs:
        progress = one["spoken_progress"]
        assert progress["accumulated_text"] + progress["remaining_text"] == one["text"]
    assert "".join(one["text"] for one in data_of(messages, "bot-llm-text")).startswith(LONG)
    assert_balanced(messages, "bot-tts-started", "bot-tts-stopped")
    assert_balanced(messages, "bot-started-speaking", "bot-stopped-speaking")
    assert_balanced(messages, "bot-llm-started", "bot-llm-stopped")
    assert_balanced(messages, "user-started-speaking", "user-stopped-speaking")
    order = [message["type"] for message in messages]
    assert order[order.index("bot-interrupted") + 1] == "bot-tts-stopped"
    cut = next(line for line in data_of(messages, "server-message") if line["type"] == "speech.cut")
    heard = sum(len(one["spoken_progress"]["accumulated_text"]) for one in last_of_each(outputs, after=greeting[-1]))
    assert heard == pytest.approx(cut["data"]["spoken_chars"], abs=len(outputs))
    assert {"onBotLlmStarted", "onBotLlmText", "onBotOutput", "onBotTtsStarted", "onBotTtsStopped", "onServerMessage"} <= names
    assert {"onBotStartedSpeaking", "onBotStoppedSpeaking", "onUserStoppedSpeaking", "onBotReady"} <= names
    assert "onError" not in names


def last_of_each(outputs: list[dict[str, Any]], after: dict[str, Any]) -> list[dict[str, Any]]:
    """The newest word on each segment behind the one given."""
    return list({one["segment_id"]: one for one in outputs if one["segment_id"] > after["segment_id"]}.values())
