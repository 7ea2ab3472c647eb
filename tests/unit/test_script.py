"""What was heard of a reply: by the times of its words where the voice tells them, by letters where it does not."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.audio.frame import to_samples
from voiceagent.speech.engines import Word
from voiceagent.speech.speakable import speakable
from voiceagent.voice.script import Script

STEP_MS = 300


def evenly(aloud: str, *, gap_ms: int = 100) -> list[Word]:
    """Every spoken word lasts 200 ms, with a gap behind it."""
    step = 200 + gap_ms
    return [Word(word, at * step, at * step + 200) for at, word in enumerate(aloud.split())]


def add(script: Script, text: str, words: Sequence[Word] | None, length_ms: int, *, said: str | None = None) -> None:
    """One sentence from its first word to its last sample."""
    said = text if said is None else said
    script.read(text + " ")
    script.begin(text, said, speakable(said), speakable)
    if words is not None:
        script.time(words)
    script.sounded(to_samples(length_ms))
    script.end_sentence()


def heard(script: Script, *at_ms: int) -> list[str]:
    return [script.heard_text(to_samples(at)) for at in at_ms]


def test_a_word_was_heard_once_it_is_over() -> None:
    script = Script()
    add(script, "You can keep it.", evenly("You can keep it."), 1_200)
    assert heard(script, 0, 199, 200, 499, 500, 1_099, 1_100) == [
        "",
        "",
        "You",
        "You",
        "You can",
        "You can keep",
        "You can keep it.",
    ]
    assert [script.spoken_chars(to_samples(at)) for at in (0, 199, 200, 500, 1_200)] == [0, 0, 3, 7, 16]
    assert all(script.exact(to_samples(at)) for at in (0, 100, 250, 1_200))


def test_an_amount_was_heard_once_all_its_words_are_over() -> None:
    script = Script()
    text = "It costs $12.50 and 3 km/h."
    add(script, text, evenly(speakable(text)), 13 * STEP_MS)
    assert speakable(text) == "It costs twelve dollars and fifty cents and three kilometers per hour."
    assert heard(script, 2_000, 2_001, 2_300, 2_600, 3_400, 3_500) == [
        "It costs $12.50",
        "It costs $12.50",
        "It costs $12.50 and",
        "It costs $12.50 and 3",
        "It costs $12.50 and 3",
        "It costs $12.50 and 3 km/h.",
    ]
    assert script.heard_text(to_samples(1_999)) == "It costs"
    assert script.spoken_chars(to_samples(2_000)) == len("It costs $12.50")


def test_what_a_hook_had_said_instead_is_heard_as_it_was_said_and_counted_in_the_replys_own_words() -> None:
    script = Script()
    script.read("My card is 4929.  Thanks.")
    script.begin("My card is 4929.", "My card is hidden.", "My card is hidden.")
    script.time(evenly("My card is hidden."))
    script.sounded(to_samples(1_200))
    assert script.heard_text(to_samples(800)) == "My card is"
    assert script.spoken_chars(to_samples(800)) == len("My card is")
    assert script.heard_text(to_samples(1_100)) == "My card is hidden."
    assert script.spoken_chars(to_samples(1_100)) == len("My card is 4929.")


def test_marks_that_nobody_says_come_with_the_word_before_them() -> None:
    script = Script()
    add(script, "— Yes 🎉 or no —", evenly("Yes or no"), 900)
    assert heard(script, 100, 200, 500, 800) == ["", "— Yes 🎉", "— Yes 🎉 or", "— Yes 🎉 or no —"]


def test_times_may_come_part_by_part_and_what_is_not_known_yet_is_not_heard() -> None:
    script = Script()
    script.read("One two. Three four.")
    script.begin("One two. Three four.", "One two. Three four.")
    script.time(evenly("One two."))
    script.sounded(to_samples(600))
    assert heard(script, 500, 600) == ["One two.", "One two."]
    script.time([Word("Three", 700, 900), Word("four.", 1_000, 1_200)])
    script.sounded(to_samples(700))
    assert heard(script, 600, 899, 900, 1_200) == ["One two.", "One two.", "One two. Three", "One two. Three four."]


def test_a_voice_that_cuts_words_its_own_way_is_understood() -> None:
    script = Script()
    script.read("Twenty-five o'clock, then.")
    script.begin("Twenty-five o'clock, then.", "Twenty-five o'clock, then.")
    script.time(
        [Word("twenty", 0, 200), Word("five", 200, 400), Word("???", 400, 450), Word("OCLOCK", 500, 700), Word("x", 0, 9)]
    )
    script.time([Word("then", 800, 1_000)])
    script.sounded(to_samples(1_000))
    assert heard(script, 399, 400, 700, 1_000) == ["", "Twenty-five", "Twenty-five o'clock,", "Twenty-five o'clock, then."]


def test_without_times_letters_are_equally_long_as_they_are_spoken_and_it_is_marked() -> None:
    script = Script()
    text = "Pay $100 now"
    add(script, text, None, 2_500)
    assert speakable(text) == "Pay one hundred dollars now"
    assert script.heard_text(to_samples(1_000)) == "Pay"
    assert script.heard_text(to_samples(2_200)) == "Pay $100"
    assert not script.exact(to_samples(1_000))
    assert script.exact(to_samples(2_500))


@pytest.mark.parametrize(
    ("at_ms", "start_ms"),
    [(0, 0), (1, 0), (199, 0), (200, 200), (250, 250), (299, 299), (300, 300), (301, 300), (499, 300), (1_150, 1_150),
     (1_200, 1_200), (1_201, 1_200), (1_350, 1_200), (1_450, 1_450), (9_999, 9_999)],
)  # fmt: skip
def test_the_word_that_sounds_began_where_it_did(at_ms: int, start_ms: int) -> None:
    script = Script()
    add(script, "You can keep it.", evenly("You can keep it."), 1_200)
    add(script, "Good.", evenly("Good."), 300)
    assert script.word_start(to_samples(at_ms)) == to_samples(start_ms)


def test_a_word_without_a_time_began_where_its_letters_do() -> None:
    script = Script()
    add(script, "Four five", None, 900)
    assert [script.word_start(to_samples(at)) for at in (100, 450, 600, 899)] == [
        0,
        to_samples(450),
        to_samples(500),
        to_samples(500),
    ]


def test_a_sentence_that_broke_off_had_only_the_words_that_sounded() -> None:
    script = Script()
    script.read("You can keep it. And more.")
    script.begin("You can keep it.", "You can keep it.")
    script.time(evenly("You can keep it."))
    script.sounded(to_samples(600))
    script.fail_sentence()
    script.begin("And more.", "And more.")
    assert script.text == "You can And more."
    assert heard(script, 500, 600, 700) == ["You can", "You can", "You can"]


WORDS = st.sampled_from(
    ["yes", "no", "the", "$12.50", "Dr.", "3", "km/h", "10:30", "2026-11-30", "—", "🎉", "**bold**", "e.g.", "twenty-five", "I"]
)
SENTENCE = st.tuples(
    st.lists(WORDS, min_size=1, max_size=8), st.booleans(), st.integers(0, 400), st.integers(0, 60), st.booleans()
)


@given(st.lists(SENTENCE, max_size=5), st.data())
def test_whatever_is_said_what_was_heard_is_a_beginning_that_grows_and_never_more_than_was_played(
    sentences: list[tuple[list[str], bool, int, int, bool]], data: st.DataObject
) -> None:
    script = Script()
    for words, timed, gap_ms, missing, breaks in sentences:
        text = " ".join(words)
        times = evenly(speakable(text), gap_ms=gap_ms) if timed else None
        script.read(text + "\n")
        script.begin(text, text, speakable(text), speakable)
        if times:
            script.time(times)
        script.sounded(max(1, to_samples((times[-1].end_ms if times else 900) - missing * 20)))
        script.fail_sentence() if breaks else script.end_sentence()
    script.finish()
    positions = sorted(data.draw(st.lists(st.integers(0, script.samples + 999), max_size=12)))
    before, chars = "", 0
    for played in positions:
        now = script.heard_text(played)
        assert script.text.startswith(now)
        assert now.startswith(before)
        assert script.text[len(now) :][:1] in ("", " ") or not now
        assert chars <= script.spoken_chars(played) <= len(script.source)
        assert 0 <= script.word_start(played) <= played
        before, chars = now, script.spoken_chars(played)
    assert script.heard_text(0) == ""
    assert script.heard_text(script.samples) == script.text
