"""Writes the report on the speak model: docs/speak-report.md and its reliability plot.

    python -m tools.speak.report --eval FILE

Runs `voiceagent evaluate` on the development set (`--eval`), on the writers that were trained on, and on those that were not.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl

from tools.speak.agreement import SECOND, clear, table
from tools.speak.data import WRITTEN, Row, read, writers
from tools.speak.generate import generated
from tools.speak.overlap import grams, shared
from tools.speak.plot import plot

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ENOUGH = 100

Figures = dict[str, Any]


def scored(path: Path, classifier: str) -> Figures:
    """What `voiceagent evaluate` prints for a file, in a process of its own."""
    start = "from voiceagent.cli.main import main; main()"
    command = [sys.executable, "-c", start, "evaluate", "--set", str(path), "--classifier", classifier, "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return dict(json.loads(run.stdout))


def joined(paths: list[Path], folder: Path, name: str) -> Path:
    """Several files of turns as one."""
    out = folder / f"{name}.jsonl"
    out.write_text("".join(path.read_text(encoding="utf-8") for path in paths), encoding="utf-8")
    return out


def percent(figures: Figures, name: str) -> str:
    """A rate with its interval."""
    if figures.get(name) is None:
        return "-"
    low, high = figures[f"{name}_ci"]
    return f"{100 * figures[name]:.1f} % ({100 * low:.0f}–{100 * high:.0f})"


def modes(sets: dict[str, dict[str, Figures]]) -> list[str]:
    """The table of modes: a row for each set and classifier."""
    lines = [
        "| set | classifier | n | modes right (95 %) | false-speak | missed-speak | false-offer | p50 / p95 ms | memory MB |"
    ]
    lines.append("|---|---|---:|---|---|---|---|---|---:|")
    for name, by_classifier in sets.items():
        for classifier, f in by_classifier.items():
            rates = " | ".join(percent(f, rate) for rate in ("modes_right", "false_speak", "missed_speak", "false_offer"))
            took = f"{f['latency_ms']['p50']:.0f} / {f['latency_ms']['p95']:.0f}"
            lines.append(f"| {name} | {classifier} | {f['n']} | {rates} | {took} | {f['rss_mb']:.0f} |")
    return lines


def parts(figures: Figures, kind: str) -> list[str]:
    """A table of one breakdown."""
    lines = ["| of | n | modes right | false-speak | missed-speak |", "|---|---:|---:|---:|---:|"]
    for name, f in figures[kind].items():
        if f["n"] >= 5:
            rates = (
                "-" if f[rate] is None else f"{100 * f[rate]:.1f} %" for rate in ("modes_right", "false_speak", "missed_speak")
            )
            lines.append(f"| {name} | {f['n']} | {' | '.join(rates)} |")
    return lines


def questions(figures: Figures) -> list[str]:
    """A table of how good each judgment is."""
    lines = ["| question | n | yes | AUC | calibration error | Brier | right |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, f in figures["per_question"].items():
        mark = "" if f["n"] >= ENOUGH else " (few)"
        auc = "-" if f["auc"] is None else f"{f['auc']:.3f}"
        lines.append(
            f"| {name} | {f['n']} | {f['positives']} | {auc} | {f['ece']:.3f}{mark} | {f['brier']:.3f} "
            f"| {100 * f['right']:.1f} % |"
        )
    return lines


def gates(name: str, figures: Figures, limits: tuple[float, float, float]) -> list[str]:
    """A line for each gate: reached or not."""
    right, false, missed = limits
    worst = max((f["ece"] for f in figures["per_question"].values() if f["n"] >= ENOUGH), default=0.0)
    rows = [
        (f"modes right at least {100 * right:.0f} %", figures["modes_right"] >= right, f"{100 * figures['modes_right']:.1f} %"),
        (f"false-speak at most {100 * false:.0f} %", figures["false_speak"] <= false, f"{100 * figures['false_speak']:.1f} %"),
        (
            f"missed-speak at most {100 * missed:.0f} %",
            figures["missed_speak"] <= missed,
            f"{100 * figures['missed_speak']:.1f} %",
        ),
        (f"calibration error at most 0.10 from {ENOUGH} labels on", worst <= 0.10, f"{worst:.3f} at worst"),
        ("p95 at most 30 ms", figures["latency_ms"]["p95"] <= 30, f"{figures['latency_ms']['p95']:.0f} ms"),
    ]
    return [f"| {name} | {what} | {'reached' if ok else '**not reached**'} | {value} |" for what, ok, value in rows]


def overlaps() -> list[str]:
    """How much blind writers share with others and with the phrase banks: turns with a run of five words in common."""
    blind = [path.stem for path in writers(blind_ones=True)]
    rows: dict[str, list[Row]] = {path.stem: read(path) for path in writers(blind_ones=True) + writers(blind_ones=False)}
    rows["templates"] = generated(20_000, 1) + generated(3_000, 1, held_out=True)
    runs = {name: grams(some) for name, some in rows.items()}
    lines = ["| one | other | turns of the first with a run of five words of the second |", "|---|---|---:|"]
    for one, other in ((one, other) for one, other in combinations(rows, 2) if one in blind):
        found = shared(rows[one], runs[other])
        lines.append(f"| {one} | {other} | {found} of {len(rows[one])} |")
    return lines


def text(sets: dict[str, dict[str, Figures]]) -> str:
    """The report."""
    blind, development = sets["blind writers"]["embedded"], sets["development"]["embedded"]
    lines = ["# When the agent speaks: what the shipped model reaches", ""]
    lines += [
        "Written by `python -m tools.speak.report`; intervals are 95 % (Wilson). False-speak: of the turns on which silence",
        "",
    ]
    lines[-2] += (
        " was right, those on which it spoke; missed-speak: of those that wanted an answer, those on which it was silent."
    )
    lines += ["The development set and the blind writers were never trained on; the blind ones were not read either, and", ""]
    lines[-2] += " `tools/speak/blind.txt` named them before any line of theirs had been seen."
    lines += ["", "## Gates", "", "| set | gate | | value |", "|---|---|---|---|"]
    lines += gates("development", development, (0.95, 0.05, 0.03)) + gates("blind writers", blind, (0.85, 0.12, 0.03))
    lines += ["", "## A second reader", ""]
    lines += [
        "Somebody who was shown these turns without labels, as if they had been the classifier: what can be told from words.",
        "",
    ]
    lines += table()
    lines += ["", "## Modes", "", *modes(sets)]
    for name, figures in (("blind writers", blind), ("development", development)):
        for kind, title in (("by_language", "language"), ("by_people", "people present"), ("by_tag", "tag")):
            lines += ["", f"## {name.capitalize()}, by {title}", "", *parts(figures, kind)]
        lines += ["", f"## {name.capitalize()}, each judgment", "", *questions(figures)]
    lines += [
        "",
        "![Reliability](speak-reliability.png)",
        "",
        "## Overlap of blind writers with others, and with the templates",
        "",
        *overlaps(),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, and writes the report and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eval", type=Path, required=True, help="the development set")
    given = parser.parse_args()
    mpl.use("Agg")
    with tempfile.TemporaryDirectory() as name:
        blind = joined(writers(blind_ones=True), Path(name), "blind")
        files = {"blind writers": blind, "development": given.eval}
        kinds = ("embedded", "lexical", "named", "always")
        sets = {title: {kind: scored(path, kind) for kind in kinds} for title, path in files.items()}
        for path in writers(blind_ones=True):
            sets[f"blind: {path.stem}"] = {"embedded": scored(path, "embedded")}
        agreed = [row for path in SECOND.glob("*.txt") for row in clear(read(WRITTEN / f"{path.stem}.jsonl"), path)]
        both = Path(name) / "agreed.jsonl"
        both.write_text("".join(json.dumps(row) + "\n" for row in agreed), encoding="utf-8")
        sets["blind, both readers agree"] = {"embedded": scored(both, "embedded")}
        plot(blind, DOCS / "speak-reliability.png")
    (DOCS / "speak-report.md").write_text(text(sets), encoding="utf-8")


if __name__ == "__main__":
    main()
