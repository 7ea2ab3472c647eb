"""`voiceagent evaluate`: scores a classifier, or a baseline without one, on a file of labelled turns."""

import contextlib
import importlib
import inspect
import json
import resource
import sys
from collections.abc import AsyncIterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from voiceagent.cli.legible import legible
from voiceagent.cli.loop import run
from voiceagent.config import Settings, load
from voiceagent.errors import ConfigError
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier
from voiceagent.judgment.classifier.priors import Priors
from voiceagent.judgment.classifier.question import Classifier, ClassifierError
from voiceagent.judgment.evaluation import measures
from voiceagent.judgment.evaluation.labelled import LabelledTurn, read_turns
from voiceagent.judgment.evaluation.trial import ByClassifier, ByName, ByPolicy, Judge, Trial, by_tag, tried
from voiceagent.judgment.policy import AlwaysSpeak, SpeakPolicy
from voiceagent.llm.model import LanguageModel
from voiceagent.llm.scripted import EchoModel
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


_CHECK: Final[Mapping[Which, str]] = {
    Which.LLM: "check [llm] url, model and the key it needs",
    Which.JEV: "check [judgment] classifier_url, or the key in TYPESAFE_API_KEY",
    Which.OPENAI: "check [judgment] classifier_url, which ends in /v1, or the key in OPENAI_API_KEY",
}


@app.command(
    epilog="Examples: voiceagent evaluate --set turns.jsonl · voiceagent evaluate --set turns.jsonl --classifier named --json"
)
def evaluate(
    labelled: Annotated[Path, typer.Option("--set", help="A file of labelled turns, one JSON object a line.")],
    classifier: Annotated[Which, typer.Option(help="Who judges. Always and named are baselines.")] = Which.EMBEDDED,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings of the priors, the brain (llm), an address (jev, openai).")
    ] = None,
) -> None:
    """Score the speak decision on labelled turns.

    Exits 2 for a file that is none (naming the line) or settings that do not do, 1 for a classifier that fails on a turn.
    """
    turns = read_turns(labelled)
    named = classifier if classifier not in (Which.ALWAYS, Which.NAMED) else None
    settings = load(config, options={"judgment.policy": "classifier", "judgment.classifier": named})
    trials = run(_tried(classifier, turns, settings))
    if as_json:
        typer.echo(json.dumps(report(trials)))
    else:
        _print(classifier, trials)


async def _tried(which: Which, turns: list[LabelledTurn], settings: Settings) -> list[Trial]:
    """Every turn's trial, in order. Raises ClassifierError naming the turn and what to look at."""
    trials = []
    async with _judge(which, settings) as judge:
        console = Console(stderr=True)
        for turn in track(turns, which.value, console=console, disable=not sys.stderr.isatty(), transient=True):
            try:
                trials.append(await tried(judge, turn))
            except ClassifierError as error:
                advice = _CHECK.get(which)
                raise ClassifierError(f"turn {turn.id}: {error}" + (f"; {advice}" if advice else "")) from error
    return trials


@contextlib.asynccontextmanager
async def _judge(which: Which, settings: Settings) -> AsyncIterator[Judge]:
    """The judge that was chosen, as the program makes it, closed at the end. Raises ConfigError."""
    if which is Which.ALWAYS:
        yield ByPolicy(AlwaysSpeak())
        return
    if which is Which.NAMED:
        yield ByName()
        return
    async with contextlib.AsyncExitStack() as closing:
        if which in (Which.EMBEDDED, Which.LEXICAL):
            classifier: Classifier = EmbeddedClassifier(lexical=which is Which.LEXICAL)
        else:
            classifier = _distant(which, settings, closing)
        closing.push_async_callback(classifier.close)
        yield ByClassifier(classifier, Priors(settings.judgment.alone, settings.judgment.carry_over))


def _distant(which: Which, settings: Settings, closing: contextlib.AsyncExitStack) -> Classifier:
    """A classifier that asks a brain or a service; the brain is closed at the end."""
    program = importlib.import_module("voiceagent.engines")  # only here: it loads every engine
    model: LanguageModel = program.brain(settings.llm) if which is Which.LLM else EchoModel()
    closing.push_async_callback(_closed, model)
    chosen: tuple[SpeakPolicy, Classifier | None] = program.speak_policy(settings, model)
    if chosen[1] is None:
        raise ConfigError(f"{which.value} is no classifier here")
    return chosen[1]


async def _closed(model: LanguageModel) -> None:
    close = getattr(model, "close", None)
    done = close() if close is not None else None
    if inspect.isawaitable(done):
        await done


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
        table.add_row(Text(legible(name)), str(len(some)), *(_percent(rate.share) for rate in rates))
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
