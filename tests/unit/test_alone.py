"""Who is alone with the agent and asks or tells it something means it: what counts as that, and what the rules make of it."""

from collections.abc import Sequence

import pytest

from tests.unit.turns import run, state, turn
from voiceagent.judgment.classifier.alone import Alone, meant
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.priors import Priors
from voiceagent.judgment.classifier.question import ClassifierError, ScoreAnswer
from voiceagent.judgment.classifier.questions import QUESTIONS
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import SpeakDecision

ANSWERED = (("Ana", "Nova, when do you open?"), ("Nova", "At nine."))
ASKED = (("Ana", "I need a hotel."), ("Nova", "In which city?"))
THINKING = (("Ana", "So that is three and four."), ("Ana", "Which makes seven."))


def share(text: str, recent: Sequence[tuple[str, str]] = (), people: Sequence[str] = ("Ana",)) -> float:
    return meant(state(text, recent=recent, people=people))


@pytest.mark.parametrize(
    "text",
    [
        "When do you close?",
        "And on Sundays?",
        "what is the time",
        "could you help me",
        "remind me to call Mom at five",
        "Play some jazz.",
        "Hello!",
        "Hello?",
        "Nova, are you there?",
        "Hey Nova, what's up?",
        "À quelle heure fermez-vous ?",
        "Bonjour !",
        "¿A qué hora cierran?",
        "Hola",
    ],
)
@pytest.mark.parametrize("recent", [(), ANSWERED, THINKING])
def test_asking_counts_whole_wherever_it_stands(text: str, recent: Sequence[tuple[str, str]]) -> None:
    assert share(text, recent) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "I've lost my card.",
        "My name is Ana.",
        "we arrive on Friday",
        "J'ai perdu ma carte.",
        "Tengo dos hijos y no sé qué hacer.",
    ],
)
def test_telling_counts_whole_where_the_talk_goes_on_and_half_out_of_the_blue(text: str) -> None:
    assert (share(text), share(text, THINKING), share(text, ANSWERED)) == (0.5, 0.5, 1.0)


@pytest.mark.parametrize("text", ["Marseille", "The short one.", "two of the brown", "yes", "No.", "My sister's."])
def test_whatever_follows_the_agents_question_answers_it(text: str) -> None:
    assert share(text, ASKED) == 1.0
    assert share(text, (*ASKED, ("Ana", "Hold on."))) < 1.0


@pytest.mark.parametrize(
    "text",
    [
        "So the third chapter is about the war.",
        "Okay.",
        "mm hm",
        "Where did I put my keys?",
        "Hmm, is that right?",
        "Let me see, is it the red one?",
        "Où j'ai mis mes clés ?",
        "¿Dónde puse las llaves?",
        "Hello? Yes, speaking.",
        "Hi Mom, how are you?",
        "Mum, where is the charger?",
        "Hello Jodie, are you at home?",
        "Bob, can you close the door?",
        "Are you coming for dinner, Dad?",
        "Could you pass the salt, love?",
        "Allô ? Tu m'entends ?",
        "¿Diga? ¿Quién es?",
        "",
    ],
)
def test_what_is_said_to_oneself_or_to_somebody_who_is_not_there_counts_nothing(text: str) -> None:
    assert share(text) == share(text, ANSWERED) == 0.0


def test_a_telephone_call_goes_on_until_the_agent_speaks() -> None:
    call = (*ANSWERED, ("Ana", "Hello? Yes, speaking."), ("Ana", "No, on Friday."))
    assert share("When do you open?", call) == 0.0
    assert share("When do you open?", (*call, ("Nova", "At nine."))) == 1.0


@pytest.mark.parametrize("people", [(), ("Ana", "Bo")])
def test_it_is_for_one_person_alone(people: Sequence[str]) -> None:
    assert share("When do you close?", people=people) == 0.0


def test_a_room_that_only_listens_is_left_as_it_is() -> None:
    listening = state("When do you close?", people=("Ana",), agent={"listening_only": {"speaker": "Ana", "text": "just listen"}})
    assert meant(listening) == 0.0


@pytest.mark.parametrize("odd", [{}, {"agent": 1}, {"people": "Ana"}, {"last_turn": None}, {"recent_turns": [1, None]}])
def test_a_state_of_another_shape_counts_nothing_and_raises_nothing(odd: dict[str, object]) -> None:
    assert meant({**(state("Well.", people=("Ana",)) if odd else {}), **odd}) == 0.0  # type: ignore[dict-item]


# -- what it changes ----------------------------------------------------------------------------------------------------


def judged(directness: float, text: str, amount: float = 1.25) -> dict[str, float]:
    given = state(text, people=("Ana",), recent=())
    answers = run(Alone(MockClassifier({"directness": directness}), amount).classify(given, QUESTIONS))
    return {name: value for name, value in answers.judgments().items() if name in ("directness", "alone")}


def test_directness_rises_by_the_amount_and_the_judgments_say_so() -> None:
    assert judged(0.25, "When do you close?") == {"directness": 1.5, "alone": 1.25}
    assert judged(0.5, "I lost my card.") == {"directness": 1.125, "alone": 0.625}
    assert judged(2.5, "When do you close?") == {"directness": 3.0, "alone": 0.5}
    assert judged(0.5, "When do you close?", 2.0) == {"directness": 2.5, "alone": 2.0}
    assert judged(0.5, "So it is.") == {"directness": 0.5}


def test_a_doubt_that_the_score_hides_counts_by_its_chances() -> None:
    unsure = ScoreAnswer(0.03, (0.8, 0.1, 0.1, 0.0))
    answers = run(Alone(MockClassifier({"directness": unsure})).classify(state("Hello!", people=("Ana",), recent=()), QUESTIONS))
    assert answers.judgments() | {"directness": pytest.approx(1.55), "alone": pytest.approx(1.52)} == answers.judgments()


def test_a_classifier_that_is_all_but_sure_stands() -> None:
    assert judged(0.249, "When do you close?") == {"directness": 0.249}


@pytest.mark.parametrize(
    ("text", "script", "expected"),
    [
        ("When do you close?", {"directness": 0.3}, ("speak", "addressed")),
        ("When do you close?", {"directness": 0.3, "unfinished": 0.5}, ("silent", "not finished")),
        ("When do you close?", {"directness": 0.3, "deferred": 0.5}, ("silent", "postponed")),
        ("When do you close?", {"directness": 0.3, "hush": 0.5}, ("silent", "asked to keep quiet")),
        ("When do you close?", {"directness": 0.3, "listen_request": 0.5}, ("silent", "asked to listen")),
        ("I lost my card.", {"directness": 0.3}, ("offer", "wondered about")),
        ("I lost my card.", {"directness": 0.9}, ("speak", "addressed")),
        ("So it is.", {"directness": 0.7}, ("silent", "not addressed")),
        ("Where did I put my keys?", {"directness": 0.7}, ("silent", "not addressed")),
    ],
)
def test_the_rules_then_hold_as_ever(text: str, script: dict[str, float], expected: tuple[str, str]) -> None:
    policy = ClassifierSpeakPolicy(Alone(MockClassifier(script)), agent_name="Nova")
    decision: SpeakDecision = run(policy.decide(turn(text, people=("Ana",))))
    assert (decision.mode, decision.reason) == expected


def test_in_a_group_nothing_changes() -> None:
    policy = ClassifierSpeakPolicy(Alone(MockClassifier({"directness": 0.7})), agent_name="Nova")
    decision = run(policy.decide(turn("When do you close?", people=("Ana", "Bo"))))
    assert (decision.mode, decision.reason, "alone" in decision.judgments) == ("silent", "not addressed", False)


def test_without_the_question_of_directness_nothing_is_added() -> None:
    asked = {"hush": QUESTIONS["hush"]}
    assert run(Alone(MockClassifier()).classify(state("When?", people=("Ana",)), asked)).judgments() == {"hush": 0.0}


def test_what_the_wrapped_classifier_raises_passes_through() -> None:
    with pytest.raises(ClassifierError):
        run(Alone(MockClassifier(error=ClassifierError("down"))).classify(state("When?", people=("Ana",)), QUESTIONS))


@pytest.mark.parametrize("amount", [0.0, -1.0, 3.01, float("nan")])
def test_an_amount_out_of_range_is_refused(amount: float) -> None:
    with pytest.raises(ValueError, match="amount"):
        Alone(MockClassifier(), amount)


class Closing(MockClassifier):
    def __init__(self) -> None:
        super().__init__({"directness": 0.5})
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_closing_reaches_the_wrapped_classifier_through_all_priors() -> None:
    inner = Closing()
    run(Priors(alone=1.25, carry_over=0.5).around(inner).close())
    assert inner.closed == 1
    assert Priors().around(inner) is inner


def test_both_priors_add_up_and_are_both_named() -> None:
    given = state("And on Sundays?", people=("Ana",), recent=ANSWERED)
    answers = run(Priors(alone=1.25, carry_over=0.5).around(Closing()).classify(given, QUESTIONS)).judgments()
    assert (answers["directness"], answers["alone"], answers["carry_over"]) == (2.25, 1.25, 0.5)
