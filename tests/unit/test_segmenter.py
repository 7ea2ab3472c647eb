"""The segmenter: tables of what it says when, and what holds for any line of frames."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, Samples, to_ms, to_samples
from voiceagent.speech.segmenter import (
    Segmenter,
    SpeechEnded,
    SpeechEvent,
    SpeechHushed,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
)
from voiceagent.speech.settings import HearingSettings

Line = list[tuple[float, int]]
"""Stretches of one probability, each so many frames long."""

VOICE, QUIET = 0.9, 0.05


def counted(length: int) -> Samples:
    """Sound that shows its own position: every sample differs from its neighbours for as long as int16 lets it."""
    return (np.arange(length) % 65_536 - 32_768).astype(np.int16)


def hear(line: Line, hearing: HearingSettings | None = None) -> tuple[list[SpeechEvent], Samples]:
    """All events of a line, its end included, and the line's sound."""
    segmenter = Segmenter(hearing or HearingSettings())
    frames = [probability for probability, length in line for _ in range(length)]
    sound = counted(len(frames) * FRAME_SAMPLES)
    events: list[SpeechEvent] = []
    for index, probability in enumerate(frames):
        events += segmenter.hear(sound[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES], probability)
    return [*events, *segmenter.finish()], sound


def told(events: list[SpeechEvent]) -> list[tuple[str, int]]:
    """Events as names and milliseconds."""
    return [
        (type(event).__name__.removeprefix("Speech"), to_ms(event.end if isinstance(event, SpeechEnded) else event.at))
        for event in events
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ([(QUIET, 100)], []),
        ([(QUIET, 20), (VOICE, 5), (QUIET, 60)], []),
        ([(QUIET, 20), (VOICE, 10), (QUIET, 60)], [("Started", 400), ("Hushed", 600), ("Paused", 600), ("Ended", 600)]),
        ([(VOICE, 30), (QUIET, 60)], [("Started", 0), ("Hushed", 600), ("Paused", 600), ("Ended", 600)]),
        (
            [(VOICE, 30), (QUIET, 9), (VOICE, 10), (QUIET, 30)],
            [("Started", 0), ("Hushed", 600), ("Resumed", 780), ("Hushed", 980), ("Paused", 980), ("Ended", 980)],
        ),
        (
            [(VOICE, 30), (QUIET, 15), (VOICE, 10), (QUIET, 30)],
            [
                ("Started", 0),
                ("Hushed", 600),
                ("Paused", 600),
                ("Resumed", 900),
                ("Hushed", 1100),
                ("Paused", 1100),
                ("Ended", 1100),
            ],
        ),
        ([(0.45, 50), (QUIET, 50)], []),
        ([(VOICE, 1), (0.4, 9), (QUIET, 50)], [("Started", 0), ("Hushed", 200), ("Paused", 200), ("Ended", 200)]),
        ([(VOICE, 3), (QUIET, 3), (VOICE, 5), (QUIET, 50)], [("Started", 0), ("Hushed", 220), ("Paused", 220), ("Ended", 220)]),
        ([(VOICE, 3), (QUIET, 6), (VOICE, 5), (QUIET, 50)], []),
        ([(VOICE, 30)], [("Started", 0), ("Ended", 600)]),
    ],
    ids=[
        "silence",
        "a click of 100 ms",
        "a word of 200 ms",
        "from the first frame",
        "a dip is no pause",
        "a pause inside",
        "never above the threshold",
        "held above the release",
        "a stutter",
        "two clicks",
        "the line ends in mid-word",
    ],
)
def test_what_is_told_when(line: Line, expected: list[tuple[str, int]]) -> None:
    assert told(hear(line)[0]) == expected


def leveled(*stretches: tuple[float, int, int]) -> list[SpeechEvent]:
    """All events of a line of stretches: a probability, so many frames long, so loud."""
    segmenter, events = Segmenter(HearingSettings()), list[SpeechEvent]()
    for probability, length, loud in stretches:
        for _ in range(length):
            events += segmenter.hear(np.full(FRAME_SAMPLES, loud, dtype=np.int16), probability)
    return events


@pytest.mark.parametrize(
    ("stretches", "paused"),
    [
        ([(VOICE, 30, 8_000), (VOICE, 4, 60), (QUIET, 40, 0)], 600),
        ([(VOICE, 30, 8_000), (VOICE, 4, 400), (QUIET, 40, 0)], 680),
        ([(VOICE, 30, 8_000), (VOICE, 20, 60), (QUIET, 40, 0)], 880),
        ([(VOICE, 1, 30_000), (VOICE, 300, 800), (QUIET, 40, 0)], 6_020),
    ],
    ids=["a tail is silence", "soft speech is speech", "at most 120 ms of it", "a slam is forgotten"],
)
def test_a_voice_ends_where_its_sound_does(stretches: list[tuple[float, int, int]], paused: int) -> None:
    """A detector goes on for a while after the voice: the silence is counted from the sound's end."""
    assert told(leveled(*stretches))[1:3] == [("Hushed", paused), ("Paused", paused)]


@pytest.mark.parametrize(
    ("loud", "frames", "whole"),
    [(4_000, 11, True), (4_000, 18, False), (100, 11, False)],
    ids=["a voice that is noticed late", "noise that stays", "a breath"],
)
def test_a_silence_in_which_something_begins_to_sound_is_not_over_yet(loud: int, frames: int, whole: bool) -> None:
    """460 ms of quiet, and sound that the detector calls a voice only later; the utterance would end at 500 ms."""
    events = leveled((VOICE, 30, 8_000), (QUIET, 23, 0), (QUIET, frames, loud), (VOICE, 20, 8_000), (QUIET, 40, 0))
    assert len([event for event in events if isinstance(event, SpeechEnded)]) == (1 if whole else 2)


def test_the_sound_has_300_ms_before_the_first_word() -> None:
    events, sound = hear([(QUIET, 50), (VOICE, 20), (QUIET, 40)])
    ended = events[-1]
    assert isinstance(ended, SpeechEnded)
    assert (ended.start, ended.sound_at) == (to_samples(1000), to_samples(700))
    assert np.array_equal(ended.sound, sound[to_samples(700) : to_samples(1500)])


def test_the_hush_gives_the_very_sound_of_the_end_and_the_pause_that_and_its_silence() -> None:
    hushed, paused, ended = hear([(QUIET, 50), (VOICE, 20), (QUIET, 40)])[0][1:]
    assert isinstance(hushed, SpeechHushed)
    assert isinstance(paused, SpeechPaused)
    assert isinstance(ended, SpeechEnded)
    assert np.array_equal(hushed.sound, ended.sound)
    assert np.array_equal(paused.sound[: hushed.sound.size], hushed.sound)
    assert paused.sound.size - hushed.sound.size == to_samples(100)


def test_the_pre_roll_never_repeats_the_utterance_before() -> None:
    ended = [event for event in hear([(VOICE, 20), (QUIET, 26), (VOICE, 20), (QUIET, 40)])[0] if isinstance(event, SpeechEnded)]
    assert ended[1].sound_at >= ended[0].sound_at + ended[0].sound.size


def test_the_voiced_ratio_counts_the_frames_between_start_and_end() -> None:
    ended = hear([(VOICE, 10), (QUIET, 20), (VOICE, 10), (QUIET, 40)])[0][-1]
    assert isinstance(ended, SpeechEnded)
    assert ended.voiced_ratio == pytest.approx(0.5)


def test_speech_that_never_ends_is_cut_at_30_s_without_a_gap() -> None:
    events, sound = hear([(QUIET, 20), (VOICE, 3500), (QUIET, 40)])
    parts = [event for event in events if isinstance(event, SpeechEnded)]
    assert [part.continues for part in parts] == [True, True, False]
    assert parts[0].sound.size == to_samples(30_000)
    assert np.array_equal(np.concatenate([part.sound for part in parts]), sound[to_samples(100) : to_samples(70_500)])


def test_the_cut_falls_into_a_dip_when_there_is_one() -> None:
    events, _ = hear([(VOICE, 1400), (QUIET, 4), (VOICE, 300), (QUIET, 40)])
    first = next(event for event in events if isinstance(event, SpeechEnded))
    assert first.continues
    assert to_ms(first.sound_at + first.sound.size) == 28_040
    assert told(events)[:3] == [("Started", 0), ("Ended", 28_000), ("Started", 28_080)]


@pytest.mark.parametrize("doubt", [0.45, 0.6, 0.7])
def test_a_steady_noise_that_passes_for_a_voice_ends_the_turn_within_3_s(doubt: float) -> None:
    segmenter = Segmenter(HearingSettings())
    random = np.random.default_rng(1)
    ended: list[int] = []
    for index in range(400):
        speaks = index < 100
        loudness = 3000 * abs(np.sin(index / 3)) + 20 if speaks else 1500
        frame = (random.normal(size=FRAME_SAMPLES) * loudness).astype(np.int16)
        events = segmenter.hear(frame, 0.97 if speaks else doubt)
        ended += [index for event in events if isinstance(event, SpeechEnded)]
    assert ended
    assert ended[0] * 20 - 2000 <= 3000
    assert not segmenter.speaking


def test_speech_in_noise_is_no_steady_noise_while_the_detector_is_sure() -> None:
    segmenter = Segmenter(HearingSettings())
    random = np.random.default_rng(1)
    events: list[SpeechEvent] = []
    for _ in range(400):
        events += segmenter.hear((random.normal(size=FRAME_SAMPLES) * 1500).astype(np.int16), 0.95)
    assert [type(event) for event in events] == [SpeechStarted]


lines = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.95]), st.integers(1, 60)), min_size=1, max_size=25)
short = HearingSettings(max_speech_ms=2000)


@settings(max_examples=150, deadline=None)
@given(lines)
def test_each_start_has_one_end_and_positions_grow(line: Line) -> None:
    start: int | None = None
    latest = 0
    for event in hear(line, short)[0]:
        match event:
            case SpeechStarted(at=at):
                assert start is None
                start = latest = at
            case SpeechHushed(at, sound) | SpeechPaused(at, sound):
                assert start is not None
                assert start < at
                assert latest <= at
                assert sound.size
                latest = at
            case SpeechResumed(at):
                assert start is not None
                assert latest < at
                latest = at
            case SpeechEnded():
                assert event.start == start
                assert event.start < event.end
                assert latest <= event.end
                assert 0 <= event.voiced_ratio <= 1
                start = None
    assert start is None


@settings(max_examples=150, deadline=None)
@given(lines)
def test_the_parts_are_the_line_itself_and_never_overlap(line: Line) -> None:
    events, sound = hear(line, short)
    before = None
    for part in (event for event in events if isinstance(event, SpeechEnded)):
        end = part.sound_at + part.sound.size
        assert np.array_equal(part.sound, sound[part.sound_at : end])
        assert part.sound_at <= part.start < part.end <= end or part.continues
        assert part.sound.size < to_samples(2000) + FRAME_SAMPLES
        if before is not None:
            last = before.sound_at + before.sound.size
            assert part.sound_at == last if before.continues else part.sound_at >= last
        before = part


@pytest.mark.parametrize("quiet_ms", range(1_960, 2_120, 20))
def test_a_short_word_after_quiet_is_heard_from_its_onset(quiet_ms: int) -> None:
    segmenter = Segmenter(HearingSettings())
    events: list[SpeechEvent] = []
    for at in range(0, quiet_ms + 200 + 1_000, FRAME_MS):
        loud = quiet_ms <= at < quiet_ms + 200
        frame = np.full(FRAME_SAMPLES, 3_000 if loud else 0, dtype=np.int16)
        events += segmenter.hear(frame, 0.95 if loud else 0.01)
    ended = [event for event in events if isinstance(event, SpeechEnded)]
    assert [(to_ms(one.start), to_ms(one.end)) for one in ended] == [(quiet_ms, quiet_ms + 200)]
