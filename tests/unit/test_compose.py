"""The rules: each row of the table at its threshold and just under it."""

import pytest

from tests.unit.turns import answers, turn
from voiceagent.judgment.compose import (
    Circumstances,
    Eagerness,
    Outcome,
    asked_to_listen,
    compose,
    leaves_free,
    lifted,
    outcome,
    put_to_itself,
)
from voiceagent.judgment.policy import SpeakTurn
from voiceagent.judgment.thought import Thought

UNDER = 0.001
SPEAK = {"directness": 3.0, "request": 1.0}
THOUGHT = Thought("It is about Tuesday.", ("It is on Tuesday.",))
URGENT = Thought("It is about Tuesday.", ("It is on Tuesday.",), urgent=True)


TWO, ALONE, NOBODY = turn(), turn(people=("Ana",)), turn(people=())
THINKING, PRESSED = turn(thought=THOUGHT), turn(thought=URGENT)


def decided(asked: SpeakTurn = TWO, proactivity: float = 0.5, /, **numbers: float) -> tuple[str, str]:
    decision = compose(asked, answers(**numbers), Eagerness(proactivity))
    assert decision.judgments == numbers
    assert not decision.final
    return decision.mode, decision.reason


@pytest.mark.parametrize(
    ("name", "reason"), [("unfinished", "not finished"), ("deferred", "postponed"), ("hush", "asked to keep quiet")]
)
def test_s07_70_rows_1_to_3_hold_back_whatever_else_is_said(name: str, reason: str) -> None:
    rest = {**SPEAK, "answered": 1.0, "answers": 1.0}
    assert decided(**rest, **{name: 0.5}) == ("silent", reason)
    assert decided(**rest, **{name: 0.5 - UNDER}) == ("speak", "answers its question")


def test_s07_70_rows_1_to_3_are_read_in_order() -> None:
    assert decided(unfinished=0.5, deferred=0.5, hush=0.5)[1] == "not finished"
    assert decided(deferred=0.5, hush=0.5)[1] == "postponed"


def test_s07_70_row_4_an_answer_to_the_agents_question() -> None:
    assert decided(answered=0.5) == ("speak", "answers its question")
    assert decided(answered=0.5 - UNDER) == ("silent", "not addressed")


def test_s07_70_row_5_addressed() -> None:
    assert decided(directness=1.5) == ("speak", "addressed")
    assert decided(directness=1.5 - UNDER) == ("offer", "wondered about")
    assert decided(request=0.5, directness=0.75) == ("speak", "addressed")
    assert decided(request=0.5 - UNDER, directness=0.75) == ("offer", "wondered about")


def test_s07_71_a_request_of_the_only_person_needs_no_address() -> None:
    assert decided(ALONE, request=0.5) == ("speak", "addressed")
    assert decided(ALONE, request=0.5 - UNDER) == ("silent", "not addressed")
    assert decided(TWO, request=0.5, directness=0.74) == ("silent", "not addressed")
    assert decided(NOBODY, request=1.0) == ("silent", "not addressed")


def test_s07_70_row_6_wondered_about() -> None:
    assert decided(directness=0.75) == ("offer", "wondered about")
    assert decided(directness=0.75 - UNDER) == ("silent", "not addressed")
    for useful in ("answers", "corrects"):
        assert decided(THINKING, directness=0.75, **{useful: 0.5}) == ("speak", "knows the answer")
        assert decided(THINKING, directness=0.75, **{useful: 0.5 - UNDER}) == ("offer", "wondered about")


@pytest.mark.parametrize("useful", ["answers", "corrects"])
@pytest.mark.parametrize("proactivity", [0.2, 0.5, 0.8, 1.0])
def test_s07_70_row_7_something_to_add(useful: str, proactivity: float) -> None:
    def offered(value: float, asked: SpeakTurn = THINKING) -> tuple[str, str]:
        return decided(asked, proactivity, **{useful: value})

    assert offered(proactivity) == ("offer", "has something to add")
    assert offered(proactivity - UNDER) == ("silent", "not addressed")
    assert offered(proactivity / 2, PRESSED) == ("offer", "urgent")
    assert offered(proactivity / 2 - UNDER, PRESSED) == ("silent", "not addressed")


def test_s07_70_row_8_missing_judgments_read_nothing() -> None:
    assert decided() == ("silent", "not addressed")


def test_s07_77_urgency_alone_never_offers() -> None:
    assert decided(PRESSED, 0.01) == ("silent", "not addressed")


@pytest.mark.parametrize("proactivity", [0.0, -0.1, 1.01, float("nan")])
def test_s07_77_a_proactivity_out_of_range(proactivity: float) -> None:
    with pytest.raises(ValueError, match="proactivity"):
        Eagerness(proactivity)


def test_s07_80_a_question_to_somebody_else_is_theirs_first() -> None:
    assert decided(THINKING, answers=1.0, waiting=0.5) == ("silent", "theirs to answer")
    assert decided(THINKING, answers=1.0, waiting=0.5 - UNDER) == ("offer", "has something to add")
    assert decided(THINKING, answers=1.0, waiting=0.5, directness=0.75) == ("offer", "wondered about")
    assert decided(PRESSED, answers=1.0, waiting=1.0) == ("offer", "urgent")
    assert decided(PRESSED, answers=1.0, waiting=1.0, directness=0.75) == ("speak", "knows the answer")
    assert decided(THINKING, waiting=1.0, directness=1.5) == ("speak", "addressed")


def test_s07_108_a_cut_answer_is_gone_on_with() -> None:
    assert leaves_free(answers(resume=0.4))
    assert not leaves_free(answers(resume=0.4 - UNDER))
    assert leaves_free(answers(resume=0.4, deferred=1.0, hush=0.49, unfinished=0.49))
    assert not leaves_free(answers(resume=1.0, hush=0.5))
    assert not leaves_free(answers(resume=1.0, unfinished=0.5))


def test_s07_83_what_a_listening_agent_answers() -> None:
    assert put_to_itself(answers(asked_me=0.5, directness=2.0))
    assert not put_to_itself(answers(asked_me=0.5 - UNDER, directness=3.0))
    assert not put_to_itself(answers(asked_me=1.0, directness=2.0 - UNDER))
    for name in ("unfinished", "deferred", "hush"):
        assert not put_to_itself(answers(asked_me=1.0, directness=3.0, **{name: 0.5}))
        assert put_to_itself(answers(asked_me=1.0, directness=3.0, **{name: 0.5 - UNDER}))


def test_s07_81_84_the_request_to_listen_and_its_end() -> None:
    assert asked_to_listen(answers(listen_request=0.5))
    assert not asked_to_listen(answers(listen_request=0.5 - UNDER))
    assert lifted(answers(lift=0.5))
    assert not lifted(answers(lift=0.5 - UNDER))


@pytest.mark.parametrize(
    ("circumstances", "numbers", "expected"),
    [
        (Circumstances(), {}, Outcome("silent")),
        (Circumstances(), {"directness": 0.75}, Outcome("offer")),
        (Circumstances(), {"listen_request": 0.5, "directness": 3.0}, Outcome("silent", listens=True)),
        (Circumstances(alone=True), {"request": 0.5}, Outcome("speak")),
        (Circumstances(urgent=True), {"answers": 0.25}, Outcome("offer")),
        (Circumstances(listening=True), {"directness": 3.0, "request": 1.0}, Outcome("silent", listens=True)),
        (Circumstances(listening=True), {"directness": 2.0, "asked_me": 0.5}, Outcome("speak", listens=True)),
        (Circumstances(listening=True), {"directness": 1.5, "lift": 0.5}, Outcome("speak")),
        (Circumstances(listening=True), {"lift": 0.5}, Outcome("silent")),
        (Circumstances(cut=True), {"resume": 0.4, "deferred": 1.0}, Outcome("speak", resumes=True)),
        (Circumstances(cut=True), {"resume": 0.39}, Outcome("silent")),
        (Circumstances(cut=True, listening=True), {"resume": 1.0}, Outcome("silent", listens=True)),
    ],
)
def test_all_the_rules_together(circumstances: Circumstances, numbers: dict[str, float], expected: Outcome) -> None:
    assert outcome(circumstances, answers(**numbers)) == expected
