"""What is taken for the agent's own words coming back."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.voice.echo import LAG_MS, EchoWords, Stretch

TEXT: Final = "We are open from nine in the morning until 10 at night, okay, and a card is $15. Children don't pay, yes?"
WORDS: Final = TEXT.split()
WORD_MS: Final = 350


def played(text: str = TEXT, *, words: int | None = None, from_ms: int = 1_000) -> EchoWords:
    """What was told of a reply that has sounded for so many words, `WORD_MS` each."""
    echo, said = EchoWords(), text.split()
    end = len(said) if words is None else words
    for at in range((end + 1) * WORD_MS // 100 + 1):
        over = min(end, at * 100 // WORD_MS)
        echo.playing(text, " ".join(said[:over]), from_ms + at * 100)
    return echo


def when(first: int, last: int, late_ms: int = 200) -> Stretch:
    """When the echo of the words from `first` to `last` comes."""
    return Stretch(1_000 + first * WORD_MS + late_ms, 1_000 + last * WORD_MS + late_ms)


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("We are open from nine in the morning", 0, 8),
        ("we're open from nine in the morning.", 0, 8),
        ("Nine in the morning until ten at night", 4, 12),
        ("9 in the morning until 10", 4, 10),
        ("open from nine on the morning", 2, 8),
        ("open from nine the morning", 2, 8),
        ("open from nine in in the morning", 2, 8),
        ("and a card is fifteen dollars. Children do not pay", 13, 20),
        ("and a cart is $15, children don't say", 13, 20),
        ("from nine", 3, 5),
        ("nine", 4, 5),
        ("Okay.", 12, 13),
        ("yes", 20, 21),
    ],
)
def test_what_repeats_what_played_is_echo(said: str, first: int, last: int) -> None:
    assert played(words=min(len(WORDS), last + 2)).repeats(said, when(first, last))


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("", 2, 3),
        ("...", 2, 3),
        ("What about Sunday?", 2, 5),
        ("open on Sunday", 2, 5),
        ("open until ten", 2, 5),
        ("nine morning until", 4, 8),
        ("night at ten until morning", 5, 12),
        ("from nine in the morning and what about Montreal", 3, 11),
        ("okay", 3, 4),
        ("yes", 3, 4),
        ("Okay.", 19, 20),
        ("nine", 14, 15),
        ("nine ten", 5, 10),
        ("stop", 5, 6),
        ("we are open from nine", 16, 19),
    ],
)
def test_what_a_person_says_over_it_is_none(said: str, first: int, last: int) -> None:
    assert not played(words=min(len(WORDS), last + 2)).repeats(said, when(first, last))


@pytest.mark.parametrize(("after_ms", "echo"), [(LAG_MS, True), (LAG_MS + 1, False)])
def test_nothing_is_echo_long_after_the_last_sound(after_ms: int, echo: bool) -> None:
    words = EchoWords()
    words.playing("Until ten at night.", "Until ten at night.", 5_000)
    assert words.repeats("until ten at night", Stretch(5_000 + after_ms, 6_000 + after_ms)) is echo
    assert not EchoWords().repeats("until ten at night", Stretch(0, 100))


@pytest.mark.parametrize(
    ("said", "echo"), [("in the mor", True), ("in the mountain", True), ("in the mountain air", False), ("ni", True)]
)
def test_the_last_of_unfinished_words_may_be_cut_short(said: str, echo: bool) -> None:
    assert played(words=8).repeats(said, when(4, 8), final=False) is echo
    assert not played(words=8).repeats(said, when(4, 8))


def test_words_that_come_again_after_a_pause_are_echo_again() -> None:
    echo = played(words=8)
    echo.playing(TEXT, " ".join(WORDS[:4]), 9_000)
    assert not echo.repeats("nine", Stretch(12_000, 12_300))
    assert echo.repeats("open from nine", Stretch(2_400, 3_200))
    echo.playing(TEXT, " ".join(WORDS[:5]), 12_000)
    assert echo.repeats("nine", Stretch(12_100, 12_400))


def test_two_replies_one_after_the_other_are_both_known() -> None:
    echo = EchoWords()
    echo.playing("One moment.", "One moment.", 1_000)
    echo.playing("It opens at nine.", "It opens", 2_000)
    assert echo.repeats("moment it opens", Stretch(1_200, 2_200))


@given(st.integers(0, len(WORDS) - 1), st.integers(1, 8), st.integers(0, 500))
def test_any_run_of_the_words_is_echo_while_it_sounds(first: int, length: int, late_ms: int) -> None:
    last = min(len(WORDS), first + length)
    said = " ".join(WORDS[first:last])
    assert played(words=last).repeats(said, when(first, last, late_ms))


@given(st.lists(st.sampled_from(["dogs", "why", "green", "seven", "blue"]), min_size=1, max_size=12), st.integers(0, 9_000))
def test_other_words_never_are(said: list[str], from_ms: int) -> None:
    assert not played().repeats(" ".join(said), Stretch(from_ms, from_ms + 400 * len(said)))


@given(st.text(), st.text(), st.integers(0, 10_000))
def test_any_text_is_judged(text: str, said: str, from_ms: int) -> None:
    echo = EchoWords()
    echo.playing(text, text[: len(text) // 2], 5_000)
    echo.repeats(said, Stretch(from_ms, from_ms + 500), final=False)
