"""The whole program with OpenAI's clients: recordings are understood, answers are heard with the right words, and cut."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import jiwer
import numpy as np
import pytest

from tests.wire.agents_caller import as_pcm, calling, node_with_client
from tests.wire.browser import read_wav, serving
from tests.wire.realtime_hall import CLIENT_RATE, client
from tests.wire.test_browser_conversation import ANSWER, LONG, WORDS
from voiceagent.app import App, Choices
from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples
from voiceagent.config import Settings
from voiceagent.errors import ModelError
from voiceagent.web import server

RECORDING = "tau2-order_status.wav"


def errors(wanted: str, heard: str) -> float:
    """The share of words that are wrong, missing or too many."""
    plain = ["".join(sign for sign in text.lower() if sign.isalnum() or sign in " '") for text in (wanted, heard)]
    return float(jiwer.wer(plain[0], plain[1]))


@asynccontextmanager
async def program(tmp_path: Path, answer: str) -> AsyncIterator[tuple[str, App]]:
    """The app with real ears and a real voice, a brain that always says the same, and its door on loopback."""
    canned = tmp_path / "answers.jsonl"
    canned.write_text(json.dumps({"text": answer}))
    wanted = {"llm": {"brain": "canned", "canned": str(canned)}, "voice": {"greeting": ""}, "judgment": {"policy": "always"}}
    settings = Settings.model_validate(wanted)
    try:
        async with App(settings, Choices(memory=True)) as app:
            asgi = server.build(app.reception, app.engine, settings.web, app.status, app.open_room, words=app.reception.words)
            async with serving(asgi, settings.web) as url:
                yield url, app
    except ModelError as error:
        pytest.skip(f"a model is missing: {error}")


async def words_of(app: App, sound: Samples) -> str:
    """What a listener's recorder has, as a recognizer understands it."""
    resampler = Resampler(CLIENT_RATE, RATE)
    return await app.reception.words(np.concatenate((resampler.process(sound), resampler.flush())))


async def test_a_recording_is_understood_and_the_answer_is_heard_with_its_words(shared_audio: Path, tmp_path: Path) -> None:
    recording = read_wav(shared_audio / RECORDING)[0]
    async with program(tmp_path, ANSWER) as (url, app), client(url) as person:
        await person.until("session.created")
        await person.speak(recording)
        transcript = (await person.until("conversation.item.input_audio_transcription.completed"))["transcript"]
        assert errors(WORDS, transcript) == 0
        done = await person.until("response.done", seconds=30)
        assert done["response"]["output"][0]["content"][0]["transcript"] == ANSWER
        assert errors(ANSWER, await words_of(app, person.sound())) < 0.1


async def test_a_recording_sent_at_once_and_committed_is_understood_too(shared_audio: Path, tmp_path: Path) -> None:
    recording = read_wav(shared_audio / RECORDING)[0]
    async with program(tmp_path, "Yes.") as (url, _), client(url) as person:
        await person.append(recording)
        heard = await person.until("conversation.item.input_audio_transcription.completed")
        assert errors(WORDS, heard["transcript"]) == 0
        await person.until("response.done")
        await person.connection.session.update(session={"type": "realtime", "audio": {"input": {"turn_detection": None}}})
        await person.until("session.updated")
        await person.append(recording)
        await person.connection.input_audio_buffer.commit()
        heard = await person.until("conversation.item.input_audio_transcription.completed", count=2)
        assert errors(WORDS, heard["transcript"]) == 0
        await person.connection.response.create()
        assert (await person.until("response.done", count=2))["response"]["status"] == "completed"


async def test_what_is_said_over_an_answer_cuts_it_where_the_person_has_heard_it(shared_audio: Path, tmp_path: Path) -> None:
    recording = read_wav(shared_audio / RECORDING)[0]
    async with program(tmp_path, LONG) as (url, app), client(url) as person:
        await person.write("where is my parcel?")
        await person.until("response.output_audio.delta", count=150)
        await person.speak(recording)
        cut = (await person.until("response.done"))["response"]
        assert cut["status_details"]["reason"] == "turn_detected"
        item = cut["output"][0]
        told, heard = item["content"][0]["transcript"], await words_of(app, person.sound(item["id"]))
        assert LONG.startswith(told) and len(told) < len(LONG) // 2
        assert abs(len(told.split()) - len(heard.split())) <= 3, (told, heard)
        truncated = await person.until("conversation.item.truncated")
        assert abs(truncated["audio_end_ms"] - person.sound(item["id"]).size / 24) < 40


async def test_the_agents_client_talks_too(shared_audio: Path, tmp_path: Path) -> None:
    node = node_with_client()
    async with (
        program(tmp_path, ANSWER) as (url, app),
        calling(node, f"{url.replace('http', 'ws')}v1/realtime?model=any") as caller,
    ):
        await caller.do("say", file=str(as_pcm(read_wav(shared_audio / RECORDING)[0], tmp_path / "order.pcm")))
        heard = await caller.until("conversation.item.input_audio_transcription.completed")
        assert errors(WORDS, heard["transcript"]) == 0
        await caller.until("response.done", seconds=30)
        assert errors(ANSWER, await words_of(app, caller.sound())) < 0.1
