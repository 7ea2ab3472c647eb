"""A line that sleeps: when it wakes and sleeps, and what of its sound goes on."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, SILENCE, Samples
from voiceagent.speech.settings import WakeSettings
from voiceagent.speech.wake import RING_MS, WakeFilter

WORD, VOICE, QUIET = 9_000, 3_000, 0
"""Levels of a frame: the end of the wake word, somebody's voice, nobody's."""


def frame(level: int) -> Samples:
    return np.full(FRAME_SAMPLES, level, dtype=np.int16) if level else SILENCE


class ByLevel:
    """Hears the phrase in frames that are as loud as WORD, or have this share of it."""

    def __init__(self, share: float = 1.2) -> None:
        self.share = share

    def hear(self, frame: Samples) -> float:
        return self.share if int(frame[0]) == WORD else 0.0


class Line:
    """Plays levels into a filter, one a frame, and keeps what comes out by level."""

    def __init__(self, settings: WakeSettings | None = None, own: float = 1.2) -> None:
        self.wake = WakeFilter(settings or WakeSettings(), ByLevel(), ByLevel(own), lambda samples: int(samples[0]) >= VOICE)
        self.now = 0

    def hear(self, *spans: tuple[int, int], own: bool = False) -> list[int]:
        return [level for levels in self.steps(spans, own=own) for level in levels]

    def steps(self, spans: Sequence[tuple[int, int]], *, own: bool = False) -> Iterator[list[int]]:
        for ms, level in spans:
            for _ in range(ms // FRAME_MS):
                self.now += FRAME_MS
                yield [int(given[0]) for given in self.wake.hear(frame(level), self.now, own=own)]

    def plays(self, ms: int, level: int) -> None:
        for at in range(0, ms, FRAME_MS):
            self.wake.played(frame(level), self.now + at)
        self.now += ms


def test_asleep_nothing_goes_on() -> None:
    line = Line()
    assert line.hear((30_000, VOICE)) == []
    assert not line.wake.awake


def test_woken_it_gives_what_followed_the_word_at_once_and_then_each_frame() -> None:
    line = Line(WakeSettings(pre_roll_ms=100))
    line.hear((200, QUIET), (60, VOICE))
    steps = list(line.steps([(20, WORD), (40, VOICE)]))
    assert steps == [[QUIET, VOICE, VOICE, VOICE, WORD], [VOICE], [VOICE]]


def test_it_keeps_no_more_than_its_ring() -> None:
    line = Line(WakeSettings(pre_roll_ms=2_000))
    line.hear((10_000, VOICE))
    assert len(line.hear((20, WORD))) == RING_MS // FRAME_MS


def test_what_was_said_before_it_fell_asleep_is_not_given_again() -> None:
    line = Line(WakeSettings(follow_ms=1_000, pre_roll_ms=2_000))
    line.hear((20, WORD), (500, VOICE), (1_200, QUIET))
    assert not line.wake.awake
    assert VOICE not in line.hear((20, WORD))


@pytest.mark.parametrize(
    ("spans", "awake"),
    [
        ([(7_900, QUIET)], True),
        ([(8_000, QUIET)], False),
        ([(7_900, QUIET), (20, VOICE), (7_900, QUIET)], True),
        ([(29_900, VOICE)], True),
        ([(30_000, VOICE)], False),  # endless talk, such as a television's
        ([(20_000, VOICE), (20, WORD), (20_000, VOICE)], True),
    ],
)
def test_how_long_it_stays_awake(spans: list[tuple[int, int]], awake: bool) -> None:
    line = Line()
    line.hear((20, WORD), *spans)
    assert line.wake.awake is awake


def test_while_the_agent_sounds_it_stays_awake_and_for_a_while_after() -> None:
    line = Line()
    line.hear((20, WORD))
    for _ in range(60):
        line.plays(20, VOICE)
        line.now -= 20
        line.hear((1_000, VOICE))
        line.wake.played(frame(VOICE), line.now)
    assert line.wake.awake
    line.hear((7_900, QUIET))
    assert line.wake.awake
    line.hear((500, QUIET))
    assert not line.wake.awake


@pytest.mark.parametrize(("after_ms", "woken"), [(0, False), (600, False), (1_100, False), (1_300, True)])
def test_a_word_that_the_agent_has_just_said_itself_wakes_nobody(after_ms: int, woken: bool) -> None:
    line = Line(own=0.5)
    line.hear((1_000, QUIET))
    line.plays(20, WORD)
    line.hear((after_ms, QUIET), (20, WORD))
    assert line.wake.awake is woken


def test_its_own_word_counts_from_less_likeness_than_a_persons() -> None:
    line = Line(own=0.3)
    line.plays(20, WORD)
    line.hear((20, WORD))
    assert line.wake.awake, "0.3 is less than the own share of 0.4"


def test_a_frame_with_nothing_but_the_agent_in_it_calls_nobody() -> None:
    line = Line()
    line.hear((20, WORD), own=True)
    assert not line.wake.awake


def test_a_word_that_goes_on_is_told_once() -> None:
    line = Line(WakeSettings(follow_ms=1_000, longest_ms=2_000))
    line.hear((5_000, WORD))
    assert not line.wake.awake, "the phrase that stays near for 5 s woke it once, and its 2 s are over"


def test_a_key_wakes_it_and_gives_what_is_asked_for() -> None:
    line = Line()
    line.hear((500, VOICE))
    assert len(line.wake.wake(line.now, 200)) == 10
    assert line.wake.wake(line.now, 200) == (), "it was awake: that has gone on"
    line.wake.sleep()
    assert line.hear((20, VOICE)) == []
