"""Sums of frames: held at the ends, and without one's own voice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from voiceagent.audio.frame import SILENCE
from voiceagent.audio.mixer import mix, mix_minus

frames = st.lists(arrays(np.int16, 32), min_size=1, max_size=6)


@given(frames)
@settings(max_examples=50, deadline=None)
def test_a_mix_is_the_sum_held_at_the_ends(several: list[np.ndarray]) -> None:
    wanted = [max(-32768, min(32767, sum(int(f[i]) for f in several))) for i in range(32)]
    assert mix(several).tolist() == wanted


@given(frames)
@settings(max_examples=50, deadline=None)
def test_everybody_hears_exactly_the_others(several: list[np.ndarray]) -> None:
    heard = mix_minus(dict(enumerate(several)))
    for key, sound in heard.items():
        others = [frame for other, frame in enumerate(several) if other != key]
        assert sound.tolist() == (mix(others) if others else np.zeros(32)).tolist()
        assert sound.dtype == np.int16


def test_nobody_gives_silence() -> None:
    assert np.array_equal(mix([]), SILENCE)
    assert mix_minus({}) == {}


def test_inputs_are_left_alone() -> None:
    one, two = np.full(4, 30_000, dtype=np.int16), np.full(4, 30_000, dtype=np.int16)
    assert mix([one, two]).tolist() == [32767] * 4
    assert mix_minus({"a": one, "b": two})["a"].tolist() == [30_000] * 4
    assert one.tolist() == two.tolist() == [30_000] * 4


def test_frames_of_two_lengths_are_a_fault() -> None:
    with pytest.raises(ValueError, match="one length"):
        mix([np.zeros(320, dtype=np.int16), np.zeros(319, dtype=np.int16)])
