"""`voiceagent talk`: recordings as callers in a room, through the whole pipeline, and what became of it."""

import contextlib
import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from voiceagent import config
from voiceagent.app import App, Choices
from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import to_samples
from voiceagent.cli.brain import HELP, brain_options
from voiceagent.cli.garbage import settled
from voiceagent.cli.loop import run
from voiceagent.cli.play import Play, Result, Speaker
from voiceagent.cli.script import Caller, from_files, read_script
from voiceagent.cli.tap import Tap
from voiceagent.errors import AudioError, ConfigError
from voiceagent.speech.speakable import speakable

app = typer.Typer()

WAIT_MS = 30_000
WRITTEN = ("transcript.json", "timeline.jsonl", "mix.wav")


@app.command()
def talk(
    files: Annotated[list[Path] | None, typer.Argument(help="Recordings (wav, flac, mp3, .ulaw, ...), one caller each.")] = None,
    script: Annotated[Path | None, typer.Option(help="TOML with \\[\\[caller]] name, file, start_ms, from_ms, to_ms.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for transcript.json, timeline.jsonl and mix.wav.")] = None,
    llm: Annotated[str | None, typer.Option(help=HELP)] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="As fast as the machine goes; the same input gives the same result.")
    ] = False,
    greet: Annotated[bool, typer.Option("--greet", help="Greet the first caller, who then talks over it.")] = False,
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
    wait_ms: Annotated[
        int, typer.Option("--wait", min=0, help="Longest wait for the agent after the last recording, ms.")
    ] = WAIT_MS,
) -> None:
    """Run recordings as callers in one room with the agent.

    Exits 0 when the run came to its end, 2 when its input cannot be used, 1 when something failed.
    """
    settings = config.load(config_file, options=brain_options(llm))
    speakers = tuple(_speaker(caller) for caller in _callers(files or [], script))
    _make(out)
    tap = Tap(partial(speakable, language=settings.speaking.language))
    choices = Choices(memory=True, greet=greet, voice=tap.around, ids=_repeatable_ids() if fast else None)
    console = Console(stderr=True)
    with _bar(console) as follow:
        result = run(_play(settings, choices, Run(speakers, tap, out, wait_ms), follow), virtual=fast)
    _show(Console(), result)
    for failure in result.broken:
        typer.echo(f"voiceagent: {failure}", err=True)
    if not result.rested:
        typer.echo(f"voiceagent: the agent was busy {wait_ms} ms after the last recording; --wait gives it longer", err=True)
    if result.broken or not result.rested:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Run:
    """What one run plays, what its voice is tapped with, where its files go, how long it waits for the agent at the end."""

    speakers: tuple[Speaker, ...]
    tap: Tap
    out: Path | None
    wait_ms: int


async def _play(settings: config.Settings, choices: Choices, wanted: Run, follow: Callable[[int, int], None]) -> Result:
    async with App(settings, choices) as voice:
        play = Play(voice, wanted.tap, wanted.speakers, wanted.out, lambda at_ms: follow(at_ms, play.speech_ms))
        with settled():
            return await play.run(wanted.wait_ms)


def _callers(files: list[Path], script: Path | None) -> tuple[Caller, ...]:
    if script is not None and files:
        raise ConfigError("give recordings or a script, not both")
    if script is not None:
        return read_script(script)
    if not files:
        raise ConfigError("nobody calls: give one or more recordings, or --script FILE")
    return from_files(files)


def _speaker(caller: Caller) -> Speaker:
    try:
        sound = read_sound(caller.file).samples
    except AudioError as error:
        raise ConfigError(str(error)) from None
    end = len(sound) if caller.to_ms is None else to_samples(caller.to_ms)
    piece = sound[to_samples(caller.from_ms) : end]
    if not piece.size:
        raise ConfigError(f"{caller.name}: nothing of {caller.file} is left between from_ms and to_ms")
    return Speaker(caller.name, piece, caller.start_ms)


def _make(out: Path | None) -> None:
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"cannot make the folder {out}: {error.strerror}") from None
        for name in WRITTEN:
            if (out / name).is_dir():
                raise ConfigError(f"cannot write {out / name}: it is a folder")


def _repeatable_ids() -> Callable[[], str]:
    source = random.Random(0)
    return lambda: uuid.UUID(int=source.getrandbits(128), version=4).hex


@contextlib.contextmanager
def _bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("Talking", total=None)

        def follow(at_ms: int, speech_ms: int) -> None:
            progress.update(task, completed=min(at_ms, speech_ms), total=speech_ms)

        yield follow


def _show(console: Console, result: Result) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("from", justify="right")
    table.add_column("to", justify="right")
    table.add_column("who")
    table.add_column("said")
    for row in result.rows:
        said = f"{row.text} [cut after {row.played_ms} ms]" if row.cut else row.text
        table.add_row(f"{row.start_ms / 1000:.2f}", f"{row.end_ms / 1000:.2f}", Text(row.speaker), Text(said))
    console.print(table)
    waits = sorted(result.latencies_ms)
    middle = f", {waits[len(waits) // 2]} ms from end of speech to first sound (median)" if waits else ""
    console.print(f"{result.length_ms / 1000:.1f} s, {len(result.rows)} things said{middle}", highlight=False)
