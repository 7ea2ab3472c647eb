"""The lexical heads: plain cases without any runtime for models, from files that are checked."""

import pytest

from tests.unit.speaking import state
from voiceagent.judgment.classifier.heads import NAMES, WIDTH, answers, head_of
from voiceagent.judgment.classifier.lexical import LexicalHeads
from voiceagent.judgment.classifier.question import Answers, ScoreAnswer, YesNoQuestion
from voiceagent.judgment.classifier.questions import DIRECTNESS, QUESTIONS, RESUME
from voiceagent.judgment.classifier.shipped import Shipped
from voiceagent.judgment.classifier.view import view


def judged(text: str) -> Answers:
    return Answers(answers(LexicalHeads(Shipped()).logits(view(state("Ann", text)))))


def test_plain_cases() -> None:
    assert judged("Nova, what time is it?").score("directness") >= 1.5
    assert judged("Bo, what time is it?").score("directness") < 0.75
    assert judged("Nova, keep quiet").probability("hush") >= 0.5
    assert judged("Nova, send this to the").probability("unfinished") >= 0.5


def test_every_head_answers() -> None:
    found = LexicalHeads(Shipped()).logits(view(state("Ann", "hello")))
    assert found.shape == (WIDTH,)
    read = answers(found)
    assert set(read) == {*NAMES, "directness"}
    directness = read["directness"]
    assert isinstance(directness, ScoreAnswer)
    assert sum(directness.probabilities) == pytest.approx(1.0)


def test_heads_are_found_by_what_is_asked() -> None:
    assert head_of(DIRECTNESS) == "directness"
    assert head_of(RESUME) == "resume"
    assert [head_of(question) for question in QUESTIONS.values()] == list(QUESTIONS)
    assert head_of(YesNoQuestion("Is it raining?")) is None
