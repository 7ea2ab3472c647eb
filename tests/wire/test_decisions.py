"""OpenAI's decisions and Jev, each through its vendor's own package, against servers that behave and servers that do not."""

import json
import logging
import socket
import traceback
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.wire import decision_server
from tests.wire.decision_server import Body, Change, DecisionServer
from voiceagent.errors import ConfigError
from voiceagent.judgment.classifier.jev import JevClassifier
from voiceagent.judgment.classifier.openai import OpenAIClassifier
from voiceagent.judgment.classifier.question import (
    Answers,
    ChoiceAnswer,
    ChoiceQuestion,
    Classifier,
    ClassifierError,
    Question,
    ScoreAnswer,
    ScoreQuestion,
    State,
    YesNoAnswer,
    YesNoQuestion,
)

KEY = "sk-very-secret"
SAID = "the secret of the turn"
STATE: State = {
    "agent": {"name": "Nova"},
    "people": ["Ana", "Bo"],
    "recent_turns": [],
    "last_turn": {"speaker": "Ana", "text": SAID},
    "assistant_thought": {"thinking": "kept at home", "want_to_say": [], "urgent": False},
}
QUESTIONS: dict[str, Question] = {
    "hush": YesNoQuestion("Be quiet?", yes="told to be", no="not told"),
    "request": YesNoQuestion("A request?"),
    "directness": ScoreQuestion("How directly?", ("not", "a little", "fully")),
    "language": ChoiceQuestion("Which language?", ("English", "other")),
}
EXPECTED = {
    "hush": YesNoAnswer(0.9),
    "request": YesNoAnswer(0.9),
    "directness": ScoreAnswer(1.5, (0.0, 0.5, 0.5)),
    "language": ChoiceAnswer("English", {"English": 0.8, "other": 0.2}),
}
BOTH = pytest.mark.parametrize("vendor", ["openai", "jev"])
NAMES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TYPESAFE_API_KEY", "TYPESAFE_BASE_URL", "TYPESAFE_DEFAULT_MODEL")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DecisionServer]:
    async with decision_server.serving() as running:
        yield running


def made(vendor: str, url: str, model: str, key: str | None = KEY) -> Classifier:
    if vendor == "openai":
        return OpenAIClassifier(key, base_url=f"{url}/v1", model=model, timeout=0.5)
    return JevClassifier(key, base_url=url, model=model, timeout=0.5)


async def classified(vendor: str, url: str, model: str = "good", key: str | None = KEY) -> Answers:
    classifier = made(vendor, url, model, key)
    try:
        return await classifier.classify(STATE, QUESTIONS)
    finally:
        await classifier.close()


@BOTH
async def test_every_question_in_one_request(server: DecisionServer, vendor: str, no_leak: None) -> None:
    assert (await classified(vendor, server.url)).all() == EXPECTED
    assert len(server.bodies) == 1
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "kept at home" not in json.dumps(server.bodies[0])


async def test_what_openai_is_sent(server: DecisionServer) -> None:
    await classified("openai", server.url)
    [body] = server.bodies
    assert json.loads(body["input"]) == {name: part for name, part in STATE.items() if name != "assistant_thought"}
    assert body["questions"] == [
        {"type": "predicate", "name": "hush", "instructions": "Be quiet?\nYes: told to be\nNo: not told"},
        {"type": "predicate", "name": "request", "instructions": "A request?"},
        {
            "type": "score",
            "name": "directness",
            "instructions": "How directly?",
            "levels": [
                {"label": "0", "description": "not"},
                {"label": "1", "description": "a little"},
                {"label": "2", "description": "fully"},
            ],
        },
        {
            "type": "choice",
            "name": "language",
            "instructions": "Which language?",
            "choices": [{"value": "English"}, {"value": "other"}],
        },
    ]


async def test_what_jev_is_sent(server: DecisionServer) -> None:
    await classified("jev", server.url)
    [body] = server.bodies
    assert body["state"] == {name: part for name, part in STATE.items() if name != "assistant_thought"}
    assert body["questions"] == {
        "hush": {"type": "noul", "instructions": "Be quiet?", "criteria": {"true": "told to be", "false": "not told"}},
        "request": {"type": "noul", "instructions": "A request?"},
        "directness": {"type": "score", "instructions": "How directly?", "criteria": ["not", "a little", "fully"]},
        "language": {"type": "choice", "instructions": "Which language?", "criteria": {"English": None, "other": None}},
    }


async def test_the_models_asked_unless_another_is_named(server: DecisionServer) -> None:
    for classifier in (OpenAIClassifier(KEY, base_url=f"{server.url}/v1"), JevClassifier(KEY, base_url=server.url)):
        await classifier.classify(STATE, QUESTIONS)
        await classifier.close()
    assert [body["model"] for body in server.bodies] == ["gpt-6-luna", "jev-latest"]


@BOTH
async def test_no_question_is_no_request(server: DecisionServer, vendor: str) -> None:
    classifier = made(vendor, server.url, "good")
    assert (await classifier.classify(STATE, {})).all() == {}
    await classifier.close()
    assert server.bodies == []


@BOTH
@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("refused", "HTTP 401"),
        ("busy", "HTTP 429"),
        ("failing", "HTTP 500"),
        ("hanging", r"in 0\.5 s"),
        ("page", "rubbish|no list of answers"),
        ("no_json", "rubbish|no list of answers"),
    ],
)
async def test_a_server_that_fails(
    server: DecisionServer, vendor: str, model: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(ClassifierError, match=says) as caught:
        await classified(vendor, server.url, model)
    assert len(server.bodies) == 1
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    for secret in (KEY, SAID, "stack trace"):
        assert secret not in shown


@BOTH
async def test_nobody_there(vendor: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ClassifierError, match="cannot be reached"):
        await classified(vendor, f"http://127.0.0.1:{port}")


def altered(name: str, **fields: object) -> Change:
    """The answer to `name` with other fields, for either vendor."""

    def change(body: Body) -> object:
        answers = body["answers"]
        answers[name if isinstance(answers, dict) else list(QUESTIONS).index(name)].update(fields)
        return body

    return change


def without(name: str) -> Change:
    def change(body: Body) -> object:
        del body["answers"][name if isinstance(body["answers"], dict) else list(QUESTIONS).index(name)]
        return body

    return change


WRONG: dict[str, Change] = {
    "an answer missing": without("hush"),
    "the last answer missing": without("language"),
    "another kind": altered("hush", type="choice", choice="English", confidence=1.0, probabilities=[]),
    "an unknown kind": altered("hush", type="new kind"),
    "no probability": altered("hush", probability=1.5, noul=1.5),
    "nothing": altered("hush", probability=None, noul=None),
    "a word": altered("hush", probability="yes", noul="yes"),
    "above the levels": altered("directness", score=2.5),
    "a word for a score": altered("directness", score="high"),
    "another option": altered("language", choice="German"),
    "no option": altered("language", choice=None),
    "a word for probabilities": altered("language", probabilities="many"),
    "no answers": lambda body: {"model": body["model"], "usage": body["usage"]},
    "answers of nothing": lambda body: {**body, "answers": None},
    "answers of words": lambda body: {**body, "answers": ["yes"]},
    "a list": lambda body: [body],
    "words": lambda body: "yes",
    "null": lambda body: None,
}


@BOTH
async def test_a_wrong_shape_fails_the_call(server: DecisionServer, vendor: str) -> None:
    classifier = made(vendor, server.url, "good")
    for what, server.change in WRONG.items():
        with pytest.raises(ClassifierError) as caught:
            pytest.fail(f"{what}: {(await classifier.classify(STATE, QUESTIONS)).all()}")
        assert SAID not in str(caught.value)
    await classifier.close()


async def test_openai_refusing_one_question_fails_the_call(server: DecisionServer) -> None:
    def refuse(body: Body) -> object:
        body["answers"][1] = {"type": "refusal", "name": "request"}
        return body

    server.change = refuse
    with pytest.raises(ClassifierError, match="request: the model refuses"):
        await classified("openai", server.url)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda body: {**body, "answers": body["answers"][::-1]}, "hush: the answer is to another question"),
        (lambda body: {**body, "answers": [*body["answers"], *body["answers"]]}, "8 answers to 4 questions"),
        (altered("directness", probabilities=[{"label": "0", "value": 0, "probability": 1.0}]), "directness"),
        (altered("language", probabilities=[{"value": "English", "probability": 1.0}]), "language"),
    ],
)
async def test_openais_answers_must_be_those_to_the_questions(server: DecisionServer, change: Change, says: str) -> None:
    server.change = change
    with pytest.raises(ClassifierError, match=says):
        await classified("openai", server.url)


async def test_openais_unnamed_answers_count_by_their_order(server: DecisionServer) -> None:
    server.change = lambda body: {**body, "answers": [{**answer, "name": None} for answer in body["answers"]]}
    assert (await classified("openai", server.url)).all() == EXPECTED


# -- keys ---------------------------------------------------------------------------------------------------------------


@BOTH
async def test_a_server_of_ones_own_is_not_sent_the_key_of_the_environment(
    server: DecisionServer, vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    await classified(vendor, server.url, key=None)
    assert KEY not in str(server.headers)


async def test_addresses_and_keys_of_the_environment_go_together(server: DecisionServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("TYPESAFE_API_KEY", KEY)
    monkeypatch.setenv("TYPESAFE_BASE_URL", server.url)
    for classifier in (OpenAIClassifier(), JevClassifier()):
        await classifier.classify(STATE, QUESTIONS)
        await classifier.close()
    assert [headers["authorization"] for headers in server.headers] == [f"Bearer {KEY}"] * 2


async def test_a_missing_or_unsendable_key_is_told_at_once() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        OpenAIClassifier()
    with pytest.raises(ConfigError, match="TYPESAFE_API_KEY"):
        JevClassifier()
    for make in (OpenAIClassifier, JevClassifier):
        with pytest.raises(ConfigError) as caught:
            make("sk-ké y\n")
        assert "sk-k" not in str(caught.value)
        with pytest.raises(ValueError, match="timeout"):
            make(KEY, timeout=0)
