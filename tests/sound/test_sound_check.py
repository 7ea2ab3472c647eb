"""A microphone and a loudspeaker are measured, and what to change is said."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("livekit.rtc", reason="pip install 'voiceagent[speaker]'")

from tests.sound.hearing import load
from voiceagent.audio.frame import Samples, to_samples
from voiceagent.transport.speaker.check import Check, measure


@pytest.fixture
def sentence(shared_audio: Path) -> Samples:
    return load(shared_audio / "faster-whisper-jfk.flac")


def noise(count: int, level: int = 20) -> Samples:
    return np.random.default_rng(1).normal(0, level, count).astype(np.int16)


@pytest.mark.parametrize("delay_ms", [60, 250])
def test_level_delay_and_echo_loss_are_found(sentence: Samples, delay_ms: int) -> None:
    quiet = noise(16_000)
    echo = np.concatenate([np.zeros(to_samples(delay_ms), dtype=np.int16), sentence // 4])[: sentence.size]
    found = measure(quiet, sentence, echo + noise(echo.size))
    assert abs(found.delay_ms - delay_ms) <= 2
    assert found.loss_db > 15
    assert found.heard > found.noise + 20
    assert found.advice == ()


def test_a_microphone_that_hears_nothing_of_it_is_told_so(sentence: Samples) -> None:
    found = measure(noise(16_000), sentence, noise(sentence.size))
    assert len(found.advice) == 1
    assert "does not hear" in found.advice[0]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Check(-60, -10, -1, 80, 30), "too loud"),
        (Check(-60, -30, -12, 700, 30), "700 ms"),
        (Check(-60, -30, -12, 80, 4), "Much of the echo"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_change(check: Check, words: str) -> None:
    assert len(check.advice) == 1
    assert words in check.advice[0]
