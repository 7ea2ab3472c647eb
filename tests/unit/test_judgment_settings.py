"""Which policy, classifier and thinker the settings choose, and what they refuse."""

import logging

import pytest

from tests.unit.turns import run, turn
from voiceagent.config import load
from voiceagent.engines import speak_policy
from voiceagent.errors import ConfigError, ModelError
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier import embedded
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import AlwaysSpeak
from voiceagent.judgment.settings import DEFAULT_POLICY
from voiceagent.llm.scripted import EchoModel
from voiceagent.values import JSON


def chosen(**judgment: JSON) -> object:
    judged = {"policy": "classifier", **judgment}
    settings = load(None, {}, {f"judgment.{key}": value for key, value in judged.items()})
    return speak_policy(settings, EchoModel())[0]


def test_the_defaults_judge_half_as_eagerly_as_can_be() -> None:
    judgment = load(None, {}).judgment
    assert (judgment.policy, judgment.classifier, judgment.thinker) == (DEFAULT_POLICY, "embedded", "notes")
    assert (judgment.proactivity, judgment.history, judgment.answer_only) == (0.5, 6, ())
    assert (judgment.alone, judgment.carry_over) == (1.25, 0.0)


def test_every_turn_may_be_answered() -> None:
    assert isinstance(chosen(policy="always"), AlwaysSpeak)


def test_some_people_alone_may_be_answered() -> None:
    policy = chosen(policy="always", answer_only=["Sylvain"])
    assert isinstance(policy, AnswerOnly)
    assert run(policy.decide(turn(speaker="Ana"))).reason == "only listened to"
    assert run(policy.decide(turn(speaker="Sylvain"))).mode == "speak"


@pytest.mark.parametrize("name", ["jev", "openai"])
def test_a_vendor_s_classifier_needs_a_key_or_a_server_of_one_s_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TYPESAFE_API_KEY", "TYPESAFE_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigError, match="no key"):
        chosen(classifier=name)
    assert isinstance(chosen(classifier=name, classifier_url="http://127.0.0.1:1"), ClassifierSpeakPolicy)


def test_a_brain_that_cannot_be_held_to_a_schema_cannot_judge() -> None:
    with pytest.raises(ConfigError, match=r"\[judgment\] classifier"):
        chosen(classifier="llm")


class _Missing:
    """A classifier whose weights are missing: all of them, or those of its network."""

    def __init__(self, *, lexical: bool) -> None:
        if not (lexical and self.words):
            raise ModelError("speak.onnx is missing")

    words = True

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("words", "kind", "said"), [(True, ClassifierSpeakPolicy, "by their words"), (False, AlwaysSpeak, "every turn")]
)
def test_less_than_was_asked_for_is_logged(
    words: bool, kind: type, said: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "EmbeddedClassifier", type("Half", (_Missing,), {"words": words}))
    with caplog.at_level(logging.WARNING):
        assert isinstance(chosen(), kind)
    assert any("degraded" in record.message and said in record.message for record in caplog.records)


@pytest.mark.parametrize(
    "judgment",
    [
        {"proactivity": 0},
        {"proactivity": 1.5},
        {"history": -1},
        {"policy": "sometimes"},
        {"speak_timeout_ms": 0},
        {"answer_only": [" "]},
        {"languages": {"Other": "x"}},
        {"carry_over": -1},
        {"alone": -0.1},
        {"alone": 3.1},
    ],
)
def test_what_cannot_be_is_refused(judgment: dict[str, JSON]) -> None:
    with pytest.raises(ConfigError, match="judgment"):
        load(None, {}, {f"judgment.{key}": value for key, value in judgment.items()})
