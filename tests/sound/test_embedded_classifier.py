"""The shipped speak model: what it answers, what it leaves to others, and how it runs."""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Sequence
from importlib import resources
from pathlib import Path

import pytest
import pytest_asyncio

from tests.unit.speaking import said, state
from tests.unit.turns import turn
from voiceagent.config import load
from voiceagent.engines import speak_policy
from voiceagent.errors import ModelError
from voiceagent.judgment.classifier import embedded
from voiceagent.judgment.classifier.alone import Alone
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.question import ChoiceQuestion, ClassifierError, ScoreQuestion, YesNoQuestion
from voiceagent.judgment.classifier.questions import QUESTIONS
from voiceagent.judgment.classifier.shipped import Shipped
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.listening import LISTEN_REQUEST
from voiceagent.llm.scripted import EchoModel

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


@pytest.mark.parametrize("lexical", [False, True])
async def test_half_a_character_is_read_like_any_other_sign(lexical: bool) -> None:
    classifier = EmbeddedClassifier(lexical=lexical)
    before = [("B\udfffo", "\ud83d Lima?"), ("Nova", "\ude00")]
    answers = await classifier.classify(state("Ann\ud800", "Nova, what time is it? \ud83d", said(*before)), QUESTIONS)
    assert answers.score("directness") >= 1.5
    await classifier.close()


@pytest.mark.parametrize(
    "text",
    [
        "Just listen for now.",
        "Please only listen.",
        "Don't say anything until I ask you.",
        "Contente-toi d'écouter.",
        "Por ahora solo escucha.",
    ],
)
@pytest.mark.parametrize(
    ("people", "before"), [(("Ann",), ()), (("Ann", "Bo"), (("Ann", "Nova, how far?"), ("Nova", "Two miles.")))]
)
async def test_asked_to_listen_without_its_name(
    classifier: EmbeddedClassifier, text: str, people: Sequence[str], before: Sequence[tuple[str, str]]
) -> None:
    """By the only person there, or by whoever it has just answered."""
    asked = {**QUESTIONS, "listen_request": LISTEN_REQUEST}
    answers = await classifier.classify(state("Ann", text, said(*before), people=people), asked)
    assert answers.probability("listen_request") >= 0.5
    about = await classifier.classify(state("Ann", "I just listen to the radio.", said(*before), people=people), asked)
    assert about.probability("listen_request") < 0.5


ALONE = (
    "Hello!",
    "And on Sundays?",
    "Is it still on time?",
    "When do you close?",
    "À quelle heure fermez-vous ?",
    "I need help.",
)


async def test_who_is_alone_and_asks_is_answered_with_the_default_prior(classifier: EmbeddedClassifier) -> None:
    policy = ClassifierSpeakPolicy(Alone(classifier), agent_name="Nova")
    for text in ALONE:
        assert (await policy.decide(turn(text, people=("Ana",)))).mode == "speak", text
    for text in ("Where did I put my keys?", "Mom, I'll call you back.", "So that is three and four."):
        assert (await policy.decide(turn(text, people=("Ana",)))).mode == "silent", text


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


@pytest.mark.parametrize(("left_out", "judged"), [("speak.onnx", True), ("lexical.npz", True), ("speak.json", False)])
async def test_the_program_makes_do_with_the_weights_that_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, left_out: str, judged: bool
) -> None:
    """By words alone without the network; with nothing to judge by, every turn is answered; each is logged as degraded."""
    with resources.as_file(resources.files("voiceagent.judgment.classifier") / "weights") as folder:
        shutil.copytree(folder, tmp_path / "weights")
    (tmp_path / "weights" / left_out).write_bytes(b"!")
    monkeypatch.setattr(embedded, "Shipped", lambda _: Shipped(tmp_path / "weights"))
    settings = load(None, {}, {"judgment.policy": "classifier"})
    with caplog.at_level(logging.WARNING):
        policy, classifier = speak_policy(settings, EchoModel())
    decisions = [(await policy.decide(turn(text))).mode for text in ("Nova, what time is it?", "I told Bo about it.")]
    assert decisions == ["speak", "silent" if judged else "speak"]
    assert (classifier is not None) is judged
    assert any("degraded" in record.message for record in caplog.records) is (left_out != "lexical.npz")
    if classifier is not None:
        assert isinstance(classifier, EmbeddedClassifier)
        assert classifier.degraded is (left_out == "speak.onnx")
        await classifier.close()
