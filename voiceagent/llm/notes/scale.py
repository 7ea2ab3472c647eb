"""How evidence becomes a choice: a linear ranking of the facts, and a small net's odds that the first of them is the answer."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voiceagent.errors import LanguageModelError
from voiceagent.llm.notes.evidence import FACT_COLUMNS, QUESTION_COLUMNS, Evidence, Table

WEIGHTS = Path(__file__).with_name("weights.json")
CHOICE_COLUMNS = ("chance", "group", "gap", "rank_score")
GATE_COLUMNS = (*FACT_COLUMNS, *QUESTION_COLUMNS, *CHOICE_COLUMNS)
_FARTHEST = 5.0
_OUTLIER = 4.0


@dataclass(frozen=True, slots=True)
class Gate:
    """Several nets of one hidden layer, averaged: `inner` (nets, GATE_COLUMNS, hidden), `inner_bias` and `outer` (nets, hidden),
    `bias` (nets,). A row is first taken to standard units by `middle` and `spread` (GATE_COLUMNS,), outliers held at 4."""

    middle: Table
    spread: Table
    inner: Table
    inner_bias: Table
    outer: Table
    bias: Table

    def log_odds(self, row: Table) -> float:
        """The log-odds that a row of `choice` belongs to the answer."""
        units = np.clip((row - self.middle) / self.spread, -_OUTLIER, _OUTLIER)
        hidden = np.tanh(units @ self.inner + self.inner_bias)
        return float(np.mean((hidden * self.outer).sum(axis=1) + self.bias))


@dataclass(frozen=True, slots=True)
class Scale:
    """What tools/notes/fit.py fits: `rank` (FACT_COLUMNS,), the gate, and the log-odds from which on an answer is given."""

    rank: Table
    gate: Gate
    threshold: float

    def scores(self, evidence: Evidence) -> Table:
        """Shape (facts,): the higher the likelier; minus infinity for facts that cannot answer."""
        return np.where(evidence.may, evidence.table @ self.rank, -np.inf)

    def sure(self, evidence: Evidence, scores: Table, headings: NDArray[np.int64]) -> float:
        """The log-odds that the best of the facts is the answer; minus infinity when none can be."""
        if not np.isfinite(scores).any():
            return float("-inf")
        return self.gate.log_odds(choice(evidence, scores, headings))


def choice(evidence: Evidence, scores: Table, headings: NDArray[np.int64]) -> Table:
    """What the gate looks at, shape (GATE_COLUMNS,); `headings` numbers the heading that each fact stands under."""
    best = int(np.argmax(scores))
    shares = np.exp(scores - scores[best])
    shares /= shares.sum()
    others = scores[np.arange(len(scores)) != best]
    gap = min(_FARTHEST, float(scores[best] - others.max())) if len(others) else _FARTHEST
    group = float(shares[headings == headings[best]].sum())
    return np.concatenate([evidence.table[best], evidence.question, [shares[best], group, gap, scores[best]]])


def read(path: Path = WEIGHTS) -> Scale:
    """The weights that come with the package, or another file of theirs. Raises LanguageModelError, naming the fault."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if tuple(found["columns"]) != GATE_COLUMNS:
            raise ValueError("fitted for other columns")
        names = ("middle", "spread", "inner", "inner_bias", "outer", "bias")
        gate = Gate(*(np.array(found["gate"][name], dtype=np.float64) for name in names))
        return Scale(np.array(found["rank"], dtype=np.float64), gate, float(found["threshold"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LanguageModelError(f"notes weights {path}: missing or damaged ({error!r})", category="notes") from error


def write(scale: Scale, path: Path = WEIGHTS) -> None:
    """Writes the weights, four digits each, in the form that `read` reads."""
    gate = scale.gate
    found = {
        "columns": GATE_COLUMNS,
        "threshold": round(scale.threshold, 2),
        "rank": np.round(scale.rank, 4).tolist(),
        "gate": {
            "middle": np.round(gate.middle, 4).tolist(),
            "spread": np.round(gate.spread, 4).tolist(),
            "inner": np.round(gate.inner, 4).tolist(),
            "inner_bias": np.round(gate.inner_bias, 4).tolist(),
            "outer": np.round(gate.outer, 4).tolist(),
            "bias": np.round(gate.bias, 4).tolist(),
        },
    }
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")
