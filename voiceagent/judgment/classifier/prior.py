"""What the priors share: how many levels one may add, and directness raised by them, which is said beside it."""

from typing import Final

from voiceagent.judgment.classifier.question import Answers, ScoreAnswer
from voiceagent.judgment.classifier.questions import DIRECTNESS

_HIGHEST: Final = len(DIRECTNESS.levels) - 1.0


def levels(amount: float) -> float:
    """The amount that a prior adds. Raises ValueError when it is not above 0 and at most 3."""
    if not 0 < amount <= 3:
        raise ValueError("amount counts levels of directness: give a number above 0 and up to 3")
    return amount


def raised(answers: Answers, prior: str, level: float, by: float) -> Answers:
    """The answers with directness at `level` and so many levels more, no higher than it goes; under `prior` how much that is."""
    before = answers.score("directness")
    after = min(level + by, max(before, _HIGHEST))
    return answers.having({"directness": ScoreAnswer(after), prior: ScoreAnswer(after - before)})
