"""The scripted classifier, and answers read as what they are."""

import pytest

from tests.unit.turns import answers, run
from voiceagent.judgment.classifier.mock import MockClassifier, Script, Scripted
from voiceagent.judgment.classifier.question import (
    Answers,
    ChoiceAnswer,
    ChoiceQuestion,
    ClassifierError,
    Question,
    ScoreAnswer,
    ScoreQuestion,
    YesNoAnswer,
    YesNoQuestion,
)

QUESTIONS: dict[str, Question] = {
    "sure": YesNoQuestion("?"),
    "how": ScoreQuestion("?", ("low", "mid", "high")),
    "which": ChoiceQuestion("?", ("a", "b")),
}


def asked(script: Script) -> Answers:
    return run(MockClassifier(script).classify({}, QUESTIONS))


def test_what_is_not_scripted_is_no_the_lowest_and_the_first() -> None:
    assert asked({}).judgments() == {"sure": 0.0, "how": 0.0, "which=a": 1.0}


@pytest.mark.parametrize(
    ("script", "judged"),
    [
        ({"sure": 0.7, "how": 1.5, "which": "b"}, {"sure": 0.7, "how": 1.5, "which=b": 1.0}),
        ({"sure": 1, "how": "high"}, {"sure": 1.0, "how": 2.0, "which=a": 1.0}),
        (
            {"sure": YesNoAnswer(0.2), "how": ScoreAnswer(0.5), "which": ChoiceAnswer("b", {"b": 0.6})},
            {"sure": 0.2, "how": 0.5, "which=b": 0.6},
        ),
    ],
)
def test_scripts(script: Script, judged: dict[str, float]) -> None:
    assert asked(script).judgments() == judged


@pytest.mark.parametrize(
    ("name", "scripted"),
    [
        ("sure", "yes"),
        ("how", "middling"),
        ("which", "c"),
        ("which", 1.0),
        ("sure", ScoreAnswer(1.0)),
        ("how", YesNoAnswer(1.0)),
        ("which", YesNoAnswer(1.0)),
    ],
)
def test_a_script_that_does_not_fit(name: str, scripted: Scripted) -> None:
    with pytest.raises(ClassifierError, match=name):
        asked({name: scripted})


def test_scripts_in_order_the_last_again_and_every_call_kept() -> None:
    mock = MockClassifier([{"sure": 1.0}, {"sure": 0.5}])
    given = [run(mock.classify({"n": n}, QUESTIONS)).probability("sure") for n in range(3)]
    assert given == [1.0, 0.5, 0.5]
    assert [state for state, _ in mock.calls] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_an_error_is_raised_and_the_call_kept() -> None:
    mock = MockClassifier(error=ClassifierError("down"))
    with pytest.raises(ClassifierError, match="down"):
        run(mock.classify({}, QUESTIONS))
    assert len(mock.calls) == 1


def test_answers_are_read_as_what_they_are() -> None:
    given = answers({"language": "English"}, directness=2.0, hush=0.3)
    assert (given.probability("hush"), given.score("directness"), given.choice("language")) == (0.3, 2.0, "English")
    assert (given.probability("x"), given.score("x"), given.choice("x")) == (0.0, 0.0, None)
    for wrong in (lambda: given.probability("directness"), lambda: given.score("hush"), lambda: given.choice("hush")):
        with pytest.raises(TypeError):
            wrong()


def test_changed_answers_leave_the_first_as_they_were() -> None:
    given = answers(hush=0.3)
    changed = given.having({"hush": YesNoAnswer(0.9), "more": YesNoAnswer(0.1)})
    assert changed.judgments() == {"hush": 0.9, "more": 0.1}
    assert given.all() == {"hush": YesNoAnswer(0.3)}


@pytest.mark.parametrize("make", [lambda: ScoreQuestion("?", ("one",)), lambda: ChoiceQuestion("?", ("one",))])
def test_one_level_or_option_is_no_question(make: object) -> None:
    with pytest.raises(ValueError, match="at least two"):
        make()  # type: ignore[operator]
