"""The real engines, loaded once."""

from collections.abc import Iterator

import pytest

from tests.sound.hearing import Hearing, model
from voiceagent.speech.detector import Silero
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine


@pytest.fixture(scope="session")
def whisper() -> Iterator[WhisperEngine]:
    engine = WhisperEngine(model("whisper-tiny.en"))
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def hearing(whisper: WhisperEngine) -> Hearing:
    return Hearing(Silero(), whisper)


@pytest.fixture(scope="session")
def piper() -> Iterator[PiperEngine]:
    engine = PiperEngine(model("en_US-joe-medium"))
    yield engine
    engine.close()
