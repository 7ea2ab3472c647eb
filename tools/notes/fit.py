"""Fits the notes brain's weights on the training files, and says how well they do on files that were left out of the fit.

    python -m tools.notes.fit            # leave every file out once, print the figures, then fit on all and write weights.json
    python -m tools.notes.fit --dry      # the same, writing nothing

Two steps. The ranking is a softmax over a file's facts, linear, trained on the questions that the notes answer. The gate, a few
small nets averaged, looks at the first of the ranking: is it the answer? It learns from every question, and from every question
that has an answer once more with that answer taken out of the notes, which makes it a question about something absent.
Set OPENBLAS_NUM_THREADS=1: it is faster so.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voiceagent import weights
from voiceagent.llm.embedding import MiniLM
from voiceagent.llm.notes import facts
from voiceagent.llm.notes.evidence import Evidence, Index, Table
from voiceagent.llm.notes.scale import Gate, Scale, choice, write

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools" / "notes"
OWN = (("library", ROOT / "config" / "notes.md", TOOLS), ("workshop", TOOLS / "second" / "notes.md", TOOLS / "second"))
WRONG = 0.02
RANK_DECAY, GATE_DECAY, TAKEN_OUT = 0.01, 0.002, 0.5
NETS, HIDDEN = 4, 10


@dataclass(frozen=True)
class Case:
    """One question as it was typed or heard, weighed against its file: `gold` are the facts that answer it, none when absent."""

    file: str
    kind: str
    question: str
    evidence: Evidence
    headings: NDArray[np.int64]
    gold: NDArray[np.bool_]

    @property
    def answerable(self) -> bool:
        """Whether the notes hold an answer."""
        return bool(self.gold.any())


def folders() -> Iterator[tuple[str, Path, Path]]:
    """Every file that is learned from: its name, its notes, the folder of its questions."""
    yield from OWN
    for folder in sorted([TOOLS / "blind", *(TOOLS / "training").iterdir()]):
        if (folder / "notes.md").exists():
            yield folder.name, folder / "notes.md", folder


def cases() -> list[Case]:
    """All questions of all files, typed and as heard; follow-ups and double questions are left to the report."""
    embedder = MiniLM(weights.path("all-MiniLM-L6-v2"))
    found: list[Case] = []
    for name, path, folder in folders():
        notes = facts.read(path)
        index = Index(notes, embedder)
        headings = np.array([sorted({f.heading for f in notes.facts}).index(fact.heading) for fact in notes.facts])
        lines = [json.loads(line) for part in sorted(folder.glob("*.jsonl")) for line in part.read_text("utf-8").splitlines()]
        for line in lines:
            if line["kind"] in ("followup", "two"):
                continue
            gold = np.array([any(text in fact.text for text in line["expect"]) for fact in notes.facts], dtype=bool)
            forms = dict.fromkeys((line["question"], line.get("heard") or line["question"]))
            found.extend(Case(name, line["kind"], form, index.weigh(form), headings, gold) for form in forms)
    return found


def fit_rank(learned: Sequence[Case]) -> Table:
    """Weights of a softmax over the facts of a file, by Adam, in the columns' own units."""
    kept = [case for case in learned if (case.gold & case.evidence.may).any()]
    rows = np.concatenate([case.evidence.table[case.evidence.may] for case in kept])
    gold = np.concatenate([case.gold[case.evidence.may] for case in kept]).astype(np.float64)
    sizes = [int(case.evidence.may.sum()) for case in kept]
    starts, owner = np.cumsum([0, *sizes])[:-1], np.repeat(np.arange(len(kept)), sizes)
    scale = rows.std(axis=0) + 1e-6
    rows = rows / scale
    w = np.zeros(rows.shape[1])
    adam = Adam(0.1, [w])
    for _ in range(300):
        scores = rows @ w
        shares = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        right = shares * gold / np.add.reduceat(shares * gold, starts)[owner]
        shares /= np.add.reduceat(shares, starts)[owner]
        (w,) = adam.step([w], [rows.T @ (shares - right) / len(kept) + RANK_DECAY * w])
    return np.asarray(w / scale)


def fit_gate(learned: Sequence[Case], rank: Table) -> Gate:
    """The gate, from each case's first fact; from answerable ones also with the answer taken out, at half the weight."""
    plain = Scale(rank, Gate(*(np.zeros(0) for _ in range(6))), 0.0)
    rows: list[Table] = []
    truth: list[tuple[float, float]] = []
    for case in learned:
        scores = plain.scores(case.evidence)
        for ranked, weight in ((scores, 1.0), (np.where(case.gold, -np.inf, scores), TAKEN_OUT)):
            if np.isfinite(ranked).any() and (weight == 1.0 or case.answerable):
                rows.append(choice(case.evidence, ranked, case.headings))
                truth.append((float(case.gold[int(np.argmax(ranked))]), weight))
    table = np.stack(rows)
    middle, spread = table.mean(axis=0), np.maximum(table.std(axis=0), 1e-3)
    units = np.clip((table - middle) / spread, -4, 4)
    nets = [fit_net(units, np.array(truth), seed) for seed in range(NETS)]
    return Gate(middle, spread, *(np.stack(part) for part in zip(*nets, strict=True)))


def fit_net(units: Table, truth: Table, seed: int) -> list[Table]:
    """One net: inner weights, inner bias, outer weights, bias; by Adam on the weighted logistic loss. `truth` (rows, 2)."""
    right, weight = truth[:, 0], truth[:, 1] / truth[:, 1].sum()
    random = np.random.default_rng(seed)
    parts = [random.normal(0, 0.3, (units.shape[1], HIDDEN)), np.zeros(HIDDEN), random.normal(0, 0.3, HIDDEN), np.zeros(1)]
    adam = Adam(0.03, parts)
    for _ in range(500):
        hidden = np.tanh(units @ parts[0] + parts[1])
        error = weight * (1 / (1 + np.exp(-(hidden @ parts[2] + parts[3]))) - right)
        back = np.outer(error, parts[2]) * (1 - hidden * hidden)
        slopes = [
            units.T @ back + GATE_DECAY * parts[0],
            back.sum(0),
            hidden.T @ error + GATE_DECAY * parts[2],
            error.sum(keepdims=True),
        ]
        parts = adam.step(parts, slopes)
    return [parts[0], parts[1], parts[2], parts[3][0]]


class Adam:
    """Kingma and Ba's steps (arXiv 1412.6980) for a list of arrays."""

    def __init__(self, rate: float, parts: Sequence[Table]) -> None:
        self._rate = rate
        self._first = [np.zeros_like(part) for part in parts]
        self._second = [np.zeros_like(part) for part in parts]
        self._steps = 0

    def step(self, parts: Sequence[Table], slopes: Sequence[Table]) -> list[Table]:
        """The parts, moved once against their slopes."""
        self._steps += 1
        self._first = [0.9 * old + 0.1 * slope for old, slope in zip(self._first, slopes, strict=True)]
        self._second = [0.999 * old + 0.001 * slope * slope for old, slope in zip(self._second, slopes, strict=True)]
        one, two = 1 - 0.9**self._steps, 1 - 0.999**self._steps
        moves = [self._rate * (f / one) / (np.sqrt(s / two) + 1e-8) for f, s in zip(self._first, self._second, strict=True)]
        return [part - move for part, move in zip(parts, moves, strict=True)]


def fit(learned: Sequence[Case]) -> Scale:
    """Ranking and gate; the threshold is set afterwards, on what was left out."""
    rank = fit_rank(learned)
    return Scale(rank, fit_gate(learned, rank), 0.0)


@dataclass(frozen=True)
class Outcome:
    """What a scale that had not seen the file makes of a case: its first fact, whether that is right, and how sure it is."""

    case: Case
    first: int
    right: bool
    sure: float


def left_out(all_cases: Sequence[Case]) -> list[Outcome]:
    """Every case, judged by a scale fitted without its file."""
    found: list[Outcome] = []
    for file in sorted({case.file for case in all_cases}):
        scale = fit([case for case in all_cases if case.file != file])
        for case in all_cases:
            if case.file == file:
                scores = scale.scores(case.evidence)
                first = int(np.argmax(scores))
                found.append(Outcome(case, first, bool(case.gold[first]), scale.sure(case.evidence, scores, case.headings)))
    return found


def threshold(outcomes: Sequence[Outcome], wrong: float) -> float:
    """The lowest log-odds at which at most this share of all questions is answered wrongly."""
    ranked = sorted(outcomes, key=lambda one: -one.sure)
    best, bad = math.inf, 0
    for one in ranked:
        bad += not one.right
        if bad > wrong * len(ranked):
            break
        best = one.sure
    return best


def interval(count: int, of: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    if not of:
        return "-"
    share, z = count / of, 1.96
    middle, half = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)
    return f"{count} of {of} = {100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def figures(outcomes: Sequence[Outcome], at: float) -> str:
    """The table of what is right and wrong at a threshold."""
    there = [one for one in outcomes if one.case.answerable]
    absent = [one for one in outcomes if not one.case.answerable]
    parts = [("answerable", there), *((kind, [one for one in there if one.case.kind == kind]) for kind in ("near", "far"))]
    lines = [f"- {name}, right: {interval(sum(o.right and o.sure >= at for o in some), len(some))}" for name, some in parts]
    lines.append(f"- answerable, wrong: {interval(sum(not o.right and o.sure >= at for o in there), len(there))}")
    lines.append(f"- absent, answered: {interval(sum(o.sure >= at for o in absent), len(absent))}")
    return "\n".join(lines)


def main() -> None:
    """Leaves files out, prints, fits on all and writes the weights."""
    parser = argparse.ArgumentParser(description="Fit the notes brain's weights.")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    dry = parser.parse_args().dry
    all_cases = cases()
    outcomes = left_out(all_cases)
    at = threshold(outcomes, WRONG)
    print(f"Files left out, {len(outcomes)} questions, threshold {at:.2f}\n{figures(outcomes, at)}")
    if not dry:
        write(replace(fit(all_cases), threshold=at))


if __name__ == "__main__":
    main()
