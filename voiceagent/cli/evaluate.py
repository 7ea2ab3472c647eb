"""`voiceagent evaluate`: scores a classifier, or a baseline without one, on a file of labelled turns."""

import asyncio
import importlib
import json
import resource
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from voiceagent.config import load
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.classifier.question import Classifier
from voiceagent.judgment.evaluation import measures
from voiceagent.judgment.evaluation.labelled import LabelledTurn, read_turns
from voiceagent.judgment.evaluation.trial import ByClassifier, ByName, ByPolicy, Judge, Trial, by_tag, tried
from voiceagent.judgment.policy import AlwaysSpeak, SpeakPolicy
from voiceagent.values import JSON

app = typer.Typer()

_LONGEST_TABLE: Final = 12


class Which(StrEnum):
    """Who judges the turns."""

    EMBEDDED = "embedded"
    LEXICAL = "lexical"
    LLM = "llm"
    JEV = "jev"
    OPENAI = "openai"
    ALWAYS = "always"
    NAMED = "named"


@app.command(
    epilog="Examples: voiceagent evaluate --set turns.jsonl · voiceagent evaluate --set turns.jsonl --classifier named --json"
)
def evaluate(
    labelled: Annotated[Path, typer.Option("--set", help="A file of labelled turns, one JSON object a line.")],
    classifier: Annotated[Which, typer.Option(help="Who judges. Always and named are baselines.")] = Which.EMBEDDED,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings of the brain (llm) or of an address (jev, openai).")
    ] = None,
) -> None:
    """Score the speak decision on labelled turns; exit 2 for a file that is not one, naming the line."""
    turns = read_turns(labelled)
    trials = asyncio.run(_tried(classifier, turns, config, shown=not as_json and sys.stderr.isatty()))
    if as_json:
        typer.echo(json.dumps(report(trials)))
    else:
        _print(classifier, trials)


async def _tried(which: Which, turns: list[LabelledTurn], config: Path | None, *, shown: bool) -> list[Trial]:
    """Every turn's trial, in order."""
    classifier = _classifier(which, config)
    judge: Judge = ByClassifier(classifier) if classifier is not None else ByName()
    if which is Which.ALWAYS:
        judge = ByPolicy(AlwaysSpeak())
    try:
        moving: Iterable[LabelledTurn] = track(
            turns, which.value, console=Console(stderr=True), disable=not shown, transient=True
        )
        return [await tried(judge, turn) for turn in moving]
    finally:
        if classifier is not None:
            await classifier.close()


def _classifier(which: Which, config: Path | None) -> Classifier | None:
    """The classifier that was chosen, made as the program makes it; None for a baseline. Raises ConfigError."""
    if which in (Which.ALWAYS, Which.NAMED):
        return None
    if which in (Which.EMBEDDED, Which.LEXICAL):
        return EmbeddedClassifier(lexical=which is Which.LEXICAL)
    program = importlib.import_module("voiceagent.app")  # only here: it loads every engine
    settings = load(config, options={"judgment.policy": "classifier", "judgment.classifier": which.value})
    chosen: tuple[SpeakPolicy, Classifier | None] = program.speak_policy(settings, program.brain(settings.llm))
    return chosen[1]


def report(trials: list[Trial]) -> dict[str, JSON]:
    """All figures as one object. Rates are shares of 1; a `_ci` beside one is its 95 % interval, null of nothing."""
    took = [trial.took_ms for trial in trials]
    languages = sorted({trial.turn.language for trial in trials} - {""})
    sizes = {size: [t for t in trials if min(len(t.turn.people), 4) == size] for size in (1, 2, 3, 4)}
    return {
        "n": len(trials),
        **_rates(trials),
        "by_language": {code: _part([t for t in trials if t.turn.language == code]) for code in languages},
        "by_people": {("4+" if size == 4 else str(size)): _part(some) for size, some in sizes.items() if some},
        "by_tag": {tag: _part(some) for tag, some in by_tag(trials)},
        "per_question": {name: _question(figures) for name, figures in measures.per_question(trials).items()},
        "latency_ms": {"p50": round(float(np.percentile(took, 50)), 3), "p95": round(float(np.percentile(took, 95)), 3)},
        "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def _rates(trials: list[Trial]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for name, share in (
        ("modes_right", measures.modes_right(trials)),
        ("false_speak", measures.false_speak(trials)),
        ("missed_speak", measures.missed_speak(trials)),
        ("false_offer", measures.false_offer(trials)),
    ):
        interval = share.interval
        found[name] = None if share.share is None else round(share.share, 4)
        found[f"{name}_ci"] = None if interval is None else [round(end, 4) for end in interval]
    return found


def _part(trials: list[Trial]) -> JSON:
    return {"n": len(trials), **{name: value for name, value in _rates(trials).items() if not name.endswith("_ci")}}


def _question(figures: measures.Judged) -> JSON:
    found: dict[str, JSON] = {"n": figures.n, "positives": figures.positives}
    for name in ("auc", "ece", "brier", "right", "error"):
        value = getattr(figures, name)
        if value is not None or name != "error":
            found[name] = None if value is None else round(value, 4)
    return found


def _print(which: Which, trials: list[Trial]) -> None:
    """The figures as tables."""
    out = Console(highlight=False)
    whole = report(trials)
    out.print(f"{which.value}: {len(trials)} turns")
    for name, share in (
        ("modes right", measures.modes_right(trials)),
        ("false speak", measures.false_speak(trials)),
        ("missed speak", measures.missed_speak(trials)),
    ):
        out.print(f"  {name:<13}{_shown(share)}")
    took = whole["latency_ms"]
    if isinstance(took, dict):
        out.print(f"  latency      {took['p50']} ms (p50), {took['p95']} ms (p95); memory {whole['rss_mb']} MB")
    languages = sorted({trial.turn.language for trial in trials} - {""})
    parts = [(code, [t for t in trials if t.turn.language == code]) for code in languages]
    parts += [(f"{size} present", [t for t in trials if len(t.turn.people) == size]) for size in (1, 2, 3, 4, 5)]
    out.print(_table([*[(name, some) for name, some in parts if some], *list(by_tag(trials))[:_LONGEST_TABLE]]))
    questions = measures.per_question(trials)
    if questions:
        out.print(_questions(questions))


def _table(parts: list[tuple[str, list[Trial]]]) -> Table:
    table = Table("of", "n", "modes right", "false speak", "missed speak", box=None, pad_edge=False)
    for name, some in parts:
        rates = (measures.modes_right(some), measures.false_speak(some), measures.missed_speak(some))
        table.add_row(name, str(len(some)), *(_percent(rate.share) for rate in rates))
    return table


def _questions(questions: dict[str, measures.Judged]) -> Table:
    table = Table("question", "n", "yes", "AUC", "calibration error", "right", box=None, pad_edge=False)
    for name, f in questions.items():
        table.add_row(
            name, str(f.n), str(f.positives), "-" if f.auc is None else f"{f.auc:.3f}", f"{f.ece:.3f}", _percent(f.right)
        )
    return table


def _shown(share: measures.Share) -> str:
    if share.interval is None:
        return "none of these"
    low, high = share.interval
    return f"{_percent(share.share)} ({share.count} of {share.of}; 95 % between {_percent(low)} and {_percent(high)})"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
