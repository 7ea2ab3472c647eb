"""The kinds of question that a classifier answers, and of answers it gives: all of them in one call, or an error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from voiceagent.errors import VoiceAgentError
from voiceagent.values import JSON


class ClassifierError(VoiceAgentError):
    """A classifier did not answer every question it was asked."""


@dataclass(frozen=True, slots=True)
class YesNoQuestion:
    """Answered by the probability of yes; `yes` and `no` say what either means where that helps."""

    instructions: str
    yes: str | None = None
    no: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """Answered by a level, lowest first; the answer's score is the expected one, counted from 0."""

    instructions: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if len(self.levels) < 2:
            raise ValueError("a score needs at least two levels")


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """Answered by one of the options."""

    instructions: str
    options: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))
        if len(self.options) < 2:
            raise ValueError("a choice needs at least two options")


Question = YesNoQuestion | ScoreQuestion | ChoiceQuestion


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """The probability of yes, 0..1."""

    probability: float


@dataclass(frozen=True, slots=True)
class ScoreAnswer:
    """The expected level, and each level's probability where the classifier tells."""

    score: float
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The option chosen, and each option's probability."""

    choice: str
    probabilities: Mapping[str, float] = field(default_factory=dict)


Answer = YesNoAnswer | ScoreAnswer | ChoiceAnswer

A = TypeVar("A", YesNoAnswer, ScoreAnswer, ChoiceAnswer)


class Answers:
    """The answers of one call by the questions' names. Reading one as another kind raises TypeError; an unasked one reads 0."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = dict(answers)

    def __contains__(self, name: str) -> bool:
        return name in self._answers

    def all(self) -> Mapping[str, Answer]:
        """Every answer by its question's name."""
        return dict(self._answers)

    def having(self, changed: Mapping[str, Answer]) -> "Answers":
        """These answers with some of them changed or added."""
        return Answers({**self._answers, **changed})

    def probability(self, name: str) -> float:
        """The probability of yes; 0 for a question that was not asked."""
        answer = self._read(name, YesNoAnswer)
        return answer.probability if answer is not None else 0.0

    def score(self, name: str) -> float:
        """The expected level; 0 for a question that was not asked."""
        answer = self._read(name, ScoreAnswer)
        return answer.score if answer is not None else 0.0

    def choice(self, name: str) -> str | None:
        """The option chosen; None for a question that was not asked."""
        answer = self._read(name, ChoiceAnswer)
        return answer.choice if answer is not None else None

    def judgments(self) -> dict[str, float]:
        """Every answer as a number: probabilities, scores, and a choice as `name=option` with its probability."""
        numbers: dict[str, float] = {}
        for name, answer in self._answers.items():
            match answer:
                case YesNoAnswer(probability):
                    numbers[name] = probability
                case ScoreAnswer(score):
                    numbers[name] = score
                case ChoiceAnswer(choice, probabilities):
                    numbers[f"{name}={choice}"] = probabilities.get(choice, 1.0)
        return numbers

    def _read(self, name: str, kind: type[A]) -> A | None:
        answer = self._answers.get(name)
        if answer is not None and not isinstance(answer, kind):
            raise TypeError(f"the answer to {name!r} is a {type(answer).__name__}, not a {kind.__name__}")
        return answer


State = Mapping[str, JSON]


class Classifier(Protocol):
    """Answers questions about a state in one call, within a bound of its own."""

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """An answer to every question. Raises ClassifierError when even one is missing."""
        ...

    async def close(self) -> None:
        """Lets go of what the classifier holds."""
        ...
