"""The cheap classifier first, the better one where it is close; backchannels without either; and the carried-over address."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

import pytest

from tests.unit.turns import run, state
from voiceagent.judgment.classifier.backchannel import Backchannels
from voiceagent.judgment.classifier.carry_over import CarryOver
from voiceagent.judgment.classifier.cascade import CascadeClassifier, circumstances_of
from voiceagent.judgment.classifier.mock import MockClassifier, Script
from voiceagent.judgment.classifier.question import (
    Answers,
    ChoiceQuestion,
    Classifier,
    ClassifierError,
    Question,
    State,
    YesNoQuestion,
)
from voiceagent.judgment.classifier.questions import QUESTIONS, RESUME, THOUGHT_QUESTIONS
from voiceagent.judgment.compose import Circumstances
from voiceagent.judgment.listening import LISTEN_REQUEST, LISTENING_QUESTIONS
from voiceagent.values import JSON

OPEN: Mapping[str, Question] = {**QUESTIONS, "listen_request": LISTEN_REQUEST}
QUIET: Mapping[str, Question] = {**QUESTIONS, **LISTENING_QUESTIONS}
THOUGHT: JSON = {"thinking": "", "want_to_say": ["It is Tuesday."], "urgent": True}
CUT: JSON = {"was_saying": "It will be sunny and", "heard_seconds": 1.2}
LISTENS: Mapping[str, JSON] = {"listening_only": {"speaker": "Bo", "text": "just listen"}}
AGENT_SPOKE = (("Ana", "What is it?"), ("Nova", "It is noon."))


class Asleep:
    closed = False

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None:
        self.closed = True


def asks_better(first: Script, given: State, questions: Mapping[str, Question] = OPEN, proactivity: float = 0.5) -> bool:
    better = MockClassifier({})
    cascade = CascadeClassifier(MockClassifier(first), better, proactivity=proactivity)
    answers = run(cascade.classify(given, questions))
    assert set(answers.all()) == set(questions)
    taken = {} if better.calls else first
    assert answers.judgments() == {name: float(taken.get(name, 0.0)) for name in questions}  # type: ignore[arg-type]
    return bool(better.calls)


ALONE = state(people=["Ana"])


@pytest.mark.parametrize(
    ("first", "given", "close"),
    [
        ({}, state(), False),
        ({"directness": 3.0, "request": 1.0}, state(), False),
        # request, alone: the threshold is 0.5
        ({"request": 0.5}, ALONE, True),
        ({"request": 0.3}, ALONE, True),
        ({"request": 0.29}, ALONE, False),
        ({"request": 0.7}, ALONE, False),
        ({"request": 0.69}, ALONE, True),
        # among others it matters only where directness could reach 0.75
        ({"request": 0.5}, state(), False),
        ({"request": 1.0, "directness": 0.34}, state(), False),
        ({"request": 1.0, "directness": 0.35}, state(), True),
        ({"directness": 1.9}, state(), False),
        ({"directness": 1.89}, state(), True),
        ({"directness": 1.1}, state(), True),
        # what is held back either way
        ({"unfinished": 0.7, "request": 0.5}, ALONE, False),
        ({"unfinished": 0.6, "request": 0.1}, ALONE, False),
        ({"unfinished": 0.6, "request": 0.9}, ALONE, True),
        # whether the room listens from then on counts, even when the turn is silent either way
        ({"listen_request": 0.4}, state(), True),
        ({"listen_request": 0.9, "request": 0.5}, ALONE, False),
        # two small shifts together
        ({"hush": 0.6, "deferred": 0.6, "directness": 3.0}, state(), True),
    ],
)
def test_better_is_asked_only_where_a_small_shift_would_change_the_decision(first: Script, given: State, close: bool) -> None:
    assert asks_better(first, given) is close


@pytest.mark.parametrize(
    ("first", "given", "questions", "close"),
    [
        ({"lift": 0.4}, state(agent=LISTENS), QUIET, True),
        ({"lift": 0.1, "request": 0.5}, state(agent=LISTENS, people=["Ana"]), QUIET, False),
        ({"asked_me": 0.6, "directness": 3.0}, state(agent=LISTENS), QUIET, True),
        ({"asked_me": 0.6, "directness": 1.0}, state(agent=LISTENS), QUIET, False),
        ({"asked_me": 1.0, "directness": 2.3}, state(agent=LISTENS), QUIET, True),
        ({"resume": 0.5}, state("no but", assistant_cut_off=CUT), {**OPEN, "resume": RESUME}, True),
        ({"resume": 0.61}, state("no but", assistant_cut_off=CUT), {**OPEN, "resume": RESUME}, False),
        ({"resume": 0.1}, state("no but", assistant_cut_off=CUT), {**OPEN, "resume": RESUME}, False),
        ({"answers": 0.4}, state(assistant_thought=THOUGHT), {**OPEN, **THOUGHT_QUESTIONS}, True),
        ({"answers": 0.46}, state(assistant_thought=THOUGHT), {**OPEN, **THOUGHT_QUESTIONS}, False),
        ({"answers": 0.04}, state(assistant_thought=THOUGHT), {**OPEN, **THOUGHT_QUESTIONS}, False),
    ],
)
def test_in_other_states(first: Script, given: State, questions: Mapping[str, Question], close: bool) -> None:
    assert asks_better(first, given, questions) is close


def test_the_proactivity_is_the_policys() -> None:
    given, asked = state(assistant_thought={**THOUGHT, "urgent": False}), {**OPEN, **THOUGHT_QUESTIONS}  # type: ignore[dict-item]
    assert asks_better({"answers": 0.8}, given, asked, proactivity=0.9)
    assert not asks_better({"answers": 0.8}, given, asked, proactivity=0.5)


def test_many_close_answers_are_no_certainty() -> None:
    assert asks_better(dict.fromkeys(OPEN, 0.5), state())


def test_the_better_answers_count() -> None:
    cascade = CascadeClassifier(MockClassifier({"request": 0.5}), MockClassifier({"request": 0.1}))
    assert run(cascade.classify(ALONE, OPEN)).probability("request") == 0.1


@pytest.mark.parametrize("better", [Asleep(), MockClassifier(error=ClassifierError("down")), MockClassifier(error=OSError())])
def test_the_first_answers_stand_when_the_better_classifier_fails(better: Classifier, caplog: pytest.LogCaptureFixture) -> None:
    cascade = CascadeClassifier(MockClassifier({"request": 0.5}), better, budget=0.3)

    async def timed() -> tuple[float, Answers]:
        began = asyncio.get_running_loop().time()
        answers = await cascade.classify(ALONE, OPEN)
        return asyncio.get_running_loop().time() - began, answers

    took, answers = run(timed())
    assert answers.probability("request") == 0.5
    assert took == pytest.approx(0.3 if isinstance(better, Asleep) else 0.0)
    assert caplog.record_tuples[-1][1] == logging.WARNING


def test_the_better_classifier_is_asked_when_the_first_fails() -> None:
    down = MockClassifier(error=ClassifierError("down"))
    assert run(CascadeClassifier(down, MockClassifier({"request": 1.0})).classify(ALONE, OPEN)).probability("request") == 1.0
    with pytest.raises(ClassifierError, match="down"):
        run(CascadeClassifier(down, down).classify(ALONE, OPEN))
    with pytest.raises(ClassifierError, match="1 s"):
        run(CascadeClassifier(down, Asleep()).classify(ALONE, OPEN))


def test_closing_it_closes_both() -> None:
    one, two = Asleep(), Asleep()
    run(CascadeClassifier(one, two).close())
    assert one.closed and two.closed


@pytest.mark.parametrize("wrong", [{"budget": 0.0}, {"proactivity": 0.0}])
def test_what_it_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CascadeClassifier(MockClassifier(), MockClassifier(), **wrong)  # type: ignore[arg-type]


def test_what_a_state_says_to_the_rules() -> None:
    assert circumstances_of(state()) == Circumstances()
    assert circumstances_of(ALONE) == Circumstances(alone=True)
    full = state(agent=LISTENS, assistant_thought=THOUGHT, assistant_cut_off=CUT)
    assert circumstances_of(full) == Circumstances(urgent=True, listening=True, cut=True)
    assert circumstances_of({}) == Circumstances()


# -- backchannels -------------------------------------------------------------------------------------------------------


def settles(text: str, backchannels: Backchannels | None = None, **parts: JSON | Sequence[tuple[str, str]]) -> bool:
    down = MockClassifier(error=ClassifierError("asked"))
    asked = {**OPEN, **({"resume": RESUME} if "assistant_cut_off" in parts else {})}
    cascade = CascadeClassifier(down, down, backchannels=backchannels)
    try:
        answers = run(cascade.classify(state(text, **parts), asked))  # type: ignore[arg-type]
    except ClassifierError:
        return False
    assert {n for n, value in answers.judgments().items() if value} == {"resume"} & set(asked)
    return True


@pytest.mark.parametrize(
    "text",
    [
        *("mm-hm", "Mm hmm.", "right", "Right, right.", "okay", "OK!", "Uh-huh...", "yeah yeah I see", "Okay, thanks."),
        *("d\u2019accord", "D'accord, merci.", "oui oui", "très bien", "hum hum", "c'est ça"),
        *("vale", "sí, claro", "Muy bien.", "de acuerdo", "ajá"),
    ],
)
def test_a_backchannel_needs_no_model(text: str) -> None:
    assert settles(text)
    assert settles(text, assistant_cut_off=CUT, recent=AGENT_SPOKE)


@pytest.mark.parametrize(
    "text",
    [
        *("", "...", "okay, and Montreal?", "right?", "no", "stop", "wait", "okay Nova", "I see a problem", "d'accord mais non"),
        *("yes yes yes yes yes yes yes", "¿vale?", "go on", "the right one"),
    ],
)
def test_whatever_says_more_is_asked_about(text: str) -> None:
    assert not settles(text)
    assert not settles(text, assistant_cut_off=CUT)


def test_a_yes_to_the_agent_may_be_an_answer() -> None:
    assert settles("mm-hm", recent=AGENT_SPOKE)
    assert not settles("okay", recent=AGENT_SPOKE)
    for question in ("Shall I book it?", "Shall I book it? ", "¿Lo reservo"):
        assert not settles("mm-hm", recent=(("Nova", question),))
        assert not settles("mm-hm", assistant_cut_off={"was_saying": question, "heard_seconds": 1.0})
        assert settles("mm-hm", recent=(("Bo", question),))
    assert not settles("okay", recent=())


def test_the_lists_can_be_replaced() -> None:
    german = Backchannels(following=("Mhm", "ach so"), accepting=("ja",))
    assert settles("Ach so, ja.", german)
    assert not settles("okay", german)
    assert not settles("ja", german, recent=AGENT_SPOKE)


def test_questions_of_the_host_and_the_language_are_asked_all_the_same() -> None:
    mine: dict[str, Question] = {"hush": YesNoQuestion("Reworded"), "language": ChoiceQuestion("?", ("English", "other"))}
    first, better = MockClassifier({"hush": 0.5}), MockClassifier()
    answers = run(CascadeClassifier(first, better).classify(state("mm-hm"), {**OPEN, **mine}))
    assert list(first.calls[0][1]) == ["hush", "language"]
    assert better.calls == []
    assert (answers.probability("hush"), answers.choice("language"), answers.probability("request")) == (0.5, "English", 0.0)
    first, better = MockClassifier({"request": 0.5}), MockClassifier({"request": 0.6})
    mine = {"request": YesNoQuestion("Reworded")}
    answers = run(CascadeClassifier(first, better).classify(state("mm-hm", people=["Ana"]), {**OPEN, **mine}))
    assert list(better.calls[0][1]) == ["request"]
    assert answers.judgments() == {**dict.fromkeys(OPEN, 0.0), "request": 0.6}


# -- carry-over ---------------------------------------------------------------------------------------------------------


def carried(given: State, directness: float = 1.0, amount: float = 0.5) -> dict[str, float]:
    judged = run(CarryOver(MockClassifier({"directness": directness}), amount).classify(given, QUESTIONS)).judgments()
    return {name: value for name, value in judged.items() if name in ("directness", "carry_over")}


def test_who_was_just_answered_is_likelier_to_mean_the_agent() -> None:
    assert carried(state(recent=AGENT_SPOKE)) == {"directness": 1.5, "carry_over": 0.5}
    assert carried(state(recent=AGENT_SPOKE), amount=0.8) == {"directness": 1.8, "carry_over": 0.8}
    assert carried(state(recent=AGENT_SPOKE), directness=2.75) == {"directness": 3.0, "carry_over": 0.25}
    assert carried(state(recent=(*AGENT_SPOKE, ("Nova", "And sunny.")))) == {"directness": 1.5, "carry_over": 0.5}


@pytest.mark.parametrize(
    "given",
    [
        state(recent=AGENT_SPOKE, speaker="Bo"),
        state(recent=(*AGENT_SPOKE, ("Bo", "ah"))),
        state(recent=(*AGENT_SPOKE, ("Ana", "ah"))),
        state(recent=(("Nova", "Hello."),)),
        state(recent=()),
        state(recent=AGENT_SPOKE, agent=LISTENS),
        {},
    ],
)
def test_nobody_else_is(given: State) -> None:
    assert carried(given) == {"directness": 1.0}


def test_it_adds_nothing_where_directness_was_not_asked() -> None:
    asked = {"hush": QUESTIONS["hush"]}
    assert run(CarryOver(MockClassifier()).classify(state(recent=AGENT_SPOKE), asked)).judgments() == {"hush": 0.0}


@pytest.mark.parametrize("amount", [0.0, -1.0, 3.1, float("nan")])
def test_the_amount_counts_levels(amount: float) -> None:
    with pytest.raises(ValueError, match="amount"):
        CarryOver(MockClassifier(), amount)


def test_closing_it_closes_the_wrapped_one() -> None:
    one = Asleep()
    run(CarryOver(one).close())
    assert one.closed
