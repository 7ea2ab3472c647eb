"""Which voices and wake words the settings choose, and what a machine does without them."""

from pathlib import Path

import pytest

from voiceagent import engines
from voiceagent.config import load
from voiceagent.speech.settings import VoicesSettings, WakeSettings


def test_without_a_phrase_a_line_is_always_awake() -> None:
    assert engines.wake(WakeSettings()) is None


def test_people_are_not_told_apart_where_that_is_off() -> None:
    assert engines.voices(VoicesSettings(on=False)) is None


def test_without_the_encoder_people_are_not_told_apart_and_the_log_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(tmp_path))
    assert engines.voices(VoicesSettings()) is None
    assert "degraded: people on one microphone are not told apart" in caplog.text
    assert "voiceagent models pull voice-encoder" in caplog.text


def test_people_lie_where_the_settings_say(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[speaker.voices]\nfile = "people.json"\n\n[speaker.wake]\nphrase = "alexa"\n')
    speaker = load(file, {}).speaker
    assert engines.voice_book(speaker.voices).path == Path("people.json")
    assert speaker.wake.phrase == "alexa"
