"""`voiceagent models`: list, fetch and check the models."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from voiceagent.errors import ModelError
from voiceagent.weights import Model, Weights

app = typer.Typer(
    no_args_is_help=True,
    help="List, fetch and check the models. They lie in $VOICEAGENT_MODELS, or in the user's cache directory.",
)

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Names from `voiceagent models list`, or any faster-whisper or Piper name; without: the defaults."),
]


@app.command("list", epilog="Example: voiceagent models list")
def list_models() -> None:
    """Show every known model: what it is, its size and licence, and whether it is here."""
    weights = Weights()
    table = Table("model", "kind", "MB", "state", "about", "licence", box=None, pad_edge=False)
    for model in weights.models.values():
        mark = " *" if model.default else ""
        table.add_row(
            model.name + mark, model.kind, f"{model.size / 1e6:.0f}", _state(weights, model), model.about, model.licence
        )
    _out.print(table)
    _out.print(f"* fetched by default. Directory: {weights.root}", soft_wrap=True)
    _out.print("Where there is internet, any faster-whisper name (small.en, distil-large-v3) or Piper voice can be pulled too.")


@app.command(epilog="Examples: voiceagent models pull · voiceagent models pull whisper-base · voiceagent models pull small.en")
def pull(names: Names = None) -> None:
    """Fetch models that are missing or damaged; without names, the defaults."""
    weights = Weights()
    failed = False
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_err) as bars:
        for name in names or _defaults(weights):
            failed |= not _pull_one(weights, name, bars)
    raise typer.Exit(1 if failed else 0)


@app.command(epilog="Examples: voiceagent models verify · voiceagent models verify en_US-joe-medium")
def verify(names: Names = None) -> None:
    """Read every byte of models and compare; without names, of the defaults."""
    weights = Weights()
    failed = False
    for name in names or _defaults(weights):
        try:
            weights.verify(name)
        except ModelError as error:
            failed = True
            _err.print(f"[red]{name}[/]: {error}", soft_wrap=True)
        else:
            _out.print(f"{name}: whole")
    raise typer.Exit(1 if failed else 0)


def _defaults(weights: Weights) -> list[str]:
    return [model.name for model in weights.models.values() if model.default]


def _state(weights: Weights, model: Model) -> str:
    try:
        weights.path(model.name)
    except ModelError as error:
        return "damaged" if "is damaged" in str(error) else "-"
    return "here"


def _pull_one(weights: Weights, name: str, bars: Progress) -> bool:
    bar = bars.add_task(name, total=None)

    def moved(done: int, total: int) -> None:
        bars.update(bar, completed=done, total=total or None)

    try:
        place = weights.pull(name, moved)
    except ModelError as error:
        bars.remove_task(bar)
        bars.console.print(f"[red]{name}[/]: {error}", soft_wrap=True)
        return False
    fetched = bars.tasks[-1]
    if fetched.completed:
        bars.update(bar, total=fetched.completed)
    else:
        bars.remove_task(bar)
    bars.console.print(f"{name}: {place}", soft_wrap=True)
    return True
