"""How a line's echo is told from a person, on made sounds; real speech is in tests/sound/test_leak.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, SILENCE, Samples, to_samples
from voiceagent.voice.leak import OWN, Leak

Sound = NDArray[np.float64]


def babble(seed: int, seconds: float = 4.0) -> Sound:
    """Noise that changes its colour and its strength every 60 to 200 ms, as speech does."""
    random = np.random.default_rng(seed)
    pieces: list[Sound] = []
    while sum(piece.size for piece in pieces) < seconds * RATE:
        size = int(random.integers(960, 3_200))
        spectrum = np.fft.rfft(random.normal(size=size))
        hertz = np.fft.rfftfreq(size, 1 / RATE)
        colour = sum(np.exp(-(((hertz - random.uniform(200, 4_000)) / 250) ** 2)) for _ in range(3))
        pieces.append(np.fft.irfft(spectrum * colour, size) * random.choice([0.0, 0.4, 1.0]))
    sound: Sound = np.concatenate(pieces)[: int(seconds * RATE)]
    loudness = float(sound.std())
    return sound * (2_000 / loudness)


def late(sound: Sound, level_db: float, delay_ms: int) -> Sound:
    """The sound as it comes back."""
    return np.concatenate([np.zeros(to_samples(delay_ms)), sound])[: sound.size] * 10 ** (level_db / 20)


def shares(played: Sound, heard: Sound, leak: Leak | None = None, start_ms: int = 1_000) -> list[float]:
    """What a line's leak says, frame by frame."""
    leak = leak or Leak()
    frames = [(_frame(played, at), _frame(heard, at)) for at in range(0, heard.size - FRAME_SAMPLES + 1, FRAME_SAMPLES)]
    said = []
    for number, (out, back) in enumerate(frames):
        if out.any():
            leak.played(out, start_ms + number * FRAME_MS)
        said.append(leak.heard(back, start_ms + number * FRAME_MS + 5))
    return said


def loud(sound: Sound) -> NDArray[np.bool_]:
    """Which of its frames are louder than the noise."""
    frames: NDArray[np.bool_] = (sound[: sound.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)).std(axis=1) > 60
    return frames


def _frame(sound: Sound, at: int) -> Samples:
    return sound[at : at + FRAME_SAMPLES].astype(np.int16)


NOISE = np.random.default_rng(9).normal(size=4 * RATE) * 20


@pytest.mark.parametrize("level_db", [-6, -20])
@pytest.mark.parametrize("delay_ms", [20, 130, 305, 560])
def test_what_plays_is_own_whatever_its_delay_and_a_person_is_not(level_db: int, delay_ms: int) -> None:
    played = babble(1)
    echo = late(played, level_db, delay_ms)
    alone = np.array(shares(played, echo + NOISE))
    assert (alone[50:][loud(echo)[50:]] >= OWN).mean() > 0.9
    person = np.zeros(echo.size)
    person[2 * RATE :] = babble(2, 2.0) * 10 ** ((level_db + 6) / 20)
    both = np.array(shares(played, echo + person + NOISE))
    assert np.array_equal(both[:99], alone[:99])
    assert (both[105:][loud(person)[105:]] < OWN).mean() > 0.6


def test_without_an_echo_a_person_is_a_person() -> None:
    person = np.concatenate([np.zeros(RATE), babble(2, 3.0)])
    assert (np.array(shares(babble(1), person + NOISE)[50:]) < OWN).mean() > 0.95


def test_nothing_is_own_where_nothing_plays() -> None:
    assert set(shares(np.zeros(4 * RATE), babble(2) + NOISE)) == {0.0}


def test_what_is_heard_before_the_echo_is_known_passes_for_it_for_a_quarter_of_a_second() -> None:
    person = babble(3)
    said = shares(babble(1), person + NOISE)
    assert 0 < sum(share == 1.0 for share in said) <= 12


def test_a_longer_way_back_is_found_anew() -> None:
    leak, played = Leak(), babble(1)
    shares(played, late(played, -6, 80) + NOISE, leak)
    echo = late(babble(4), -12, 300)
    said = np.array(shares(babble(4), echo + NOISE, leak, start_ms=5_000))
    assert (said[75:][loud(echo)[75:]] >= OWN).mean() > 0.85


def test_a_clock_that_jumps_costs_no_more_than_finding_the_echo_again() -> None:
    leak, played = Leak(), babble(1)
    shares(played, late(played, -6, 80) + NOISE, leak)
    echo = late(babble(4), -6, 80)
    said = np.array(shares(babble(4), echo + NOISE, leak, start_ms=65_013))
    assert (said[25:][loud(echo)[25:]] >= OWN).mean() > 0.85


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["play", "hear"]), st.integers(0, 32_767), st.integers(0, 90)), max_size=60))
def test_any_sounds_at_any_times_give_a_share(steps: list[tuple[str, int, int]]) -> None:
    leak, now = Leak(), 0
    for what, loud, later in steps:
        now += later
        samples = np.full(FRAME_SAMPLES, loud, dtype=np.int16) if loud else SILENCE
        if what == "play":
            leak.played(samples, now)
        else:
            assert 0 <= leak.heard(samples, now) <= 1
