"""One frame every 20 ms whatever the line does: on time, late, in bursts, with holes, or never."""

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, AudioFrame
from voiceagent.transport.arrivals import AHEAD_MS, LATE_MS, Arrivals

STEP = FRAME_SAMPLES


def _sound(value: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.full(STEP, value, dtype=np.int16)


def _drain(arrivals: Arrivals, now: int) -> list[AudioFrame]:
    frames = []
    while (frame := arrivals.take(now)) is not None:
        frames.append(frame)
    return frames


def _values(frames: list[AudioFrame]) -> list[int]:
    return [int(frame.samples[0]) for frame in frames]


def test_sound_is_handed_on_as_it_comes() -> None:
    arrivals = Arrivals(0)
    for n in range(5):
        arrivals.add(_sound(n + 1), n * STEP, n * 20)
        frames = _drain(arrivals, n * 20)
        assert _values(frames) == [n + 1]
        assert frames[0].at == n * STEP


def test_a_line_that_sends_nothing_is_silence_by_the_clock() -> None:
    arrivals = Arrivals(1000)
    assert arrivals.take(1000) is None
    assert arrivals.due == 1000 + LATE_MS
    frames = _drain(arrivals, 1000 + LATE_MS + 180)
    assert _values(frames) == [0] * 10
    assert [frame.at for frame in frames] == [n * STEP for n in range(10)]


def test_a_late_burst_is_heard_whole_and_the_clock_catches_up() -> None:
    arrivals = Arrivals(0)
    arrivals.add(_sound(1), 0, 0)
    assert _values(_drain(arrivals, 0)) == [1]
    assert _values(_drain(arrivals, 200)) == [0] * 7
    for n in range(1, 11):
        arrivals.add(_sound(n + 1), n * STEP, 200)
    assert _values(_drain(arrivals, 200)) == list(range(2, 12))
    assert arrivals.due == 18 * 20 + LATE_MS


def test_a_lost_packet_is_silence_in_its_place() -> None:
    arrivals = Arrivals(0)
    arrivals.add(_sound(1), 0, 0)
    arrivals.add(_sound(3), 2 * STEP, 40)
    assert _values(_drain(arrivals, 40)) == [1, 0, 3]


def test_a_hole_that_the_clock_has_filled_is_not_filled_again() -> None:
    arrivals = Arrivals(0)
    arrivals.add(_sound(1), 0, 0)
    _drain(arrivals, 0)
    filled = len(_drain(arrivals, 160))
    assert filled == 5
    arrivals.add(_sound(9), (1 + filled) * STEP, 160)
    assert _values(_drain(arrivals, 160)) == [9]


def test_a_flood_is_cut_to_its_newest() -> None:
    arrivals = Arrivals(0)
    for n in range(1000):
        arrivals.add(_sound(n % 30_000), n * STEP, 0)
    frames = _drain(arrivals, 0)
    assert len(frames) * 20 == AHEAD_MS
    assert _values(frames)[-1] == 999
    assert arrivals.dropped == (1000 - len(frames)) * STEP


def test_a_jump_of_the_senders_clock_is_bounded() -> None:
    arrivals = Arrivals(0)
    arrivals.add(_sound(1), 0, 0)
    arrivals.add(_sound(2), 1 << 40, 20)
    frames = _drain(arrivals, 20)
    assert len(frames) <= AHEAD_MS // 20 + 2
    assert _values(frames)[-1] == 2
