"""The arithmetic of comparing voices: rates, their intervals, and counts of what is rare."""

import numpy as np
import pytest

from tools.voices.trials import Trials, interval, poisson_interval, trials
from voiceagent.speech.traits import Print


def voice(axis: int) -> Print:
    made = np.zeros(256, dtype=np.float32)
    made[axis] = 1.0
    return made


@pytest.mark.parametrize(
    ("same", "other", "rate"),
    [
        ([0.9, 0.8], [0.1, 0.2], 0.0),
        ([0.9, 0.3, 0.8, 0.7], [0.1, 0.75, 0.2, 0.3], 0.25),
        ([0.1], [0.9], 1.0),
    ],
)
def test_the_rate_at_which_both_errors_are_equal(same: list[float], other: list[float], rate: float) -> None:
    assert Trials(np.array(same), np.array(other)).equal_error[0] == pytest.approx(rate)


def test_an_utterance_is_not_compared_with_itself() -> None:
    done = trials([[voice(1), voice(2)], [voice(3)]], [[voice(1), voice(2)], [voice(3)]])
    assert (sorted(done.same), done.other.size) == ([0.0, 0.0], 4)


def test_one_perfect_voice_among_many_has_no_interval_to_speak_of() -> None:
    prints = [[voice(axis)] * 3 for axis in range(8)]
    assert interval(lambda drawn: drawn.equal_error[0], prints, prints) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("count", "low", "high"), [(0, 0.0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)]
)  # Garwood's limits, as tables give them
def test_what_is_rare_has_its_interval(count: int, low: float, high: float) -> None:
    assert poisson_interval(count) == pytest.approx((low, high), abs=5e-3)
