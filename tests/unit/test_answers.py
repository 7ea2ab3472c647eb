"""The answer matcher: what it takes, reads back and leaves alone, over the labelled utterances and beyond them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.answers.measure import HERE, false_accepts, is_blind, misses, needless, tried
from voiceagent.judgment.answers.asked import AskedQuestion, Found
from voiceagent.judgment.answers.matcher import LONGEST, agrees, matched
from voiceagent.judgment.answers.reading import said, tokens

DAY = AskedQuestion("q1", "Which day suits you?", ("Tuesday", "Thursday"), spoken_last=True)
SEND = AskedQuestion("q2", "Shall I send it?", ("Yes", "No"), spoken_last=True)
GUESTS = AskedQuestion("q3", "How many people will come?", spoken_last=True)
NAMES = sorted((HERE / "written").glob("*.txt"))


@pytest.mark.parametrize(("blind", "missed"), [(False, 1 / 8), (True, 0.4)], ids=["written first", "blind"])
def test_the_labelled_utterances(blind: bool, missed: float) -> None:
    """The bound on misses of the blind ones is what is true, not the aim of one in eight: lower it with a better matcher."""
    done = tried([path for path in NAMES if is_blind(path) == blind])
    assert len(done) >= 150
    assert false_accepts(done).count * 200 <= len(done)
    assert (misses(done).share or 0) <= missed
    assert (needless(done).share or 0) <= 0.1


@pytest.mark.parametrize(
    ("asked", "utterance", "expected"),
    [
        ((DAY,), "Thursday", Found("q1", 1, None, 0.95)),
        ((DAY,), "Maybe Thursday", Found("q1", 1, None, 0.6)),
        ((DAY,), "I saw her on Thursday", None),
        ((SEND,), "Yes", Found("q2", 0, None, 0.95)),
        ((SEND,), "Yes, and then we went home", None),
        ((GUESTS,), "Four of us", Found("q3", None, "Four of us", 0.95)),
        ((DAY, SEND), "Yes", Found("q2", 0, None, 0.95)),
        ((), "Yes", None),
        ((DAY,), "", None),
        ((DAY,), "?!", None),
        ((DAY,), "Thursday " * LONGEST, None),
    ],
)
def test_one_utterance(asked: tuple[AskedQuestion, ...], utterance: str, expected: Found | None) -> None:
    assert matched(asked, utterance, "en") == expected


@pytest.mark.parametrize(
    ("utterance", "expected"),
    [("Yes.", True), ("Yes, please.", True), ("Exactly", True), ("No.", False), ("No, not that one", False), ("Yes, no", None),
     ("Yes, I saw him yesterday", None), ("What?", None), ("Thursday", None), ("", None)],
)  # fmt: skip
def test_what_is_read_back_is_meant_or_not(utterance: str, expected: bool | None) -> None:
    assert agrees(utterance, "en") is expected


def test_a_question_that_was_not_said_last_is_not_answered_by_a_yes_or_by_a_place() -> None:
    asked = [AskedQuestion(one.question_id, one.question, one.options) for one in (DAY, SEND, GUESTS)]
    assert [matched(asked, text, "en") for text in ("Yes", "No", "The second one", "Four")] == [None] * 4


def test_times_and_figures_are_the_same_however_they_are_written() -> None:
    assert tokens("half past six", "en") == tokens("6:30", "en") == tokens("six thirty", "en") == ("6", "30")
    assert tokens("forty-five euros", "en") == tokens("45 euros", "en")
    assert tokens("à huit heures", "fr") == tokens("à 8 heures", "fr") == ("a", "8")
    assert tokens("a las nueve y media", "es") == ("a", "las", "9", "30")


def test_clauses_end_at_punctuation_and_at_what_takes_back() -> None:
    heard = said("Tuesday no wait Thursday, please", "en")
    assert [(clause.words, clause.taken_back) for clause in heard.clauses] == [
        (("tuesday",), False),
        (("no",), True),
        (("thursday",), True),
        (("please",), False),
    ]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.sampled_from(["en", "fr", "es", "de", ""]))
def test_whatever_is_said_something_of_it_is_answered_or_nothing(utterance: str, language: str) -> None:
    found = matched((DAY, SEND, GUESTS), utterance, language)
    assert found is None or (found.option is None) != (found.text is None)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=30), st.text(max_size=40))
def test_odd_questions_and_options_break_nothing(options: list[str], question: str, utterance: str) -> None:
    asked = AskedQuestion("q1", question, tuple(options), spoken_last=True)
    found = matched((asked,), utterance, "en")
    assert found is None or found.option is None or 0 <= found.option < len(options)
