"""What a listener has heard: never more than was handed over, never less than before (statement 118)."""

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.audio.frame import FRAME_SAMPLES
from voiceagent.voice.playback import Playback
from voiceagent.voice.script import Script

Step = tuple[str, int]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("own"), st.just(0)),
        st.tuples(st.just("other"), st.just(0)),
        st.tuples(st.just("leave"), st.integers(1, 4 * FRAME_SAMPLES)),
        st.tuples(st.just("clear"), st.just(0)),
        st.tuples(st.just("lose"), st.integers(1, 3)),
    ),
    max_size=80,
)


def test_nothing_is_heard_before_the_first_frame() -> None:
    assert Playback().played_ms(0) == 0
    assert Playback().played(1_000) == 0


def test_what_waits_at_the_line_has_not_been_heard() -> None:
    playback = Playback()
    for _ in range(10):
        playback.hand(own=True)
    assert playback.played_ms(3 * FRAME_SAMPLES) == 140
    assert not playback.through(1)
    assert playback.through(0)
    assert playback.played_ms(0) == 200


def test_other_sound_behind_the_reply_is_not_the_reply() -> None:
    playback = Playback()
    playback.hand(own=True)
    playback.hand(own=False)
    playback.hand(own=False)
    assert playback.played(2 * FRAME_SAMPLES) == FRAME_SAMPLES
    assert playback.played(2 * FRAME_SAMPLES + 20) == FRAME_SAMPLES


def test_what_the_line_threw_away_since_too_much_waited_has_not_been_heard() -> None:
    playback = Playback()
    for _ in range(10):
        playback.hand(own=True)
    playback.lose(2 * FRAME_SAMPLES, 3 * FRAME_SAMPLES)
    assert playback.played_ms(3 * FRAME_SAMPLES) == 100
    playback.drop(FRAME_SAMPLES)
    assert playback.played_ms(0) == 140
    assert playback.through(0)


def test_a_cut_counts_what_left_before_it() -> None:
    playback = Playback()
    for _ in range(10):
        playback.hand(own=True)
    playback.drop(4 * FRAME_SAMPLES)
    assert playback.played_ms(0) == 120
    assert playback.dropped == 4 * FRAME_SAMPLES


@given(STEPS)
def test_a_position_is_the_truth_of_a_simulated_line(steps: list[Step]) -> None:
    playback = Playback()
    line: list[bool] = []
    heard = before = 0
    for step, samples in steps:
        match step:
            case "own" | "other":
                playback.hand(own=step == "own")
                line += [step == "own"] * FRAME_SAMPLES
            case "leave":
                heard += sum(line[:samples])
                del line[:samples]
            case "lose":
                lost = min(len(line), (len(line) % FRAME_SAMPLES or FRAME_SAMPLES) + (samples - 1) * FRAME_SAMPLES)
                del line[:lost]
                playback.lose(lost, len(line))
            case _:
                playback.drop(len(line))
                line.clear()
        played = playback.played(len(line))
        assert played == heard
        assert before <= played <= playback.handed
        before = played


@given(
    st.lists(st.tuples(st.text("ab c.", min_size=1, max_size=30), st.integers(0, 40_000)), max_size=8),
    st.lists(st.integers(0, 400_000), max_size=20),
)
def test_heard_words_are_a_prefix_and_grow_with_what_is_played(sentences: list[tuple[str, int]], positions: list[int]) -> None:
    script = Script()
    for sentence, samples in sentences:
        script.read(sentence + "\n")
        script.begin(sentence, sentence)
        script.sounded(samples)
        script.end_sentence()
    script.finish()
    heard = [script.spoken_chars(played) for played in sorted(positions)]
    assert heard == sorted(heard)
    assert all(0 <= chars <= len(script.source) for chars in heard)
    assert script.spoken_chars(0) == 0


def test_half_the_sound_is_half_the_letters() -> None:
    script = Script()
    script.read("One two. Three four five.")
    script.begin("One two.", "One two.")
    script.sounded(8_000)
    script.end_sentence()
    script.begin("Three four five.", "3 4 5.")
    script.sounded(16_000)
    assert script.text == "One two. 3 4 5."
    assert script.spoken_chars(4_000) == 4
    assert script.spoken_chars(8_000) == 8
    script.end_sentence()
    assert script.spoken_chars(16_000) == 8 + 17 // 2
    assert script.spoken_chars(24_000) == len(script.source)


def test_a_sentence_that_is_not_said_is_passed_over() -> None:
    script = Script()
    script.read("No.  Yes.")
    script.skip("No.")
    script.begin("Yes.", "Yes.")
    script.sounded(100)
    script.end_sentence()
    assert script.text == "Yes."
    assert script.spoken_chars(100) == 9
