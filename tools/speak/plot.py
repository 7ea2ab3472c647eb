"""The reliability plot: for each judgment with enough labels, how often yes was right at each probability."""

import asyncio
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.evaluation.labelled import LABELS, read_turns
from voiceagent.judgment.evaluation.measures import reliability
from voiceagent.judgment.evaluation.trial import ByClassifier, Trial, tried

ENOUGH = 100


async def trials(path: Path) -> list[Trial]:
    """The shipped classifier's trials on a file."""
    classifier = EmbeddedClassifier()
    judge = ByClassifier(classifier)
    found = [await tried(judge, turn) for turn in read_turns(path)]
    await classifier.close()
    return found


def plot(path: Path, out: Path) -> None:
    """Draws the judgments on a file of turns."""
    done = asyncio.run(trials(path))
    figure, axes = plt.subplots(figsize=(6, 6))
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name in LABELS:
        pairs = [
            (trial.answers.probability(name), trial.turn.labels[name])
            for trial in done
            if name != "directness" and trial.answers is not None and name in trial.answers and name in trial.turn.labels
        ]
        if len(pairs) >= ENOUGH:
            points = reliability(np.array([p for p, _ in pairs]), np.array([y for _, y in pairs]))
            axes.plot([p for p, _, _ in points], [y for _, y, _ in points], marker="o", label=f"{name} ({len(pairs)})")
    axes.set(xlabel="probability of yes", ylabel="share of yes", title="Blind writers")
    axes.legend(loc="upper left", fontsize=8)
    figure.tight_layout()
    figure.savefig(out, dpi=110)
