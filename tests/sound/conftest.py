"""The real engines, loaded once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sound.hearing import Hearing, model
from tests.sound.talking import LentEars, LentVoice, Talk
from voiceagent.speech.detector import Silero
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine


@pytest.fixture(scope="session")
def whisper() -> Iterator[WhisperEngine]:
    engine = WhisperEngine(model("whisper-tiny.en"))
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def silero() -> Silero:
    return Silero()


@pytest.fixture(scope="session")
def hearing(whisper: WhisperEngine, silero: Silero) -> Hearing:
    return Hearing(silero, whisper)


@pytest.fixture(scope="module")
def piper() -> Iterator[PiperEngine]:
    """The voice, made anew for each file: its rhythm is drawn at random, and must not hang on what other files had said."""
    engine = PiperEngine(model("en_US-joe-medium"))
    yield engine
    engine.close()


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, whisper: WhisperEngine, silero: Silero, piper: PiperEngine) -> Talk:
    """`voiceagent talk --fast` in this process: the program takes engines that are loaded already, and answers every turn."""
    voice = LentVoice(piper)
    monkeypatch.setattr("voiceagent.speech.whisper.WhisperEngine", lambda *_, **__: LentEars(whisper))
    monkeypatch.setattr("voiceagent.speech.detector.Silero", lambda *_: silero)
    monkeypatch.setattr("voiceagent.speech.piper.PiperEngine", lambda *_: voice)
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "always")
    return Talk(tmp_path, voice)
