"""What policies say of a turn that may not come: the decision they would make, and no trace of it until it is settled."""

import pytest

from tests.unit.turns import run, turn
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import AlwaysSpeak, Foreseen, MockSpeakPolicy, SpeakDecision, SpeakPolicy, SpeakTurn


class Silent(SpeakPolicy):
    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent")


class OwnRules(ClassifierSpeakPolicy):
    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent")


class OwnPeople(AnswerOnly):
    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent")


class OwnMock(MockSpeakPolicy):
    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent")


class OwnAlways(AlwaysSpeak):
    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent")


def judged(**script: float) -> ClassifierSpeakPolicy:
    return ClassifierSpeakPolicy(MockClassifier(script), agent_name="Nova")


@pytest.mark.parametrize(
    "make",
    [
        AlwaysSpeak,
        lambda: MockSpeakPolicy(["offer", "silent"]),
        lambda: judged(directness=2.0),
        lambda: judged(hush=1.0),
        lambda: judged(listen_request=1.0),
        lambda: AnswerOnly(AlwaysSpeak(), ["Ana"]),
        lambda: AnswerOnly(judged(listen_request=1.0), ["Bo"]),
    ],
)
def test_what_is_foreseen_is_what_is_decided(make: type[SpeakPolicy]) -> None:
    foreseen, said = run(make().foresee(turn())), turn()
    assert foreseen is not None
    assert foreseen.decision == run(make().decide(said))


@pytest.mark.parametrize(
    "policy",
    [
        Silent(),
        OwnRules(MockClassifier({}), agent_name="Nova"),
        OwnPeople(AlwaysSpeak(), ["Ana"]),
        OwnMock(),
        OwnAlways(),
        AnswerOnly(Silent(), ["Ana"]),
    ],
)
def test_a_policy_with_rules_of_its_own_foresees_nothing_unless_it_says_so(policy: SpeakPolicy) -> None:
    assert run(policy.foresee(turn())) is None


def settled(foreseen: Foreseen | None) -> None:
    assert foreseen is not None
    foreseen.settle()


def test_a_request_to_listen_is_kept_once_it_is_settled() -> None:
    policy = judged(listen_request=1.0, lift=1.0)
    foreseen = run(policy.foresee(turn("only listen")))
    assert policy.listening("r") is None
    settled(foreseen)
    assert policy.listening("r") is not None
    foreseen = run(policy.foresee(turn("you may talk again")))
    assert policy.listening("r") is not None
    settled(foreseen)
    assert policy.listening("r") is None


def test_a_scripted_decision_stays_the_next_one_until_it_is_settled() -> None:
    policy = MockSpeakPolicy(["offer", "silent"])
    for mode in ("offer", "offer"):
        foreseen = run(policy.foresee(turn()))
        assert foreseen is not None
        assert (foreseen.decision.mode, policy.turns) == (mode, [])
    settled(foreseen)
    assert len(policy.turns) == 1
    assert run(policy.decide(turn())).mode == "silent"
