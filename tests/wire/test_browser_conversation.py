"""The whole program with real browsers: heard with the right words, answered aloud, talked over, left in the middle."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import jiwer
import numpy as np
import pytest

from tests.wire.browser import Visitor, read_wav, serving, visiting, write_wav
from voiceagent.app import App, Choices
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.config import Settings
from voiceagent.errors import ModelError
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.speech.engines import TextToSpeech, sound_of
from voiceagent.speech.sentences import Sentences
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.speech.speakable import speakable
from voiceagent.web import server

WORDS = "i'd like to check my order status please"
LONG = (
    "The parcel with your order, "
    "which left our house with the first van of this morning. "
    "It is on its way to you and the driver will ring at your door. "
    "Please have the number of the order at hand when she does so. "
) * 3
ANSWER = (
    "Your order is on its way to you, and the driver will ring at your door. Please have its number at hand when she does so."
)
GONE = """
() => new Promise((done) => {
  const look = setInterval(() => {
    if (document.querySelectorAll('#people li').length === 1) { clearInterval(look); done(Date.now()); }
  }, 10);
})
"""
"""When the other one is no longer among the people of a page."""

LOUD = 0.004
WINDOW = RATE * 512 // 48_000
"""Samples over which a page measures a level."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def program(
    tmp_path: Path, answer: str, voice: Callable[[TextToSpeech], TextToSpeech] = lambda voice: voice
) -> AsyncIterator[tuple[str, App]]:
    """The app with real ears and a real voice, a brain that always says the same, and its door on loopback."""
    canned = tmp_path / "answers.jsonl"
    canned.write_text(json.dumps({"text": answer}))
    settings = Settings.model_validate(
        {
            "llm": {"brain": "canned", "canned": str(canned)},
            "voice": {"greeting": ""},
            "judgment": {"policy": "always"},
        }
    )
    try:
        async with App(settings, Choices(memory=True, voice=voice)) as app:
            asgi = server.build(app.reception, app.engine, settings.web, app.status, app.open_room)
            async with serving(asgi, settings.web) as url:
                yield url, app
    except ModelError as error:
        pytest.skip(f"a model is missing: {error}")


def spoken(recording: Path, into: Path, *gaps_s: float) -> Path:
    """A microphone that says the recording once after each gap, and is silent for long behind the last."""
    samples, rate = read_wav(recording)
    pieces = [part for gap in gaps_s for part in (np.zeros(int(gap * rate), dtype=np.int16), samples)]
    return write_wav(into, np.concatenate((*pieces, np.zeros(30 * rate, dtype=np.int16))), rate)


async def told(app: App, room: str, *types: str, seconds: float = 30) -> FeedEvent:
    """The next event of one of these types in a room, those that already happened included."""
    subscription = app.engine.feed(room).subscribe(0)
    try:
        async with asyncio.timeout(seconds):
            async for event in subscription.events():
                if event.type in types:
                    return event
    finally:
        subscription.close()
    raise AssertionError(f"the room closed before any of {types}")


def text_of(event: FeedEvent) -> str:
    """The words that an event carries."""
    text = event.data["text"]
    assert isinstance(text, str)
    return text


def word_errors(text: str) -> int:
    """Words wrong, missing or too many, of the eight that were said."""
    plain = "".join(sign for sign in text.lower() if sign.isalnum() or sign in " '")
    said = jiwer.process_words(WORDS, plain)
    return int(said.substitutions + said.deletions + said.insertions)


def records(app: App, room: str) -> list[RoomEvent]:
    """The room's cut records."""
    return [event for event in app.engine.context(room).recent_events if event.metadata.get("interrupted") is True]


class Prepared:
    """A voice that has made an answer before it is asked for, and keeps what it says.

    A voice that is late leaves a hole in an answer, whose 80 ms of fading and silent packets a page plays and no answer holds:
    what a page hears can be compared with what was said only where there is none.
    """

    def __init__(self) -> None:
        self._made: dict[str, list[Samples]] = {}
        self._said: list[Samples] = []
        self._voice: TextToSpeech | None = None

    def around(self, voice: TextToSpeech) -> TextToSpeech:
        """Takes the voice's place."""
        self._voice = voice
        return self

    async def prepare(self, text: str) -> None:
        """Makes every sentence of an answer."""
        assert self._voice is not None
        settings = SpeakingSettings()
        sentences = Sentences(settings.first_sentence_words, settings.max_sentence_chars)
        for sentence in (*sentences.feed(text), *sentences.flush()):
            aloud = speakable(sentence, settings.language).strip()
            self._made[aloud] = self._made.get(aloud) or [await sound_of(self._voice, aloud)]

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        """What was made of it. A sentence that was not prepared is an error of the test."""
        for piece in self._made[text]:
            self._said.append(piece)
            yield piece

    def loud_ms(self, played_ms: int) -> float:
        """From the first to the last loud moment of the first `played_ms` that it said: as a page measures what it heard."""
        said = np.concatenate(self._said)[: to_samples(played_ms)].astype(float) / 32768
        power = np.convolve(said**2, np.full(WINDOW, 1 / WINDOW), "valid")
        loud = np.flatnonzero(np.sqrt(power) > LOUD)
        return float(loud[-1] - loud[0]) * 1000 / RATE


async def page_played_ms(visitor: Visitor) -> float:
    """From the first to the last loud moment of what a page heard, without what the browser itself made up to bridge delays."""
    heard = await visitor.heard()
    loud = np.flatnonzero(heard.level > LOUD)[[0, -1]]
    made_up_ms = await visitor.made_up_ms(*heard.at[loud])
    played_ms = float(np.diff(heard.played[loud])[0])
    log.info("loud in the page for %.0f ms, of which the browser made up %.0f", played_ms, made_up_ms)
    return played_ms - made_up_ms


async def test_a_browser_is_heard_answered_and_may_talk_over_the_answer(shared_audio: Path, tmp_path: Path) -> None:
    microphone = spoken(shared_audio / "tau2-order_status.wav", tmp_path / "microphone.wav", 2.0, 6.0)
    voice = Prepared()
    async with program(tmp_path, LONG, voice.around) as (url, app), visiting(url, microphone) as visitor:
        await voice.prepare(LONG)
        await visitor.join("Anna", "order")
        await visitor.listen()
        accepted = await told(app, "order", "input.accepted")
        assert word_errors(text_of(accepted)) <= 1
        await visitor.until("level", 0.02, 20_000)
        cut = await told(app, "order", "speech.cut")
        await asyncio.sleep(0.5)
        in_page_ms = await page_played_ms(visitor)
        said_ms = voice.loud_ms(int(str(cut.data["played_ms"])))
        shown = await visitor.page.inner_text("#transcript")
        struck = await visitor.page.inner_text("#transcript .agent .struck")
        log.info("played_ms %s, loud %.0f of them, in the page %.0f", cut.data["played_ms"], said_ms, in_page_ms)
        of_this_answer = [r for r in records(app, "order") if r.metadata["answer_responds_to"] == accepted.data["event_id"]]
        assert len(of_this_answer) == 1, records(app, "order")
        record = of_this_answer[0]
        played_ms = record.metadata["played_ms"]
        assert played_ms == cut.data["played_ms"]
        assert isinstance(played_ms, int)
        assert said_ms == pytest.approx(in_page_ms, abs=150)
        assert record.visibility == "internal"
        assert record.source.participant_id is None
        assert "Anna" in shown
        assert LONG.strip().endswith(struck.strip())


async def test_two_browsers_and_the_agent_and_one_leaves_in_the_middle_of_a_sentence(shared_audio: Path, tmp_path: Path) -> None:
    """Ben hears Anna and the answer; Anna leaves while she speaks for the second time, and the answer to Ben goes on."""
    microphone = spoken(shared_audio / "tau2-order_status.wav", tmp_path / "microphone.wav", 8.0)
    async with (
        program(tmp_path, "That is " + LONG) as (url, app),
        visiting(url) as ben,
        visiting(url, microphone) as anna,
    ):
        await ben.join("Ben", "both", microphone=False)
        await ben.listen()
        await anna.join("Anna", "both")
        await anna.listen()
        started = await told(app, "both", "input.started")
        await ben.until("level", 0.02, 20_000)
        assert (await anna.heard()).level.max() < 0.02
        assert not _answered(app, "both")
        await anna.page.close()
        await ben.page.wait_for_selector("#people li")
        await ben.until("people", 1)
        gone = await told(app, "both", "input.settled", "input.accepted")
        assert gone.data["input_id"] == started.data["input_id"]
        await ben.page.fill("#text", "Are you still there?")
        await ben.page.press("#text", "Enter")
        await told(app, "both", "speech.started")
        await ben.page.evaluate("() => { window.heard.length = 0; }")
        await ben.until("level", 0.02, 20_000)
        people = {p.display_name: p.active for p in app.engine.context("both").participants}
        assert people == {"Ben": True, "Anna": False}
        assert await _names(ben) == ["Ben"]


async def test_an_answer_that_sounds_goes_on_for_who_stays_when_its_asker_leaves_in_the_middle(tmp_path: Path) -> None:
    """Anna asks and leaves while she is answered; Ben hears it to its end, without a hole longer than the voice's own pauses."""
    voice = Prepared()
    async with program(tmp_path, ANSWER, voice.around) as (url, app), visiting(url) as ben, visiting(url) as anna:
        await voice.prepare(ANSWER)
        await ben.join("Ben", "both", microphone=False)
        await ben.listen()
        await anna.join("Anna", "both", microphone=False)
        await ben.until("people", 2)
        await anna.page.fill("#text", "Where is my order?")
        await anna.page.press("#text", "Enter")
        await ben.until("level", 0.02, 20_000)
        await anna.page.close()
        left_at = await ben.page.evaluate(GONE)
        finished = await told(app, "both", "speech.finished", "speech.cut", "speech.dropped")
        await asyncio.sleep(0.5)
        heard = await ben.heard()
        loud = heard.at[heard.level > LOUD]
        in_page_ms = await page_played_ms(ben)
        said_ms = voice.loud_ms(60_000)
        log.info("said for %.0f ms, heard for %.0f, %.0f of them after she left", said_ms, in_page_ms, loud[-1] - left_at)
        assert finished.type == "speech.finished"
        assert loud[-1] - left_at > 2_000
        assert in_page_ms == pytest.approx(said_ms, abs=150)
        assert records(app, "both") == []
        assert {p.display_name: p.active for p in app.engine.context("both").participants} == {"Ben": True, "Anna": False}


def _answered(app: App, room: str) -> bool:
    events = app.engine.context(room).recent_events
    return any(event.type is EventType.MESSAGE and event.responds_to is not None for event in events)


async def _names(visitor: Visitor) -> list[str]:
    names: list[str] = await visitor.page.eval_on_selector_all("#people bdi", "found => found.map((name) => name.textContent)")
    return names
