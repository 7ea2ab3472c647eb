"""Loudness in decibels of full scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voiceagent.audio.frame import SILENCE, Samples
from voiceagent.audio.level import FLOOR_DBFS, Level, dbfs


def tone(amplitude: float, ms: int = 20) -> Samples:
    return (amplitude * np.sin(2 * np.pi * 500 * np.arange(16 * ms) / 16_000)).astype(np.int16)


@pytest.mark.parametrize(
    ("samples", "level"),
    [
        (SILENCE, -100.0),
        (np.zeros(0, dtype=np.int16), -100.0),
        (np.full(320, -32768, dtype=np.int16), 0.0),
        (tone(32767), -3.01),
        (tone(3276.7), -23.01),
        (np.full(320, 1, dtype=np.int16), -90.31),
    ],
)
def test_loudness_of_known_sounds(samples: Samples, level: float) -> None:
    assert dbfs(samples) == pytest.approx(level, abs=0.02)


@given(arrays(np.int16, st.integers(0, 700)))
@settings(max_examples=60, deadline=None)
def test_loudness_stays_on_its_scale(samples: Samples) -> None:
    meter = Level()
    meter.add(samples)
    assert FLOOR_DBFS <= meter.rms <= dbfs(samples) + 1e-6 <= 1e-5
    assert FLOOR_DBFS <= meter.peak <= 0


def test_a_meter_follows_within_its_settling_time() -> None:
    meter = Level(settle_ms=100)
    for _ in range(5):
        meter.add(tone(32767))
    assert meter.rms == pytest.approx(-3.01 - 1.99, abs=0.05)  # 63 % of the power
    for _ in range(50):
        meter.add(tone(32767))
    assert meter.rms == pytest.approx(-3.01, abs=0.05)


def test_frame_length_does_not_change_the_reading() -> None:
    whole, parts = Level(), Level()
    whole.add(tone(8_000, 80))
    for _ in range(4):
        parts.add(tone(8_000, 20))
    assert parts.rms == pytest.approx(whole.rms, abs=0.05)


def test_the_peak_rises_at_once_and_falls_slowly() -> None:
    meter = Level(peak_fall_db_s=20)
    meter.add(tone(16_384))
    assert meter.peak == pytest.approx(-6.02, abs=0.05)
    for _ in range(50):
        meter.add(SILENCE)
    assert meter.peak == pytest.approx(-26.02, abs=0.1)
    for _ in range(500):
        meter.add(SILENCE)
    assert meter.peak == FLOOR_DBFS


def test_reset_is_silence() -> None:
    meter = Level()
    meter.add(tone(16_384))
    meter.reset()
    assert (meter.rms, meter.peak) == (FLOOR_DBFS, FLOOR_DBFS)
