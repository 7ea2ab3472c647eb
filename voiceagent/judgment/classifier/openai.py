"""OpenAI's decisions as a classifier, through the `openai` client."""

import asyncio
from collections.abc import Mapping
from typing import Final

import httpx2
import openai
from openai import AsyncOpenAI
from openai.types.decision import Decision
from openai.types.decision_create_params import Question as Asked

from voiceagent import clock
from voiceagent.judgment.classifier import reading
from voiceagent.judgment.classifier.key import Vendor, key_for
from voiceagent.judgment.classifier.material import material, on_one_line
from voiceagent.judgment.classifier.question import (
    Answer,
    Answers,
    ChoiceQuestion,
    ClassifierError,
    Question,
    ScoreQuestion,
    State,
    YesNoQuestion,
)

_VENDOR: Final = Vendor("OpenAIClassifier", key="OPENAI_API_KEY", address="OPENAI_BASE_URL")
_KINDS: Final[Mapping[type, str]] = {YesNoQuestion: "predicate", ScoreQuestion: "score", ChoiceQuestion: "choice"}


class OpenAIClassifier:
    """Asks all questions in one request, within `timeout` seconds and without a retry.

    OpenAI itself needs a key: `api_key` or OPENAI_API_KEY. A `base_url` given here names a server of yours, which gets `api_key`
    alone, never the key in the environment. Raises ConfigError for a missing key or one that cannot be sent.
    """

    def __init__(
        self, api_key: str | None = None, *, base_url: str | None = None, model: str = "gpt-6-luna", timeout: float = 3.0
    ) -> None:
        if timeout <= 0:
            raise ValueError("timeout must be above 0 seconds")
        self._client = AsyncOpenAI(api_key=key_for(_VENDOR, api_key, base_url), base_url=base_url, timeout=timeout, max_retries=0)
        self._model = model
        self._timeout = timeout

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The answers, matched by their order. Raises ClassifierError, whose text holds no key, state or body; also when the
        model refuses a single question."""
        if not questions:
            return Answers({})
        asked = [_asked(name, question) for name, question in questions.items()]
        told = _listed(await self._decided(on_one_line(material(state, questions)), asked))
        if len(told) != len(questions):
            raise ClassifierError(f"{self._model} gave {len(told)} answers to {len(questions)} questions")
        pairs = zip(questions.items(), told, strict=True)
        return Answers({name: _answer(name, question, answer) for (name, question), answer in pairs})

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _decided(self, state: str, asked: list[Asked]) -> object:
        try:
            with clock.outside():
                async with asyncio.timeout(self._timeout):
                    return await self._client.decisions.create(input=state, model=self._model, questions=asked)
        except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
            what = f"did not answer in {self._timeout:g} s"
        except openai.APIStatusError as error:
            what = f"answered with HTTP {error.status_code}"
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError, OSError):
            what = "cannot be reached"
        except (openai.OpenAIError, ValueError, TypeError, AttributeError):
            what = "answered with rubbish"
        raise ClassifierError(f"{self._model} {what}")


def _asked(name: str, question: Question) -> Asked:
    match question:
        case YesNoQuestion(instructions, yes, no):
            meanings = [f"{sign}: {text}" for sign, text in (("Yes", yes), ("No", no)) if text]
            return {"type": "predicate", "name": name, "instructions": "\n".join((instructions, *meanings))}
        case ScoreQuestion(instructions, levels):
            described = [{"label": str(level), "description": text} for level, text in enumerate(levels)]
            return {"type": "score", "name": name, "instructions": instructions, "levels": described}  # type: ignore[typeddict-item]
        case ChoiceQuestion(instructions, options):
            choices = [{"value": option} for option in options]
            return {"type": "choice", "name": name, "instructions": instructions, "choices": choices}  # type: ignore[typeddict-item]


def _listed(decided: object) -> list[object]:
    """The client does not check what it was sent: it is read as the JSON that it was."""
    answers = decided.to_dict(warnings=False).get("answers") if isinstance(decided, Decision) else None
    if not isinstance(answers, list):
        raise ClassifierError("the decision holds no list of answers")
    return answers


def _answer(name: str, question: Question, told: object) -> Answer:
    if not isinstance(told, dict) or told.get("name", name) not in (name, None):
        raise ClassifierError(f"{name}: the answer is to another question")
    if told.get("type") == "refusal":
        raise ClassifierError(f"{name}: the model refuses to answer")
    if told.get("type") != _KINDS[type(question)]:
        raise ClassifierError(f"{name}: the answer is of another kind than the question")
    match question:
        case YesNoQuestion():
            return reading.yes_no(name, told.get("probability"))
        case ScoreQuestion(levels=levels):
            numbers = {str(level): level for level in range(len(levels))}
            by_level = {numbers.get(label, -1): share for label, share in _shares(name, told, "label")}
            return reading.score(name, question, told.get("score"), by_level)
        case ChoiceQuestion():
            return reading.choice(name, question, told.get("choice"), dict(_shares(name, told, "value")))


def _shares(name: str, told: Mapping[str, object], key: str) -> list[tuple[str, object]]:
    probabilities = told.get("probabilities")
    if not isinstance(probabilities, list):
        raise ClassifierError(f"{name}: the answer holds no probabilities")
    return [(str(one.get(key)), one.get("probability")) for one in probabilities if isinstance(one, dict)]
