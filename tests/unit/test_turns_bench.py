"""The arithmetic by which every system's turns are timed: where sound begins and ends, what a barge-in did, what was heard."""

import numpy as np
import pytest

from benchmarks.peers import hearing, report
from benchmarks.peers.heard import Reference, words_heard
from benchmarks.peers.result import Crowd, Result
from benchmarks.peers.speaker import RATE, Samples, Speaker
from benchmarks.peers.trials import Over, Wait

MS = RATE // 1000


def tone(ms: int, level: float = 0.3) -> Samples:
    wave = np.sin(np.arange(ms * MS) * 2 * np.pi * 300 / RATE) * 32767 * level
    return wave.astype(np.int16)


def silence(ms: int) -> Samples:
    return np.zeros(ms * MS, dtype=np.int16)


def joined(*parts: Samples) -> Samples:
    return np.concatenate(parts)


def test_speech_begins_and_ends_with_its_loud_frames() -> None:
    noise = (np.random.default_rng(1).normal(size=1500 * MS) * 20).astype(np.int16)
    sound = noise + joined(silence(200), tone(500), silence(300), tone(100), silence(400))

    assert hearing.speech_bounds(sound) == (200 * MS, 1100 * MS)


def test_a_tail_that_is_too_soft_is_no_speech() -> None:
    sound = joined(silence(100), tone(500), tone(300, 0.001), silence(100))

    assert hearing.speech_bounds(sound) == (100 * MS, 600 * MS)


@pytest.mark.parametrize(("gap_ms", "count"), [(290, 1), (310, 2)])
def test_soundings_are_parted_by_300_ms(gap_ms: int, count: int) -> None:
    assert len(hearing.soundings(joined(tone(500), silence(gap_ms), tone(500)))) == count


def test_an_answer_is_what_begins_after_the_end() -> None:
    heard = joined(tone(500), silence(500), tone(200))

    assert hearing.first_after(heard, 0) == pytest.approx(0, abs=MS)
    assert hearing.first_after(heard, 400 * MS) == pytest.approx(1000 * MS, abs=MS)
    assert hearing.first_after(heard, 1100 * MS) is None


@pytest.mark.parametrize(
    ("after_ms", "silent_ms"),
    [(2000, None), (600, 600), (290, 290)],
    ids=["it never stops", "it stops", "it stops between words"],
)
def test_silence_after_a_barge_in_lasts_300_ms(after_ms: int, silent_ms: int | None) -> None:
    heard = joined(tone(1000 + after_ms), silence(400 if silent_ms else 0))

    found = hearing.silent_after(heard, 1000 * MS)

    assert found == (None if silent_ms is None else pytest.approx(silent_ms * MS, abs=MS))


def test_a_pause_and_a_coming_back_are_silence_too() -> None:
    heard = joined(tone(1200), silence(800), tone(1500), silence(400))

    assert hearing.silent_after(heard, 1000 * MS) == pytest.approx(200 * MS, abs=MS)


def test_ducking_is_seen_before_silence() -> None:
    heard = joined(tone(1100), tone(250, 0.3 * 10 ** (-18 / 20)), silence(500))

    assert hearing.ducked_after(heard, 1000 * MS) == pytest.approx(100 * MS, abs=10 * MS)
    assert hearing.silent_after(heard, 1000 * MS) == pytest.approx(350 * MS, abs=MS)


def test_who_never_gets_softer_is_never_ducked() -> None:
    words = joined(*(part for _ in range(10) for part in (tone(200), silence(100))))

    assert hearing.ducked_after(words, 1000 * MS) is None


def test_a_speaker_plays_in_order_and_bridges_what_is_a_little_late() -> None:
    speaker = Speaker()
    speaker.play(tone(20), 100 * MS)
    speaker.play(tone(20), 100 * MS)
    speaker.play(tone(20), 150 * MS)
    speaker.play(tone(20), 300 * MS)

    heard = speaker.recording(0, 400 * MS)

    assert hearing.soundings(heard)[0][0] == pytest.approx(100 * MS, abs=MS)
    assert not heard[161 * MS : 299 * MS].any()
    assert heard[300 * MS : 320 * MS].any()


def test_a_cleared_speaker_keeps_what_sounded_to_the_sample() -> None:
    speaker = Speaker()
    speaker.play(tone(500), 0)
    speaker.play(tone(500), 0)

    assert speaker.queued(333) == 1000 * MS - 333
    assert speaker.clear(333) == 1000 * MS - 333
    assert speaker.queued(333) == 0
    assert not speaker.recording(333, 2000 * MS).any()
    np.testing.assert_array_equal(speaker.recording(0, 333), tone(500)[:333])


def test_a_paused_speaker_loses_nothing() -> None:
    speaker = Speaker()
    speaker.play(tone(500), 0)
    speaker.pause(200 * MS)
    speaker.play(tone(100), 300 * MS)

    assert speaker.queued(400 * MS) == 400 * MS
    speaker.resume(700 * MS)

    assert not speaker.recording(200 * MS, 700 * MS).any()
    np.testing.assert_array_equal(speaker.recording(700 * MS, 1000 * MS), tone(500)[200 * MS :])
    np.testing.assert_array_equal(speaker.recording(1000 * MS, 1100 * MS), tone(100))


def test_words_are_found_by_sound_whatever_the_pace_and_the_level() -> None:
    dice = np.random.default_rng(2)
    words = [joined(*(tone_of(int(dice.integers(200, 4000)), 60) for _ in range(4)), silence(40)) for _ in range(8)]
    ends = np.cumsum([word.size for word in words])
    reference = Reference(tuple("abcdefgh"), joined(*words), tuple(int(end) for end in ends))
    slower = [joined(*(np.tile(part, 1) for part in np.array_split(word, 4)), silence(30)) for word in words]

    for count in (2, 5, 8):
        assert words_heard(reference, joined(*words[:count])) == pytest.approx(count, abs=0.3)
        assert words_heard(reference, joined(*slower[:count]) // 8) == pytest.approx(count, abs=0.4)
    assert words_heard(reference, silence(500)) == 0


def tone_of(hertz: int, ms: int) -> Samples:
    overtones = sum(np.sin(np.arange(ms * MS) * 2 * np.pi * hertz * n / RATE) / n for n in (1, 2, 3))
    return (np.asarray(overtones) * 8000).astype(np.int16)


def over(played: float = 0.3, heard: float = 5.2, claimed: int = 5, silent: float | None = 300.0) -> Over:
    return Over("x", 0, 100.0, silent, played, "", 900.0, heard, claimed, 30)


def run(system: str, **values: object) -> Result:
    return Result(system, "default", "1", "3.11", **values)  # type: ignore[arg-type]


def test_cut_offs_are_counted_once_a_pause() -> None:
    waits = [Wait("pauses-0", 500.0, 1, 3, ""), Wait("pauses-1", 500.0, 5, 3, ""), Wait("faster-whisper-jfk", 400.0, 2, 0, "")]

    table = report.tables([run("ours", pauses=waits)])

    assert "| false cut-offs at made pauses | 4 of 6 (" in table
    assert "| starts to speak into Kennedy | 2 |" in table


def test_a_word_more_or_less_is_told_from_two() -> None:
    overs = [over(), over(heard=5.6, claimed=7), over(heard=5.4, claimed=7), over(silent=None, claimed=30)]

    assert report.errors(run("ours", barge=overs)) == [0, 1, 2]


def test_an_answer_that_never_came_was_not_ended_by_a_noise() -> None:
    table = report.tables([run("ours", noises=[over(played=0.0, silent=None), over(played=0.2), over(played=0.97, silent=None)])])

    assert "| noises that ended the answer | 1 of 2 (" in table
    assert "| long answers that never came | 1 of 3 (" in table


def test_calls_a_core_end_where_waits_double_or_somebody_is_left() -> None:
    def crowd(calls: int, p95: float | None, unanswered: int = 0) -> Crowd:
        return Crowd(calls, 4 * calls, unanswered, p95, p95, 0.5, 1.0)

    assert report.calls_a_core(run("ours", crowd=[crowd(1, 400.0), crowd(2, 700.0), crowd(4, 900.0)])) == 2
    assert report.calls_a_core(run("ours", crowd=[crowd(1, 400.0), crowd(2, 700.0, 1)])) == 1


def test_the_rows_that_are_lost_are_named() -> None:
    fast = [Wait("a", 300.0, 0, 0, ""), Wait("b", 320.0, 0, 0, "")]
    slow = [Wait("a", 900.0, 0, 0, ""), Wait("b", 920.0, 0, 0, "")]

    assert "end of speech to first sound" in report.lost([run("ours", waits=slow), run("pipecat", waits=fast)])
    assert "end of speech to first sound" not in report.lost([run("ours", waits=fast), run("pipecat", waits=slow)])


@pytest.mark.parametrize(("yes", "of", "low", "high"), [(0, 24, 0.0, 0.138), (12, 24, 0.314, 0.686), (24, 24, 0.862, 1.0)])
def test_shares_carry_their_interval(yes: int, of: int, low: float, high: float) -> None:
    assert report.wilson(yes, of) == pytest.approx((low, high), abs=0.002)
