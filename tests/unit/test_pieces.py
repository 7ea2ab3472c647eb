"""Sound that comes in pieces: heard whole and in order, live or recorded, with silence only where nothing comes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, Samples, to_samples
from voiceagent.transport.pieces import LATE_MS, LONG_MS, MOST_MS, SHORT_MS, Pieces


def sound(ms: int, value: int = 7) -> Samples:
    return np.full(to_samples(ms), value, dtype=np.int16)


def drained(pieces: Pieces, until: int, since: int = 0) -> list[tuple[int, int]]:
    """What is given up to a time: (when, first sample)."""
    given: list[tuple[int, int]] = []
    for now in range(since, until):
        while (frame := pieces.take(now)) is not None:
            assert frame.at == (pieces.given_ms - FRAME_MS) * 16
            given.append((now, int(frame.samples[0])))
    return given


def test_live_sound_is_given_as_it_comes_and_no_silence_between() -> None:
    pieces, given = Pieces(0), []
    for now in range(0, 2_000, 100):
        pieces.add(sound(100), now)
        given += drained(pieces, now + 100, now)
    assert [value for _, value in given] == [7] * 100
    assert max(when % 100 for when, _ in given) < 10


def test_silence_takes_the_place_of_what_does_not_come_at_the_pace_of_the_clock() -> None:
    pieces = Pieces(0)
    given = drained(pieces, 1_000)
    assert [value for _, value in given] == [0] * len(given)
    assert [when for when, _ in given[:3]] == [LATE_MS, LATE_MS + 20, LATE_MS + 40]


def test_a_recording_sent_at_once_is_heard_at_once_and_silence_follows_soon() -> None:
    pieces = Pieces(0)
    pieces.add(sound(10_000), 0)
    given = drained(pieces, 4_000)
    values = [value for _, value in given]
    assert values[:500] == [7] * 500 and set(values[500:]) == {0}
    assert given[499][0] <= 500
    assert given[500][0] == LONG_MS + LATE_MS


def test_a_recording_in_short_pieces_ends_sooner() -> None:
    pieces = Pieces(0)
    for _ in range(50):
        pieces.add(sound(100), 0)
    given = drained(pieces, 2_000)
    assert given[250] == (SHORT_MS + LATE_MS, 0)


def test_too_much_is_refused_whole() -> None:
    pieces = Pieces(0)
    assert pieces.add(sound(MOST_MS), 0)
    assert not pieces.add(sound(20), 0)
    pieces.clear()
    assert pieces.waiting == 0
    assert pieces.add(sound(20), 0)


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 120)), max_size=40))
def test_nothing_is_lost_or_doubled_whatever_the_pieces(steps: list[tuple[int, int]]) -> None:
    pieces, now, said, heard = Pieces(0), 0, 0, 0
    for samples, later in steps:
        pieces.add(np.ones(samples, dtype=np.int16), now)
        said += samples
        for moment in range(now, now + later):
            while (frame := pieces.take(moment)) is not None:
                heard += int(frame.samples.sum())
        now += later
    while pieces.waiting:
        frame = pieces.take(now)
        heard += int(frame.samples.sum()) if frame is not None else 0
        now += 1
    assert heard == said
    assert pieces.given_ms % FRAME_MS == 0 and FRAME_SAMPLES == 320
