"""The sound of a reply: given in frames, wound back, and given again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.audio.frame import FRAME_SAMPLES, Samples
from voiceagent.voice.tape import KEPT, Tape


def ramp(begin: int, samples: int) -> Samples:
    """Every sample is its own position, as far as 16 bits go."""
    return (np.arange(begin, begin + samples) % 30_000).astype(np.int16)


@given(st.lists(st.one_of(st.tuples(st.just("add"), st.integers(0, 5_000)), st.tuples(st.just("take"), st.integers(1, 20)),
                          st.tuples(st.just("rewind"), st.integers(-100, 60_000))), max_size=40))  # fmt: skip
def test_frames_are_the_sound_from_wherever_it_was_wound_to(steps: list[tuple[str, int]]) -> None:
    tape, made, at = Tape(), 0, 0
    for step, count in steps:
        match step:
            case "add":
                tape.add(ramp(made, count))
                made += count
            case "take":
                for _ in range(count):
                    frame = tape.frame()
                    assert (frame is not None) == (made - at >= FRAME_SAMPLES)
                    if frame is not None:
                        assert np.array_equal(frame, ramp(at, FRAME_SAMPLES))
                        at += FRAME_SAMPLES
            case _:
                begun = tape.rewind(count)
                assert begun <= at
                assert begun == max(0, min(count, at))
                at = begun
        assert (tape.at, tape.ahead) == (at, made - at)
    rest = tape.rest()
    assert (rest is None) == (made == at)


def test_what_is_left_is_filled_with_silence_and_can_be_wound_back() -> None:
    tape = Tape()
    tape.add(ramp(1, 500))
    first, rest = tape.frame(), tape.rest()
    assert first is not None
    assert rest is not None
    assert np.array_equal(np.concatenate((first, rest))[:500], ramp(1, 500))
    assert not rest[180:].any()
    assert tape.rest() is None
    assert tape.rewind(400) == 400
    again = tape.rest()
    assert again is not None
    assert again[0] == 401


def test_what_was_given_long_ago_is_forgotten() -> None:
    tape = Tape()
    for number in range(30):
        tape.add(ramp(number * 16_000, 16_000))
        while tape.frame() is not None:
            pass
    tape.add(ramp(30 * 16_000, 16_000))
    assert tape.rewind(0) == 30 * 16_000 - KEPT
    frame = tape.frame()
    assert frame is not None
    assert np.array_equal(frame, ramp(30 * 16_000 - KEPT, FRAME_SAMPLES))


def test_who_keeps_a_frame_keeps_nothing_else() -> None:
    tape = Tape()
    tape.add(ramp(0, 100_000))
    frame = tape.frame()
    assert frame is not None
    assert frame.base is None or frame.base.size == FRAME_SAMPLES


@pytest.mark.parametrize("position", [-5, 0, 100])
def test_an_empty_tape_is_where_it_is(position: int) -> None:
    assert Tape().rewind(position) == 0
