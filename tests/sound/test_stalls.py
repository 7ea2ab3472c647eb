"""In a talk in real time no callback of the event loop takes more than 10 ms of the thread's time (case 41 of the field)."""

import asyncio
from pathlib import Path

import pytest

from tests.sound.hearing import load
from tests.sound.interjections import words
from tests.sound.stalls import watched
from tests.sound.talking import LentEars, Talk, together, write
from voiceagent.audio.frame import Samples
from voiceagent.speech.engines import Transcript
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine

pytestmark = pytest.mark.usefixtures("default_models")

ANSWER = "The parcel left our house this morning with the first van, and it will be at your door tomorrow."


def test_case_41_no_callback_holds_the_loop_of_a_talk(
    monkeypatch: pytest.MonkeyPatch, talk: Talk, shared_audio: Path, whisper: WhisperEngine, piper: PiperEngine
) -> None:
    monkeypatch.setattr("voiceagent.cli.loop._REAL", asyncio.new_event_loop)
    over = asyncio.run(words(piper, "No, I meant the other one."))
    ann = write(talk.folder / "Ann.wav", together((0, load(shared_audio / "tau2-order_status.wav")), (6_000, over)))
    with watched(monkeypatch) as stalls:

        class Ears(LentEars):
            async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
                stalls.count()
                return await super().transcribe(sound, partial=partial)

        monkeypatch.setattr("voiceagent.speech.whisper.WhisperEngine", lambda *_, **__: Ears(whisper))
        run = talk(ann, answers=(ANSWER, "Good."), fast=False)
    assert len(run.said_by("Nova")) >= 2
    assert stalls.callbacks > 1_000
    assert stalls.over == []
