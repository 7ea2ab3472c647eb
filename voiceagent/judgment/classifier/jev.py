"""Jev, and local servers of its kind (System One), as a classifier through `typesafe-sdk`; imported only when it is chosen."""

import asyncio
from collections.abc import Mapping
from typing import Final, cast

from voiceagent import clock
from voiceagent.errors import ConfigError
from voiceagent.judgment.classifier import reading
from voiceagent.judgment.classifier.key import Vendor, key_for
from voiceagent.judgment.classifier.material import material
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

try:
    import typesafe_sdk
    from typesafe_sdk import constants
except ImportError as error:
    raise ConfigError("JevClassifier needs the package typesafe-sdk: pip install 'voiceagent[jev]'") from error

_VENDOR: Final = Vendor("JevClassifier", key=constants.API_KEY_ENV, address=constants.BASE_URL_ENV)


class JevClassifier:
    """Asks all questions in one request, within `timeout` seconds and without a retry.

    Without `base_url` (or TYPESAFE_BASE_URL) the vendor's own service is asked, and needs a key: `api_key` or TYPESAFE_API_KEY. A
    `base_url` given here names a server of yours, which gets `api_key` alone, never the key in the environment. `model` is the
    server's default when None. Raises ConfigError for a missing key or one that cannot be sent.
    """

    def __init__(
        self, api_key: str | None = None, *, base_url: str | None = None, model: str | None = None, timeout: float = 3.0
    ) -> None:
        if timeout <= 0:
            raise ValueError("timeout must be above 0 seconds")
        self._client = typesafe_sdk.AsyncTypeSafeClient(
            api_key=key_for(_VENDOR, api_key, base_url),
            base_url=base_url,
            model=model,
            timeout=timeout,
            retry=typesafe_sdk.RetryPolicy(max_retries=0),
            compression=False,  # a local server need not know it, and a state is a few kilobytes
        )
        self._timeout = timeout

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The answers by name. Raises ClassifierError, whose text holds no key, state or body."""
        if not questions:
            return Answers({})
        asked: dict[str, typesafe_sdk.Question] = {name: _asked(question) for name, question in questions.items()}
        told = await self._told(material(state, questions), asked)
        return Answers({name: _answer(name, question, told.get(name)) for name, question in questions.items()})

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _told(self, state: State, asked: Mapping[str, typesafe_sdk.Question]) -> Mapping[str, typesafe_sdk.Answer]:
        try:
            with clock.outside():
                async with asyncio.timeout(self._timeout):
                    response = await self._client.system_one(cast(typesafe_sdk.Content, state), asked)
                    return response.answers
        except (typesafe_sdk.TypeSafeAPITimeoutError, TimeoutError):
            what = f"did not answer in {self._timeout:g} s"
        except typesafe_sdk.TypeSafeAPIResponseValidationError:
            what = "answered with rubbish"
        except typesafe_sdk.TypeSafeAPIError as error:
            what = f"answered with HTTP {error.status}"
        except (typesafe_sdk.TypeSafeAPIConnectionError, OSError):
            what = "cannot be reached"
        except (typesafe_sdk.TypeSafeError, ValueError, TypeError):
            what = "answered with rubbish"
        raise ClassifierError(f"the System One server {what}")


def _asked(question: Question) -> typesafe_sdk.Question:
    match question:
        case YesNoQuestion(instructions, yes, no):
            meanings: typesafe_sdk.NoulCriteria = {}
            if yes:
                meanings["true"] = yes
            if no:
                meanings["false"] = no
            return typesafe_sdk.Noul(instructions=instructions, criteria=meanings or None)
        case ScoreQuestion(instructions, levels):
            return typesafe_sdk.Score(instructions=instructions, criteria=list(levels))
        case ChoiceQuestion(instructions, options):
            return typesafe_sdk.Choice(instructions=instructions, criteria=dict.fromkeys(options))


def _answer(name: str, question: Question, told: typesafe_sdk.Answer | None) -> Answer:
    match question, told:
        case YesNoQuestion(), typesafe_sdk.NoulAnswer(noul=probability):
            return reading.yes_no(name, probability)
        case ScoreQuestion(), typesafe_sdk.ScoreAnswer(score=expected, probabilities=probabilities):
            return reading.score(name, question, expected, dict(probabilities))
        case ChoiceQuestion(), typesafe_sdk.ChoiceAnswer(choice=chosen, probabilities=probabilities):
            return reading.choice(name, question, chosen, dict(probabilities))
        case _, None:
            raise ClassifierError(f"{name}: the server left the question without an answer")
    raise ClassifierError(f"{name}: the answer is of another kind than the question")
