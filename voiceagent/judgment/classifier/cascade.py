"""A cheap classifier for what is plain, and a better one for what is close."""

import asyncio
import itertools
import logging
from collections.abc import Iterator, Mapping
from typing import Final

from voiceagent.judgment.classifier.backchannel import Backchannels
from voiceagent.judgment.classifier.question import (
    Answer,
    Answers,
    Classifier,
    ClassifierError,
    Question,
    ScoreAnswer,
    State,
    YesNoAnswer,
)
from voiceagent.judgment.compose import ADDRESSED, RESUME, TENTATIVE, TO_ITSELF, YES, Circumstances, Eagerness, outcome

log = logging.getLogger(__name__)

SHIFT: Final = 0.2
DIRECTNESS_SHIFT: Final = 0.4
_MOST_OPEN: Final = 6

_THRESHOLDS: Final[Mapping[str, tuple[float, ...]]] = {
    "directness": (TENTATIVE, ADDRESSED, TO_ITSELF),
    "resume": (RESUME,),
    **dict.fromkeys(
        ("deferred", "unfinished", "hush", "request", "answered", "listen_request", "asked_me", "lift", "waiting"), (YES,)
    ),
}


class CascadeClassifier:
    """Asks `first`, and `better` only where the answers are close: where the decision (its mode, whether the room listens from
    then on, whether a cut answer is gone on with) would change if probabilities moved by up to 0.2 and directness by up to 0.4.

    A turn made of `backchannels` alone (the shipped ones unless given) needs neither. `better` has `budget` seconds; when it
    fails or takes longer, the answers of `first` stand. When `first` fails, `better` is asked. `proactivity` is the policy's.
    It weighs the shipped rules: a policy whose decision() follows others should ask `better` itself. What `first` is wrong and
    certain about is not caught. Closing it closes both.
    """

    def __init__(
        self,
        first: Classifier,
        better: Classifier,
        *,
        budget: float = 1.0,
        proactivity: float = 0.5,
        backchannels: Backchannels | None = None,
    ) -> None:
        if budget <= 0:
            raise ValueError("budget is a time above 0 seconds")
        self._first = first
        self._better = better
        self._budget = budget
        self._eagerness = Eagerness(proactivity)
        self._backchannels = backchannels or Backchannels()

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """Answers to every question. Raises ClassifierError when neither classifier gives them."""
        settled = self._backchannels.answers(state, questions)
        left = {name: question for name, question in questions.items() if name not in settled}
        if not left:
            return Answers(settled)
        try:
            answers = (await self._first.classify(state, left)).having(settled)
        except Exception:
            log.warning("the first classifier failed: the better one is asked", exc_info=True)
            return (await self._within_budget(state, left)).having(settled)
        if self._certain(state, answers):
            return answers
        try:
            return (await self._within_budget(state, left)).having(settled)
        except Exception:
            log.warning("the better classifier failed: the first one's answers stand", exc_info=True)
            return answers

    async def close(self) -> None:
        """Closes both classifiers."""
        try:
            await self._first.close()
        finally:
            await self._better.close()

    async def _within_budget(self, state: State, questions: Mapping[str, Question]) -> Answers:
        try:
            async with asyncio.timeout(self._budget):
                return await self._better.classify(state, questions)
        except TimeoutError:
            raise ClassifierError(f"the better classifier did not answer in {self._budget:g} s") from None

    def _certain(self, state: State, answers: Answers) -> bool:
        circumstances = circumstances_of(state)
        stands = outcome(circumstances, answers, self._eagerness)
        open_ = {name: sides for name, answer in answers.all().items() if len(sides := self._sides(name, answer)) > 1}
        if len(open_) > _MOST_OPEN:
            return False
        moved = (answers.having(change) for change in _combined(open_))
        return all(outcome(circumstances, one, self._eagerness) == stands for one in moved)

    def _sides(self, name: str, answer: Answer) -> list[Answer]:
        """One answer for each side of a threshold that a small shift could bring this one to."""
        proactivity = self._eagerness.proactivity
        useful = (proactivity / 2, proactivity, YES) if name in ("answers", "corrects") else ()
        thresholds = _THRESHOLDS.get(name, useful)
        match answer:
            case YesNoAnswer(value):
                return [YesNoAnswer(side) for side in _sides_of(value, SHIFT, thresholds)]
            case ScoreAnswer(value):
                return [ScoreAnswer(side) for side in _sides_of(value, DIRECTNESS_SHIFT, thresholds)]
        return []


def circumstances_of(state: State) -> Circumstances:
    """What the rules read of a state that ClassifierSpeakPolicy makes."""
    agent, people, thought = state.get("agent"), state.get("people"), state.get("assistant_thought")
    return Circumstances(
        alone=isinstance(people, list) and len(people) == 1,
        urgent=isinstance(thought, dict) and thought.get("urgent") is True,
        listening=isinstance(agent, dict) and agent.get("listening_only") is not None,
        cut=state.get("assistant_cut_off") is not None,
    )


def _sides_of(value: float, shift: float, thresholds: tuple[float, ...]) -> list[float]:
    low, high = round(value - shift, 6), round(value + shift, 6)
    return [low, *sorted({threshold for threshold in thresholds if low < threshold <= high})]


def _combined(sides: Mapping[str, list[Answer]]) -> Iterator[dict[str, Answer]]:
    for values in itertools.product(*sides.values()):
        yield dict(zip(sides, values, strict=True))
