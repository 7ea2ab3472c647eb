"""Questions: what may be asked, what may be answered, and how one is written down."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.errors import StoreError
from voiceagent.room.questions.question import Answer, Asking, Question
from voiceagent.room.questions.rows import decode_question, encode_question

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def question(**more: object) -> Question:
    asking = Asking("Which Tuesday?", ("the 3rd", "the 10th"))
    return replace(Question("q1", "r", "r", "nova", "g1", asking, AT), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asking",
    [
        Asking("q" * 500),
        Asking("Eight?", tuple("abcdefgh")),
        Asking("None?", ()),
        Asking("With detail?", detail="d" * 2_000),
        Asking("Own line?", ("yes", "no"), recommendation="ask Vera first"),
        Asking("Marked?", ("yes", "no"), recommendation="yes"),
        Asking("Urgent?", urgency="now"),
    ],
)
def test_q2_to_q8_what_is_within_the_limits_is_taken(asking: Asking) -> None:
    assert asking.refusal() is None


@pytest.mark.parametrize(
    ("asking", "why"),
    [
        (Asking("q" * 501), "the question has 501 characters, and at most 500"),
        (Asking("  \n"), "the question is empty"),
        (Asking("Nine?", tuple("abcdefghi")), "there are 9 options, and at most 8"),
        (Asking("Detail?", detail="d" * 2_001), "the detail has 2001 characters, and at most 2000"),
        (Asking("Blank?", ("yes", " ")), "an option is empty"),
        (Asking("Twice?", ("Yes", "yes ")), "two options are the same"),
        (Asking("Long?", ("o" * 201,)), "an option has more than 200 characters"),
        (Asking("Line?", recommendation="r" * 501), "the recommendation has 501 characters"),
        (Asking("Line?", recommendation=""), "the recommendation is empty"),
        (Asking("Whom?", asked_of=tuple(map(str, range(21)))), "it is asked of 21 people"),
    ],
)
def test_q2_to_q8_what_is_beyond_is_refused_in_words_that_say_what_to_change(asking: Asking, why: str) -> None:
    assert why in (asking.refusal() or "")


def test_q8_urgency_is_normal_unless_said() -> None:
    assert Asking("When?").urgency == "normal"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer("button", (0,)), None),
        (Answer("text", text="neither, the 17th"), None),
        (Answer("text", (1,), "the 10th, but after noon"), None),
        (Answer("button", (2,)), "no_such_option"),
        (Answer("button", (-1,)), "no_such_option"),
        (Answer("button", (0, 1)), "one_option"),
        (Answer("text", text="  "), "empty"),
        (Answer("button"), "empty"),
        (Answer("text", text="x" * 4_001), "too_long"),
    ],
)
def test_q19_an_answer_is_an_option_or_own_words(answer: Answer, why: str | None) -> None:
    assert question().refusal(answer) == why


def test_q60_several_options_may_be_chosen_where_the_card_says_so() -> None:
    card = question(kind="blocking", asking=Asking("Which?", ("a", "b", "c"), multiple=True))
    assert card.refusal(Answer("button", (0, 2))) is None


def test_what_is_put_to_somebody_is_answered_by_nobody_else() -> None:
    put = question(asking=Asking("Ada?", asked_of=("ada",)))
    assert put.refusal(Answer("text", text="yes", participant_id="ada")) is None
    assert put.refusal(Answer("text", text="yes", participant_id="bob")) == "not_asked_of"
    assert put.refusal(Answer("text", text="yes")) == "not_asked_of"


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
_ANSWERS = st.builds(Answer, st.sampled_from(["button", "text", "voice", "dtmf"]), st.tuples(st.integers(0, 7)), _TEXT)


@given(_TEXT, st.lists(_TEXT, max_size=8).map(tuple), st.none() | _ANSWERS, st.booleans())
def test_a_question_comes_back_from_json_as_it_was(
    text: str, options: tuple[str, ...], answer: Answer | None, told: bool
) -> None:
    asked = question(asking=Asking(text, options, text, text), answer=answer, told=told, ended_at=AT, parent_event_id=text)
    assert decode_question(encode_question(asked)) == asked


def test_what_no_json_can_hold_is_refused() -> None:
    with pytest.raises(StoreError, match="cannot be written as JSON"):
        encode_question(question(asking=Asking("\ud800")))
    with pytest.raises(StoreError, match="cannot be read"):
        decode_question('{"question_id": 1}')
