"""Guesses at unfinished speech: what two agreed on is never rewritten, whatever comes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import compression, runs_away
from voiceagent.voice.guess import Guesses


@pytest.mark.parametrize(
    ("guesses", "text", "stable"),
    [
        (["what time"], "what time", ""),
        (["What time", "what time is"], "What time is", "What time"),
        (["What time, is", "what time was it"], "What time, was it", "What time,"),
        (["What time", ""], "What time", ""),
        (["what", "hello there"], "hello there", ""),
        (["the weather.", "the weather in Rome"], "the weather in Rome", "the weather"),
        (["one two three", "one two three", "one two tree four"], "one two three", "one two three"),
        (["one two", "one two three", "oh one two three four"], "one two three four", "one two three"),
        (["one two", "one two", "nothing like it"], "one two", "one two"),
        (["one two", "one two three", "one two"], "one two three", "one two"),
    ],
    ids=[
        "the first",
        "agreed, in the letters first shown",
        "agreed in part",
        "an empty one",
        "nothing in common",
        "a full stop too early",
        "a settled word heard otherwise later",
        "a word found before what is settled",
        "what is settled is not found",
        "a shorter one",
    ],
)
def test_what_two_guesses_agree_on_stays(guesses: list[str], text: str, stable: str) -> None:
    heard = Guesses()
    for guess in guesses:
        heard.hear(guess)
    assert (heard.text, heard.text[: heard.stable]) == (text, stable)


@given(st.lists(st.lists(st.sampled_from(["one", "two", "Two,", "three.", "four?", "…"]), max_size=6), max_size=12))
def test_the_stable_beginning_only_grows(guesses: list[list[str]]) -> None:
    heard, before = Guesses(), ""
    for guess in guesses:
        shown = heard.text
        assert heard.hear(" ".join(guess)) == (heard.text != shown)
        assert heard.text.startswith(before)
        assert heard.stable >= len(before)
        before = heard.text[: heard.stable]


@pytest.mark.parametrize(
    ("text", "ms", "runs"),
    [
        ("it was the best of times", 1_500, False),
        ("one two three four five six seven", 400, True),
        ("It was the best of times. It was the best of times. It was the best of times.", 5_000, True),
        ("no no no no no no no no no no", 3_000, True),
        ("yes", 120, False),
    ],
    ids=["as people speak", "more than fit", "three times the same", "one word over and over", "short"],
)
def test_guesses_that_repeat_themselves_or_hold_too_many_words_are_not_shown(text: str, ms: int, runs: bool) -> None:
    assert runs_away(Transcript(text, compression=compression(text)), ms) is runs
