"""A sound that may be a voice is noticed within 40 ms, and a noise that goes on is not taken for one for long."""

from collections.abc import Callable

import numpy as np
import pytest

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples
from voiceagent.speech.onset import APART_MS, DEAF_MS, DOUBT_MS, IN_VAIN, Onset

RANDOM = np.random.default_rng(3)


def quiet(ms: int) -> Samples:
    """A line's noise, at -62 dBFS."""
    noise: Samples = (RANDOM.normal(size=ms * RATE // 1000) * 26).astype(np.int16)
    return noise


def vowel(ms: int, level: float = 4_000) -> Samples:
    """A buzz of 120 Hz through a throat."""
    time = np.arange(ms * RATE // 1000) / RATE
    buzz = sum(np.sin(2 * np.pi * 120 * k * time) / (1 + abs(120 * k - 600) / 300) for k in range(1, 25))
    sound: Samples = (buzz / np.abs(buzz).max() * level).astype(np.int16) + quiet(ms)
    return sound


def hum(ms: int) -> Samples:
    """A motor."""
    sound: Samples = (vowel(ms) // 2 + RANDOM.normal(size=ms * RATE // 1000) * 300).astype(np.int16)
    return sound


class Line:
    """Keeps at which ms a sound was told of."""

    def __init__(self) -> None:
        self.onset = Onset()
        self.at = 0
        self.told: list[int] = []

    def hear(self, *sounds: Samples, voiced: bool = False, own: bool = False) -> "Line":
        joined = np.concatenate(sounds)
        for frame in joined[: joined.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES):
            self.at += FRAME_MS
            if self.onset.hear(frame, voiced=voiced, own=own):
                self.told.append(self.at)
        return self

    def begins(self) -> int:
        """How many times a sound began."""
        return sum(1 for number, at in enumerate(self.told) if number == 0 or at - self.told[number - 1] > FRAME_MS)


def test_a_voice_is_noticed_within_40_ms() -> None:
    assert Line().hear(quiet(1_000), vowel(400)).told[0] in (1_020, 1_040)


def test_silence_and_the_lines_own_noise_are_nothing() -> None:
    assert Line().hear(quiet(10_000), np.zeros(RATE, np.int16)).told == []


def test_a_sound_in_which_no_voice_is_found_is_doubtful_for_so_long_only() -> None:
    line = Line().hear(quiet(1_000), vowel(5_000))
    assert line.begins() == 1
    assert line.told[-1] - line.told[0] == DOUBT_MS - FRAME_MS


def test_once_a_voice_is_found_it_is_no_onset_any_more() -> None:
    line = Line().hear(quiet(1_000), vowel(200))
    before = list(line.told)
    assert line.hear(vowel(400), voiced=True).told == before


def test_what_the_listener_is_played_is_none() -> None:
    assert Line().hear(quiet(1_000), vowel(1_000), own=True).told == []


def test_a_noise_that_keeps_coming_is_not_listened_to_until_a_voice_is_found() -> None:
    line = Line().hear(quiet(1_000))
    for _ in range(2 * IN_VAIN):
        line.hear(vowel(200), quiet(DOUBT_MS + APART_MS))
    assert line.begins() == IN_VAIN
    line.hear(vowel(200), voiced=True).hear(quiet(600))
    begun = line.begins()
    assert line.hear(vowel(200)).begins() == begun + 1


def test_after_a_while_it_listens_again() -> None:
    line = Line().hear(quiet(1_000))
    for _ in range(IN_VAIN):
        line.hear(vowel(200), quiet(DOUBT_MS + APART_MS))
    assert line.hear(quiet(DEAF_MS), vowel(200), quiet(600)).begins() == IN_VAIN + 1
    assert line.hear(vowel(200)).begins() == IN_VAIN + 1


def white(ms: int) -> Samples:
    """A fan."""
    sound: Samples = (RANDOM.normal(size=ms * RATE // 1000) * 1_000).astype(np.int16)
    return sound


@pytest.mark.parametrize("noise", [hum, white])
def test_a_steady_noise_is_one_sound_at_most(noise: Callable[[int], Samples]) -> None:
    assert Line().hear(quiet(1_000), noise(12_000)).begins() <= 1


def test_a_frame_of_another_length_is_nothing() -> None:
    assert Onset().hear(np.full(100, 9_000, np.int16), voiced=False) is False
