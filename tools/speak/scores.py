"""Scores while training: modes by the policy's own thresholds, and the temperature of each head."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.speak.data import Example, Row
from voiceagent.judgment.classifier.heads import NAMES, answers
from voiceagent.judgment.classifier.question import Answers, ScoreAnswer, YesNoAnswer
from voiceagent.judgment.compose import Circumstances, outcome

Array = NDArray[np.float32]


def decided(row: Row, read: Answers) -> str:
    """The mode that answers lead to by the speak policy's rules, without a room around."""
    asked = dict(read.all())
    if not row.get("thought", {}).get("want_to_say"):
        asked = {name: answer for name, answer in asked.items() if name not in ("answers", "corrects")}
    asked.pop("waiting", None)
    listening = "listening" in row
    around = Circumstances(len(row["people"]) == 1, row.get("thought", {}).get("urgent", False), listening, "cut" in row)
    return outcome(around, Answers(asked)).mode


def gold(row: Row) -> str:
    """What a row expects; for a generated one, what its labels lead to."""
    if "expected" in row:
        return str(row["expected"])
    labels = {**row["labels"]}
    known = {name: YesNoAnswer(float(labels.get(name, 0))) for name in NAMES}
    level = labels.get("directness", 3 if row["agent"] in row["last"]["text"] else 0)
    return decided(row, Answers({**known, "directness": ScoreAnswer(float(level))}))


def mode_scores(logits: Array, rows: list[Row]) -> dict[str, Any]:
    """Modes right, false-speak and missed-speak, over all and by language."""
    pairs = [(gold(row), decided(row, Answers(answers(line))), row) for row, line in zip(rows, logits, strict=True)]
    found: dict[str, Any] = {
        "n": len(pairs),
        "right": round(float(np.mean([a == b for a, b, _ in pairs])), 4),
        "false_speak": round(float(np.mean([b == "speak" for a, b, _ in pairs if a == "silent"] or [False])), 4),
        "missed_speak": round(float(np.mean([b == "silent" for a, b, _ in pairs if a == "speak"] or [False])), 4),
    }
    for language in ("en", "fr", "es"):
        some = [a == b for a, b, row in pairs if row["language"] == language]
        if some:
            found[language] = round(float(np.mean(some)), 4)
    return found


def temperatures(logits: Array, data: list[Example]) -> list[float]:
    """The temperature of each yes/no head, then directness's, that makes the labels most likely; 1.2 where there are few."""
    grid = np.arange(0.6, 3.05, 0.05)
    found = []
    for head in range(len(NAMES)):
        known = np.array([e.labels[head] for e in data])
        found.append(_best(grid, logits[known >= 0, head], known[known >= 0]))
    levels = np.array([e.directness for e in data])
    some = logits[levels >= 0][:, len(NAMES) :]
    costs = []
    for t in grid:
        scaled = some / t
        costs.append(float(np.mean(np.log(np.exp(scaled).sum(1)) - scaled[np.arange(len(some)), levels[levels >= 0]])))
    return [*found, float(grid[int(np.argmin(costs))])]


def _best(grid: NDArray[np.float64], logits: Array, labels: NDArray[np.int64]) -> float:
    if len(labels) < 50 or labels.min() == labels.max():
        return 1.2
    costs = [float(np.mean(np.logaddexp(0, logits / t) - labels * logits / t)) for t in grid]
    return float(grid[int(np.argmin(costs))])


__all__ = ["decided", "gold", "mode_scores", "temperatures"]
