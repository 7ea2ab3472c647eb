"""Figures of trials: modes right, speaking where silence was right and the other way round, and how good each judgment is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.judgment.classifier.question import ScoreAnswer
from voiceagent.judgment.compose import ADDRESSED, RESUME, TENTATIVE, YES
from voiceagent.judgment.evaluation.labelled import LABELS
from voiceagent.judgment.evaluation.trial import Trial

_Z: Final = 1.959964
_BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many; the share and its 95 % interval (Wilson) are None of nothing."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """Their quotient."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval."""
        if not self.of:
            return None
        p, n = self.count / self.of, self.of
        middle = (p + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
        half = _Z * sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n)) / (1 + _Z * _Z / n)
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True, slots=True)
class Judged:
    """How good one question's answers are, over the `n` turns labelled for it, `positives` of them yes.

    `auc` is the chance that a yes is put above a no, None when one of them is missing; `ece` the expected calibration error over
    ten bins; `brier` the mean squared error; `right` the share on the right side of the policy's threshold. For directness, a
    score, `auc` and `ece` are those of "addressed" (level 2 or 3), `right` the share in the right one of the policy's bands, and
    `error` the mean distance.
    """

    n: int
    positives: int
    auc: float | None
    ece: float
    brier: float
    right: float
    error: float | None = None


def modes_right(trials: Sequence[Trial]) -> Share:
    """How often the mode was the expected one."""
    return Share(sum(trial.mode == trial.turn.expected for trial in trials), len(trials))


def false_speak(trials: Sequence[Trial]) -> Share:
    """Of the turns on which silence was right, those on which it spoke."""
    quiet = [trial for trial in trials if trial.turn.expected == "silent"]
    return Share(sum(trial.mode == "speak" for trial in quiet), len(quiet))


def false_offer(trials: Sequence[Trial]) -> Share:
    """Of the turns on which silence was right, those on which it offered."""
    quiet = [trial for trial in trials if trial.turn.expected == "silent"]
    return Share(sum(trial.mode == "offer" for trial in quiet), len(quiet))


def missed_speak(trials: Sequence[Trial]) -> Share:
    """Of the turns that wanted an answer, those on which it stayed silent."""
    asked = [trial for trial in trials if trial.turn.expected == "speak"]
    return Share(sum(trial.mode == "silent" for trial in asked), len(asked))


def per_question(trials: Sequence[Trial]) -> dict[str, Judged]:
    """Each labelled question that was asked, by name."""
    found: dict[str, Judged] = {}
    for name in LABELS:
        asked = [trial for trial in trials if _asked(trial, name)]
        if asked and name == "directness":
            found[name] = _directness(asked)
        elif asked:
            labels = np.array([trial.turn.labels[name] for trial in asked])
            found[name] = judged(name, np.array([_answer(trial, name) for trial in asked]), labels)
    return found


def judged(name: str, chances: NDArray[np.float64], labels: NDArray[np.int64]) -> Judged:
    """The figures of one yes/no question from its probabilities and 0/1 labels."""
    threshold = RESUME if name == "resume" else YES
    right = float(np.mean((chances >= threshold) == (labels == 1)))
    brier = float(np.mean((chances - labels) ** 2))
    return Judged(len(labels), int(labels.sum()), auc(chances, labels), ece(chances, labels), brier, right)


def auc(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> float | None:
    """The area under the ROC curve; ties count half."""
    yes, no = chances[labels == 1], chances[labels == 0]
    if not len(yes) or not len(no):
        return None
    above = (yes[:, None] > no[None, :]).sum() + 0.5 * (yes[:, None] == no[None, :]).sum()
    return float(above / (len(yes) * len(no)))


def ece(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """The expected calibration error: over ten bins of probability, how far the mean one is from the share of yes."""
    total = 0.0
    for chance, share, count in reliability(chances, labels):
        total += abs(chance - share) * count / len(labels)
    return total


def reliability(chances: NDArray[np.float64], labels: NDArray[np.int64]) -> list[tuple[float, float, int]]:
    """For each bin that holds any: the mean probability, the share of yes, how many."""
    bins = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    filled = [bins == place for place in range(_BINS) if (bins == place).any()]
    return [(float(chances[some].mean()), float(labels[some].mean()), int(some.sum())) for some in filled]


def _directness(trials: Sequence[Trial]) -> Judged:
    scores = np.array([_answer(trial, "directness") for trial in trials])
    levels = np.array([trial.turn.labels["directness"] for trial in trials])
    chances, addressed = np.array([_addressed(trial) for trial in trials]), (levels >= 2).astype(np.int64)
    bands = np.digitize(scores, (TENTATIVE, ADDRESSED)) == np.digitize(levels, (TENTATIVE, ADDRESSED))
    figures = judged("directness", chances, addressed)
    return replace(figures, right=float(bands.mean()), error=float(np.mean(np.abs(scores - levels))))


def _addressed(trial: Trial) -> float:
    """The probability of level 2 or 3; a third of the score where the classifier gives no probabilities."""
    answer = trial.answers.all().get("directness") if trial.answers is not None else None
    if not isinstance(answer, ScoreAnswer):
        return 0.0
    return sum(answer.probabilities[2:]) if answer.probabilities else min(1.0, max(0.0, answer.score / 3))


def _asked(trial: Trial, name: str) -> bool:
    return trial.answers is not None and name in trial.answers and name in trial.turn.labels


def _answer(trial: Trial, name: str) -> float:
    if trial.answers is None:
        return 0.0
    return trial.answers.score(name) if name == "directness" else trial.answers.probability(name)
