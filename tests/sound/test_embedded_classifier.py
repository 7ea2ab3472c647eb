"""The shipped speak model: what it answers, what it leaves to others, and how it runs."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path

import pytest
import pytest_asyncio

from tests.unit.speaking import said, state
from voiceagent.errors import ModelError
from voiceagent.judgment.classifier import embedded
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.question import ChoiceQuestion, ClassifierError, ScoreQuestion, YesNoQuestion
from voiceagent.judgment.classifier.questions import QUESTIONS
from voiceagent.judgment.listening import LISTEN_REQUEST

OWN = ScoreQuestion("How urgent is `last_turn`?", ("not", "soon", "now"))


@pytest_asyncio.fixture
async def classifier() -> AsyncIterator[EmbeddedClassifier]:
    made = EmbeddedClassifier()
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("text", "addressed"),
    [
        ("Nova, what time is it in Lima?", True),
        ("Nova, quelle heure est-il à Lima ?", True),
        ("Nova, ¿qué hora es en Lima?", True),
        ("Bo, what time is it in Lima?", False),
        ("I told Bo about Lima yesterday.", False),
    ],
)
async def test_the_plain_cases(classifier: EmbeddedClassifier, text: str, addressed: bool) -> None:
    answers = await classifier.classify(state("Ann", text), QUESTIONS)
    assert (answers.score("directness") >= 1.5) is addressed
    assert all(name in answers for name in QUESTIONS)


async def test_names_do_not_matter(classifier: EmbeddedClassifier) -> None:
    one = await classifier.classify(state("Ann", "Nova, tell Bo the score", said(("Bo", "who won?"))), QUESTIONS)
    before = said(("Tariq", "who won?"))
    two = await classifier.classify(
        state("Inès", "Zelda, tell Tariq the score", before, people=("Inès", "Tariq"), agent="Zelda"), QUESTIONS
    )
    assert one.judgments() == two.judgments()


async def test_a_question_is_known_by_its_wording(classifier: EmbeddedClassifier) -> None:
    answers = await classifier.classify(state("Ann", "Nova, from now on only listen"), {"mine": LISTEN_REQUEST})
    assert answers.probability("mine") >= 0.5
    with pytest.raises(ClassifierError, match="hush"):
        await classifier.classify(state("Ann", "hello"), {**QUESTIONS, "hush": YesNoQuestion("Is it a request for quiet?")})


async def test_other_questions_go_to_the_fallback_and_no_others() -> None:
    mock = MockClassifier({"urgency": 2.0})
    classifier = EmbeddedClassifier(fallback=mock)
    answers = await classifier.classify(state("Ann", "Nova, help, quick!"), {**QUESTIONS, "urgency": OWN})
    assert answers.score("urgency") == 2.0
    assert [set(asked) for _, asked in mock.calls] == [{"urgency"}]
    await classifier.close()


async def test_the_language_among_those_listed(classifier: EmbeddedClassifier) -> None:
    question = ChoiceQuestion("Which language does the speaker of `last_turn` speak?", ("English", "French", "other"))
    answers = await classifier.classify(state("Ann", "Nova, tu peux me dire quel temps il fait"), {"language": question})
    assert answers.choice("language") == "French"


async def test_the_last_turn_is_read_whole_however_long_the_talk_was(classifier: EmbeddedClassifier) -> None:
    before = said(*[("Bo", "and then we went on and on about the garden " * 20)] * 6)
    answers = await classifier.classify(state("Ann", "Nova, what is the capital of Peru?", before), QUESTIONS)
    assert answers.score("directness") >= 1.5


async def test_a_turn_longer_than_all_room_is_judged_by_its_end(classifier: EmbeddedClassifier) -> None:
    text = "I was saying that the garden is big and " * 40 + "Nova, what is the capital of Peru?"
    answers = await classifier.classify(state("Ann", text), QUESTIONS)
    assert answers.score("directness") > 0.5


def test_closed_it_refuses() -> None:
    async def asked() -> None:
        classifier = EmbeddedClassifier()
        await classifier.close()
        with pytest.raises(ClassifierError, match="cannot judge"):
            await classifier.classify(state("Ann", "hello"), QUESTIONS)

    asyncio.run(asked())


async def test_without_the_encoder_the_lexical_heads_judge_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(embedded, "EncoderHeads", None)
    with caplog.at_level(logging.WARNING):
        classifier = EmbeddedClassifier()
    assert classifier.degraded
    assert "less well" in caplog.text
    answers = await classifier.classify(state("Ann", "Nova, what time is it?"), QUESTIONS)
    assert answers.score("directness") >= 1.5
    await classifier.close()


@pytest.mark.parametrize("damaged", ["speak.onnx", "vocabulary.txt"])
def test_damaged_weights_are_refused(tmp_path: Path, damaged: str) -> None:
    with resources.as_file(resources.files("voiceagent.judgment.classifier") / "weights") as folder:
        shutil.copytree(folder, tmp_path / "weights")
    with (tmp_path / "weights" / damaged).open("ab") as file:
        file.write(b"!")
    with pytest.raises(ModelError, match=damaged):
        EmbeddedClassifier(weights=tmp_path / "weights")
    (tmp_path / "weights" / damaged).unlink()
    with pytest.raises(ModelError, match="missing"):
        EmbeddedClassifier(weights=tmp_path / "weights")
