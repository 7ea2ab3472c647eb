"""Numbers that a classifier far away has sent, read with suspicion."""

import math
from collections.abc import Mapping

from voiceagent.judgment.classifier.question import (
    ChoiceAnswer,
    ChoiceQuestion,
    ClassifierError,
    ScoreAnswer,
    ScoreQuestion,
    YesNoAnswer,
)


def yes_no(name: str, probability: object) -> YesNoAnswer:
    """Raises ClassifierError for what is no probability."""
    return YesNoAnswer(_within(name, probability, 1.0))


def score(name: str, question: ScoreQuestion, expected: object, probabilities: Mapping[int, object]) -> ScoreAnswer:
    """`probabilities` by level, counted from 0; none at all will do. Raises ClassifierError for a score off the levels, or when
    only some levels have a probability."""
    if probabilities and set(probabilities) != set(range(len(question.levels))):
        raise ClassifierError(f"{name}: the answer does not give each of the {len(question.levels)} levels its probability")
    chances = tuple(_within(name, probabilities[level], 1.0) for level in sorted(probabilities))
    return ScoreAnswer(_within(name, expected, len(question.levels) - 1.0), chances)


def choice(name: str, question: ChoiceQuestion, chosen: object, probabilities: Mapping[str, object]) -> ChoiceAnswer:
    """Raises ClassifierError for what is none of the options, or when only some options have a probability."""
    if not isinstance(chosen, str) or chosen not in question.options:
        raise ClassifierError(f"{name}: the answer is none of {', '.join(question.options)}")
    if probabilities and set(probabilities) != set(question.options):
        raise ClassifierError(f"{name}: the answer does not give each of the options its probability")
    return ChoiceAnswer(chosen, {option: _within(name, chance, 1.0) for option, chance in probabilities.items()})


def _within(name: str, value: object, most: float) -> float:
    """A little over the edge is rounding, and is put back on it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ClassifierError(f"{name}: the answer holds no number where one belongs")
    if not -0.01 <= value <= most + 0.01:
        raise ClassifierError(f"{name}: the answer's {value:.6g} is not within 0 and {most:g}")
    return min(max(float(value), 0.0), most)
