"""An agent that answers only some of those it hears: statements 64 to 67, and 88."""

import pytest

from tests.unit.turns import run, turn
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakDecision


class Closing(MockSpeakPolicy):
    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("speaker", ["Sylvain", "SYLVAIN", " sylvain ", "Syl vain", "sylvain (2)", "Sylvain (14)"])
def test_s07_64_a_listed_name_however_it_is_written(speaker: str) -> None:
    inner = MockSpeakPolicy()
    assert run(AnswerOnly(inner, people=["Sylvain"]).decide(turn(speaker=speaker))).mode == "speak"
    assert len(inner.turns) == 1


@pytest.mark.parametrize("speaker", ["Bo", "Sylvaine", "", None, "@voice", "@Sylvain", "Sylvain (two)", " "])
def test_s07_64_65_anybody_else_is_only_listened_to(speaker: str | None) -> None:
    inner = MockSpeakPolicy()
    decision = run(AnswerOnly(inner, people=["Sylvain"]).decide(turn(speaker=speaker)))
    assert decision == SpeakDecision("silent", "only listened to", final=True)
    assert inner.turns == []


def test_s07_64_a_name_is_listed_as_people_write_it() -> None:
    inner = MockSpeakPolicy()
    assert run(AnswerOnly(inner, people=["@sylvain"]).decide(turn(speaker="Sylvain"))).mode == "speak"


def test_s07_64_a_channel_is_nobodys_name() -> None:
    inner = MockSpeakPolicy()
    assert run(AnswerOnly(inner, people=["@voice"]).decide(turn(speaker="@voice"))).mode == "silent"
    assert inner.turns == []


@pytest.mark.parametrize(
    ("people", "speaker", "given"),
    [
        (("Sylvain", "Ana", "Bo"), "Sylvain", ("Sylvain",)),
        (("Ana", "SYLVAIN", "Zoë"), "sylvain", ("SYLVAIN", "Zoë")),
        (("living room",), "Sylvain", ("Sylvain",)),
        (("Zoë",), "Sylvain (2)", ("Zoë", "Sylvain (2)")),
        ((), "Sylvain", ("Sylvain",)),
    ],
)
def test_s07_66_only_the_listed_and_the_speaker_are_around(people: tuple[str, ...], speaker: str, given: tuple[str, ...]) -> None:
    inner = MockSpeakPolicy()
    run(AnswerOnly(inner, people=["Sylvain", "Zoe\u0308"]).decide(turn(people=people, speaker=speaker)))
    assert inner.turns[0].people == given


def test_s07_67_who_is_listed() -> None:
    with pytest.raises(TypeError, match="list of names"):
        AnswerOnly(MockSpeakPolicy(), people="Sylvain")
    for policy in (None, MockSpeakPolicy):
        with pytest.raises(TypeError, match="SpeakPolicy"):
            AnswerOnly(policy, people=["Sylvain"])  # type: ignore[arg-type]
    for nobody in ([], ["", "  ", "\u200b"]):
        with pytest.raises(ValueError, match="nobody"):
            AnswerOnly(MockSpeakPolicy(), people=nobody)


def test_s07_67_closing_and_forgetting_reach_the_wrapped_policy() -> None:
    inner = Closing()
    policy = AnswerOnly(inner, people=["Ana"])
    policy.forget_room("r")
    run(policy.close())
    assert (inner.forgotten, inner.closed) == (["r"], 1)


def test_s07_88_who_is_ignored_neither_starts_nor_ends_listening() -> None:
    classifier = MockClassifier([{"listen_request": 1.0}, {"lift": 1.0}])
    inner = ClassifierSpeakPolicy(classifier, agent_name="Nova")
    policy = AnswerOnly(inner, people=["Ana"])
    run(policy.decide(turn("just listen", speaker="Bo")))
    assert inner.listening("r") is None
    run(policy.decide(turn("just listen", speaker="Ana")))
    run(policy.decide(turn("you can talk again", speaker="Bo")))
    assert inner.listening("r") is not None
    run(policy.decide(turn("you can talk again", speaker="Ana")))
    assert inner.listening("r") is None
    assert len(classifier.calls) == 2
