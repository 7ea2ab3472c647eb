"""What of a state is sent to somebody else's classifier."""

import json

import pytest

from tests.unit.turns import state
from voiceagent.judgment.classifier import reading
from voiceagent.judgment.classifier.material import LONGEST_STATE, material, on_one_line
from voiceagent.judgment.classifier.question import (
    ChoiceAnswer,
    ChoiceQuestion,
    ClassifierError,
    ScoreAnswer,
    ScoreQuestion,
    YesNoAnswer,
    YesNoQuestion,
)
from voiceagent.judgment.classifier.questions import QUESTIONS, RESUME, THOUGHT_QUESTIONS
from voiceagent.judgment.listening import LISTENING_QUESTIONS

FULL = state(
    agent={"role": "guide", "listening_only": {"speaker": "Bo", "text": "just listen"}},
    assistant_thought={"thinking": "Tuesday", "want_to_say": ["It is Tuesday."], "urgent": False},
    assistant_cut_off={"was_saying": "It is", "heard_seconds": 1.0},
    weather="sunny",
)


def test_parts_that_no_question_needs_stay_here() -> None:
    sent = material(FULL, QUESTIONS)
    assert set(sent) == {"agent", "people", "recent_turns", "last_turn", "weather"}
    assert sent["agent"] == {"name": "Nova", "role": "guide"}


def test_parts_that_a_question_needs_are_sent() -> None:
    assert "assistant_thought" in material(FULL, THOUGHT_QUESTIONS)
    assert "assistant_cut_off" in material(FULL, {"resume": RESUME})
    assert material(FULL, LISTENING_QUESTIONS)["agent"] == FULL["agent"]
    assert "assistant_thought" in material(FULL, {"answers": YesNoQuestion("Reworded by the host")})
    assert "assistant_cut_off" in material(FULL, {"mine": YesNoQuestion("Was `assistant_cut_off` long?")})


def test_the_state_given_stays_as_it_was() -> None:
    before = json.dumps(FULL)
    material(FULL, QUESTIONS)
    assert json.dumps(FULL) == before


def test_texts_keep_their_ends_and_the_newest_turns_stay() -> None:
    long = state("x" * 3_000 + "?", recent=[("Bo", f"{n}" + "y" * 1_900) for n in range(20)], people=["Ana"] * 100)
    sent = material(long, QUESTIONS)
    assert sent["last_turn"] == {"speaker": "Ana", "text": "x" * 1_999 + "?"}
    assert len(on_one_line(sent)) <= LONGEST_STATE
    recent, people = sent["recent_turns"], sent["people"]
    assert isinstance(recent, list) and isinstance(people, list)
    assert recent == long["recent_turns"][-len(recent) :]  # type: ignore[index]
    assert (len(recent), len(people)) == (7, 40)


def test_a_state_that_cannot_be_bounded_is_not_sent() -> None:
    with pytest.raises(ClassifierError, match="16000"):
        material(state(notes=["z" * 2_000] * 20), QUESTIONS)


def test_one_line_that_any_server_can_read() -> None:
    line = on_one_line(material(state("a\nb\u2028c\x85d\ud800é"), QUESTIONS))
    assert len(line.splitlines()) == 1
    assert json.loads(line)["last_turn"]["text"] == "a\nb\u2028c\x85d?é"
    line.encode()


LEVELS = ScoreQuestion("?", ("low", "mid", "high"))
OPTIONS = ChoiceQuestion("?", ("a", "b"))


def test_numbers_that_fit() -> None:
    assert reading.yes_no("q", 1) == YesNoAnswer(1.0)
    assert reading.yes_no("q", 1.004) == YesNoAnswer(1.0)
    assert reading.score("q", LEVELS, 1.5, {0: 0.0, 2: 0.5, 1: 0.5}) == ScoreAnswer(1.5, (0.0, 0.5, 0.5))
    assert reading.score("q", LEVELS, 2, {}) == ScoreAnswer(2.0)
    assert reading.choice("q", OPTIONS, "b", {"b": 0.9, "a": 0.1}) == ChoiceAnswer("b", {"a": 0.1, "b": 0.9})
    assert reading.choice("q", OPTIONS, "b", {}) == ChoiceAnswer("b", {})


@pytest.mark.parametrize("wrong", [None, True, "0.5", float("nan"), float("inf"), 1.5, -0.2, [], {}])
def test_numbers_that_do_not(wrong: object) -> None:
    with pytest.raises(ClassifierError, match="q"):
        reading.yes_no("q", wrong)
    with pytest.raises(ClassifierError, match="q"):
        reading.score("q", LEVELS, wrong if wrong != 1.5 else 3, {})
    with pytest.raises(ClassifierError, match="q"):
        reading.score("q", LEVELS, 1, {0: wrong, 1: 0.0, 2: 0.0})
    with pytest.raises(ClassifierError, match="q"):
        reading.choice("q", OPTIONS, "a", {"a": wrong, "b": 0.0})


def test_levels_and_options_must_be_those_of_the_question() -> None:
    for levels in ({0: 1.0}, {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}, {-1: 1.0}):
        with pytest.raises(ClassifierError, match="levels"):
            reading.score("q", LEVELS, 1.0, levels)
    for chosen in ("c", None, True, ["a"]):
        with pytest.raises(ClassifierError, match="none of a, b"):
            reading.choice("q", OPTIONS, chosen, {})
    with pytest.raises(ClassifierError, match="options"):
        reading.choice("q", OPTIONS, "a", {"a": 1.0})
