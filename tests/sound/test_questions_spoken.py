"""A question said by a real voice on a call without a screen, and what real recognition makes of spoken answers to it."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.scenario.asking import ask
from tests.sound.hearing import model
from tests.sound.interjections import words
from tests.sound.talking import Talk, Talked, together, write
from voiceagent import engines
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.speech.piper import PiperEngine

pytestmark = pytest.mark.usefixtures("default_models")

WHICH = ask("Which day suits you?", options=["Tuesday", "Thursday", "Friday"])
SAID = "Which day suits you? Tuesday, Thursday, or Friday?"
ANSWER_MS, AGAIN_MS = 9_000, 16_000


@pytest.fixture
def ann() -> Iterator[PiperEngine]:
    """A person's voice, whose rhythm does not hang on what other tests had said before."""
    engine = PiperEngine(model("en_US-joe-medium"))
    yield engine
    engine.close()


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """The brain: it asks, goes on, and acknowledges what comes."""
    model = ScriptedModel([(WHICH,), "One moment.", "All right.", "Good.", "Fine."])
    monkeypatch.setattr(engines, "brain", lambda settings: model)
    return model


def spoken(talk: Talk, ann: PiperEngine, *answers: str, at: int = ANSWER_MS) -> Talked:
    """Ann calls, is asked, and says this."""
    first = asyncio.run(words(ann, "Please move my appointment to another day."))
    later = [(at + number * (AGAIN_MS - at), asyncio.run(words(ann, text))) for number, text in enumerate(answers)]
    return talk(write(talk.folder / "Ann.wav", together((0, first), *later)))


def ended(run: Talked) -> list[object]:
    """The answers that were taken."""
    return [line["data"].get("answer", {}).get("options") for line in run.told("question.ended")]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Thursday works for me.", 1),
        ("The second one, please.", 1),
        ("Let's do Friday.", 2),
        ("Tuesday, no, sorry, Thursday.", 1),
    ],
)
def test_a_spoken_answer_is_taken_and_the_agent_wakes_once(
    talk: Talk, asks: ScriptedModel, ann: PiperEngine, text: str, option: int
) -> None:
    run = spoken(talk, ann, text)
    assert [line["data"]["text"] for line in run.told("speech.finished")][1] == SAID
    assert len(run.told("question.spoken")) == 1
    assert ended(run) == [[option]]
    assert len(asks.prompts) == 3
    assert asks.prompts[2].messages[-1].content.startswith("question_answered: ")


@pytest.mark.parametrize("text", ["What is the weather like today?", "I saw her last Thursday at the office."])
def test_ordinary_speech_behind_it_is_no_answer(talk: Talk, asks: ScriptedModel, ann: PiperEngine, text: str) -> None:
    run = spoken(talk, ann, text)
    assert ended(run) == [] and run.told("question.proposed") == []
    assert len(asks.prompts) == 3 and not asks.prompts[2].messages[-1].instruction


def test_an_unsure_one_is_read_back_and_a_spoken_yes_takes_it(talk: Talk, asks: ScriptedModel, ann: PiperEngine) -> None:
    run = spoken(talk, ann, "Maybe Thursday?", "Yes, please.")
    assert [line["data"]["option"] for line in run.told("question.proposed")] == [1]
    assert ended(run) == [[1]]


def test_an_answer_over_the_question_cuts_it_and_is_taken(talk: Talk, asks: ScriptedModel, ann: PiperEngine) -> None:
    run = spoken(talk, ann, "Friday works best for me.", at=6_300)
    assert [cut["data"].get("question_id") is not None for cut in run.told("speech.cut")] == [True]
    assert ended(run) == [[2]]
