"""A television beside a shared microphone: by the real ears and the real encoder it is not answered, and Ann is."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.scenario.deciding import deciding
from tests.scenario.scripted import house
from tests.sound.hearing import load, model
from tests.sound.talking import LentEars, LentVoice
from voiceagent.app import App, Choices
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.clock import VirtualLoop
from voiceagent.config import Settings, SpeakerSection
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.policy import MockSpeakPolicy
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.events import Participant
from voiceagent.room.feed import FeedEvent
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.enrolment import enrolled
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.settings import VoicesSettings, WakeSettings
from voiceagent.speech.voicebook import Known
from voiceagent.speech.voices import VoiceEncoder, voiced
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.transport.file import FileCall
from voiceagent.voice.reception import Voices
from voiceagent.voice.who import Company

TELEPHONE, CROWD = "pyannote-sample.wav", "tau2-noise_people_talking.wav"
ANN, ANN_LATER = "pocketsphinx-librivox-0870.wav", "pocketsphinx-librivox-0880.wav"
PAUSE = np.zeros(3 * RATE, dtype=np.int16)


@pytest.fixture(scope="module")
def encoder() -> Iterator[VoiceEncoder]:
    encoder = VoiceEncoder(model("voice-encoder"))
    yield encoder
    encoder.close()


@dataclass(frozen=True)
class Decided:
    """What the agent made of one utterance."""

    mode: str
    speaker: str
    text: str


class Ears:
    """A room with one shared microphone, Ann known in it, and an agent that answers nobody else."""

    def __init__(self, whisper: WhisperEngine, silero: Silero, encoder: VoiceEncoder, ann: Samples) -> None:
        self._whisper, self._silero = whisper, silero
        known = [Known("Ann", enrolled(encoder, [voiced(ann)[: to_samples(4_000)]]))]
        self._voices = Voices(encoder, lambda: Company(lambda: known, VoicesSettings()))

    def decided(self, sound: Samples) -> list[Decided]:
        """Of all that was said, in the sound's own time."""
        loop = VirtualLoop()
        try:
            events = loop.run_until_complete(self._run(sound))
        finally:
            loop.close()
        return [_decided(event.data) for event in events if event.type == "input.decided"]

    async def _run(self, sound: Samples) -> Sequence[FeedEvent]:
        nova, _ = deciding(AnswerOnly(MockSpeakPolicy(["speak"]), people=["Ann"]))
        detectors = lambda: GatedDetector(self._silero)  # noqa: E731
        async with house(stt=self._whisper, detector=detectors, voices=self._voices, agent=nova) as here:
            await here.receive(FileCall("line", sound, tail_ms=4_000), "living room", shared=True)
            return await here.read()


def _decided(data: Any) -> Decided:
    last = data["turn"]["last"]
    return Decided(data["mode"], last["speaker"], last["text"])


@pytest.fixture
def ears(whisper: WhisperEngine, silero: Silero, encoder: VoiceEncoder, shared_audio: Path) -> Ears:
    return Ears(whisper, silero, encoder, load(shared_audio / ANN))


def over(voice: Samples, show: Samples, db: float, at_ms: int) -> Samples:
    """A voice so many decibels over a show, from a time on."""
    at = to_samples(at_ms)
    loud, soft = (float(np.sqrt(np.mean(sound.astype(np.float64) ** 2))) for sound in (voiced(voice), voiced(show)))
    mixed = show * (loud / soft) * 10 ** (-db / 20)
    mixed[at : at + voice.size] += voice
    made: Samples = np.clip(mixed, -32_768, 32_767).astype(np.int16)
    return made


def test_the_television_is_only_listened_to(ears: Ears, shared_audio: Path) -> None:
    shows = [load(shared_audio / TELEPHONE), load(shared_audio / CROWD), PAUSE, load(shared_audio / TELEPHONE) // 3]
    decided = ears.decided(np.concatenate(shows))
    assert len(decided) >= 3, "it was heard"
    assert sum(len(turn.text.split()) for turn in decided) > 60
    assert {turn.mode for turn in decided} == {"silent"}


@pytest.mark.long
def test_half_an_hour_of_television_gets_no_answer(ears: Ears, shared_audio: Path) -> None:
    """The same recordings again and again, each time as loud as chance will have it."""
    shows, random = [load(shared_audio / TELEPHONE), load(shared_audio / CROWD)], np.random.default_rng(0)
    sound = [
        show * 10 ** (random.uniform(-18, 3) / 20)
        for _ in range(30 * 60 * RATE // sum(show.size for show in shows))
        for show in shows
    ]
    decided = ears.decided(np.clip(np.concatenate(sound), -32_768, 32_767).astype(np.int16))
    assert len(decided) >= 25
    assert [turn for turn in decided if turn.mode != "silent"] == []


def test_the_program_names_voices_on_a_shared_line_and_puts_one_to_sleep(
    whisper: WhisperEngine, piper: PiperEngine, shared_audio: Path
) -> None:
    model("voice-encoder")
    settings = Settings(speaker=SpeakerSection(wake=WakeSettings(phrase="okay_nabu")))
    choices = Choices(shared=True, memory=True, greet=False, provider=EchoModel(), stt=LentEars(whisper), tts=LentVoice(piper))

    async def run() -> list[object]:
        async with App(settings, choices) as app:
            asleep = app.wakeful(FileCall("asleep", load(shared_audio / ANN), tail_ms=3_000))
            people = ("kitchen", asleep), ("living room", FileCall("line", load(shared_audio / ANN_LATER), tail_ms=3_000))
            async with asyncio.TaskGroup() as lines:
                for name, call in people:
                    lines.create_task(app.reception.receive(call, room_id="room", participant=Participant(name), shared=True))
            events = await app.engine.store.list_events("room", limit=100)
            return [event.metadata["sender_name"] for event in events if event.metadata.get("source") == "voice"]

    loop = VirtualLoop()
    try:
        assert loop.run_until_complete(run()) == ["voice 1"]
    finally:
        loop.close()


def test_a_known_voice_is_answered_6_db_over_it(ears: Ears, shared_audio: Path) -> None:
    ann, crowd = load(shared_audio / ANN_LATER)[:-RATE], load(shared_audio / CROWD)
    decided = ears.decided(np.concatenate([over(ann, crowd, 6.0, 8_000), PAUSE]))
    spoken = [turn for turn in decided if turn.mode == "speak"]
    assert [turn.speaker for turn in spoken] == ["Ann"]
    assert "young man" in spoken[0].text.lower()
