"""48 kHz to 16 kHz in 20 ms pieces: as one conversion, at once, without aliases, and with nothing left over from before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import Samples
from voiceagent.audio.thirds import BEFORE, Thirds

LINE = 48_000
FRAME = 960


def _tone(hertz: float, seconds: float = 1.0) -> Samples:
    return np.asarray(10_000 * np.sin(2 * np.pi * hertz * np.arange(int(LINE * seconds)) / LINE), dtype=np.int16)


def _speechlike(seed: int, frames: int) -> Samples:
    """Noise below 6 kHz in bursts, with digital silence between."""
    chance = np.random.default_rng(seed)
    smooth = np.convolve(chance.normal(0, 1, frames * FRAME), np.hamming(9) / np.hamming(9).sum(), "same")
    spoken = np.repeat(chance.random(frames) < 0.6, FRAME)
    return np.where(spoken, np.clip(smooth * 6000, -32000, 32000), 0).astype(np.int16)


def _db(error: np.ndarray, sound: np.ndarray) -> float:
    return float(10 * np.log10((np.mean(error.astype(float) ** 2) + 1e-12) / (np.mean(sound.astype(float) ** 2) + 1e-12)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 700), max_size=30))
def test_pieces_equal_one_conversion_with_their_pauses(seed: int, thirds: list[int]) -> None:
    sound = _speechlike(seed, 30)
    whole = Thirds().process(sound)
    for cuts in (range(FRAME, len(sound), FRAME), np.cumsum([3 * third for third in thirds])):
        stream = Thirds()
        pieces = [stream.process(piece) for piece in np.split(sound, [cut for cut in cuts if cut <= len(sound)])]
        joined = np.concatenate(pieces)
        assert len(joined) == len(sound) // 3
        assert _db(joined - whole.astype(int), whole) < -60


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(48_000, 16_000), (16_000, 48_000), (8_000, 16_000), (22_050, 16_000)]))
def test_pieces_of_any_resampler_equal_one_conversion(seed: int, rates: tuple[int, int]) -> None:
    sound = _speechlike(seed, 30)
    step = rates[0] // 50
    whole, stream = Resampler(*rates), Resampler(*rates)
    once = np.concatenate((whole.process(sound), whole.flush()))
    pieces = [stream.process(sound[at : at + step]) for at in range(0, len(sound), step)]
    joined = np.concatenate([*pieces, stream.flush()])
    assert len(joined) == len(once)
    assert _db(joined - once.astype(int), once) < -60


def test_20_ms_of_silence_leave_it_as_new() -> None:
    used, fresh = Thirds(), Thirds()
    used.process(_tone(440))
    silence = np.zeros(FRAME, dtype=np.int16)
    assert BEFORE < FRAME
    used.process(silence)
    next_words = _speechlike(3, 10)
    assert np.array_equal(used.process(next_words), fresh.process(next_words))


@pytest.mark.parametrize(
    ("hertz", "low", "high"), [(300, -0.1, 0.1), (3400, -0.1, 0.1), (7000, -0.5, 0.5), (9000, -200, -55), (15_000, -200, -55)]
)
def test_what_16_khz_can_carry_passes_and_the_rest_does_not_come_back(hertz: float, low: float, high: float) -> None:
    out = Thirds().process(_tone(hertz)).astype(float)[100:]
    level = 20 * np.log10(np.sqrt(np.mean(out**2)) / (10_000 / np.sqrt(2)) + 1e-9)
    assert low <= level <= high
