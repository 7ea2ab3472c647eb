"""One token and how probable it was, through the `openai` client."""

from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio

from tests.wire import decision_server
from tests.wire.decision_server import DecisionServer
from voiceagent.errors import LanguageModelError
from voiceagent.judgment.classifier.llm import LLMClassifier
from voiceagent.judgment.classifier.question import YesNoQuestion
from voiceagent.llm.choosing import Choosing
from voiceagent.llm.model import Message, Prompt
from voiceagent.llm.openai import OpenAIModel
from voiceagent.llm.settings import LanguageModelSettings

SETTINGS = LanguageModelSettings(first_token_ms=500, between_ms=500, max_tokens=50)
PROMPT = Prompt((Message("user", "Be quiet?"),), max_tokens=9, temperature=0.0, schema={"type": "object"})
QUESTIONS = {"hush": YesNoQuestion("Be quiet?")}


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DecisionServer]:
    async with decision_server.serving() as running:
        yield running


async def chosen(server: DecisionServer, name: str) -> Mapping[str, float]:
    model = OpenAIModel(f"{server.url}/v1", name, None, SETTINGS)
    assert isinstance(model, Choosing)
    try:
        return await model.choose(PROMPT, ["yes", "no"])
    finally:
        await model.close()


async def test_the_options_shares(server: DecisionServer) -> None:
    assert await chosen(server, "telling") == pytest.approx({"yes": 0.9, "no": 0.1}, abs=1e-3)
    [body] = server.bodies
    assert body == {
        "model": "telling",
        "messages": [{"role": "user", "content": "Be quiet?"}],
        "max_tokens": 1,
        "temperature": 1.0,
        "stream": False,
        "logprobs": True,
        "top_logprobs": 20,
    }


@pytest.mark.parametrize("name", ["silent", "empty", "odd", "nothing"])
async def test_a_server_that_tells_none(server: DecisionServer, name: str) -> None:
    with pytest.raises(LanguageModelError) as caught:
        await chosen(server, name)
    assert caught.value.category == "no_chances"


async def test_a_server_that_refuses(server: DecisionServer) -> None:
    with pytest.raises(LanguageModelError) as caught:
        await chosen(server, "strict")
    assert caught.value.category == "bad_request"


@pytest.mark.parametrize(("name", "probability", "requests"), [("telling", 0.9, 1), ("strict", 1.0, 2), ("silent", 1.0, 2)])
async def test_a_classifier_on_it(server: DecisionServer, name: str, probability: float, requests: int) -> None:
    model = OpenAIModel(f"{server.url}/v1", name, None, SETTINGS)
    answers = await LLMClassifier(model).classify({"last_turn": {"speaker": "Ana", "text": "hush"}}, QUESTIONS)
    await model.close()
    assert answers.probability("hush") == pytest.approx(probability, abs=1e-3)
    assert len(server.bodies) == requests
