"""The splitter of streamed text: tables, and that no word is lost however the text comes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.speech.sentences import Sentences


def split(*pieces: str, first_words: int = 5, max_chars: int = 300) -> list[str]:
    sentences = Sentences(first_words, max_chars)
    return [sentence for piece in pieces for sentence in sentences.feed(piece)] + sentences.flush()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("Hello", ["Hello"]),
        ("Yes. No! Why? Well…", ["Yes.", "No!", "Why?", "Well…"]),
        ("Ask Dr. Smith. He knows.", ["Ask Dr. Smith.", "He knows."]),
        ("It costs $12.50 a day. Fine.", ["It costs $12.50 a day.", "Fine."]),
        ("See https://a.example.com/x.html. Then go.", ["See https://a.example.com/x.html.", "Then go."]),
        ("Bring food, e.g. bread. Thanks.", ["Bring food, e.g. bread.", "Thanks."]),
        ("We open at 9 a.m. on Monday. Come.", ["We open at 9 a.m. on Monday.", "Come."]),
        ("We close at 5 p.m. Come early.", ["We close at 5 p.m.", "Come early."]),
        ("Books, maps, etc. are here. Yes.", ["Books, maps, etc. are here.", "Yes."]),
        ("J. R. Hart wrote it. Good.", ["J. R. Hart wrote it.", "Good."]),
        ("It is I. Open up.", ["It is I.", "Open up."]),
        ("Look at No. 5 there. No. It is closed.", ["Look at No. 5 there.", "No.", "It is closed."]),
        ("1. Bread. 2. Milk.", ["1. Bread.", "2. Milk."]),
        ('He said "Stop!" Then left.', ['He said "Stop!"', "Then left."]),
        ("**Bold.** Next.", ["**Bold.**", "Next."]),
        ("One line\nAnother line", ["One line", "Another line"]),
        ("Code:\n```py\nx = 1. \ny = 2\n```\nDone.", ["Code:", "```py\nx = 1. \ny = 2\n```", "Done."]),
        ("你好。再见！", ["你好。", "再见！"]),
        ("Wait?! Really.", ["Wait?!", "Really."]),
    ],
)
def test_borders(text: str, expected: list[str]) -> None:
    assert split(text) == expected
    assert split(*text) == expected


def test_a_sentence_is_given_as_soon_as_it_is_certain() -> None:
    sentences = Sentences()
    assert sentences.feed("The library is open.") == []
    assert sentences.feed(" ") == ["The library is open."]
    assert sentences.feed("It closes at 5 p.m. ") == []
    assert sentences.feed("S") == ["It closes at 5 p.m."]
    assert sentences.feed("o come!\n") == ["So come!"]


def test_only_the_first_sentence_may_end_at_a_comma_and_only_after_enough_words() -> None:
    text = "Well, the library opens at nine, and it closes at five, as ever. Then, all of us go home, at last."
    assert split(text) == [
        "Well, the library opens at nine,",
        "and it closes at five, as ever.",
        "Then, all of us go home, at last.",
    ]


def test_a_line_break_ends_what_stands_before_it_at_once() -> None:
    assert Sentences().feed("Let me look that up\n") == ["Let me look that up"]


@pytest.mark.parametrize(
    "unit", ["word ", "a", "wordwithoutend", "word, word; ", "``", "```", "1.", "e.g. ", "...", "\n", "``` "]
)
def test_a_hundred_thousand_characters_without_an_end(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    sentences = split(text)
    assert re.sub(r"\s", "", "".join(sentences)) == re.sub(r"\s", "", text)
    assert all(len(sentence) <= 300 for sentence in sentences if not sentence.startswith("```"))


def test_long_sentences_are_cut_between_words() -> None:
    words = {word for sentence in split("lovely " * 200) for word in sentence.split()}
    assert words == {"lovely"}


alphabet = st.sampled_from(
    [
        "word",
        "Dr",
        "e.g",
        "No",
        "5",
        "12",
        "I",
        "etc",
        "p.m",
        ".",
        "!",
        "?",
        ",",
        ";",
        "…",
        "。",
        " ",
        "  ",
        "\n",
        "`",
        "```",
        '"',
        ")",
        "*",
    ]
)
texts = st.lists(alphabet, max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(texts, st.integers(1, 7))
def test_no_word_is_lost_and_pieces_make_no_difference(text: str, step: int) -> None:
    whole = split(text, max_chars=40)
    assert re.sub(r"\s", "", "".join(whole)) == re.sub(r"\s", "", text)
    assert all(sentence == sentence.strip() and sentence for sentence in whole)
    assert split(*(text[start : start + step] for start in range(0, len(text), step)), max_chars=40) == whole
