"""`voiceagent decide`: stored rooms gone through with any policy, and what would have been decided otherwise."""

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from voiceagent import config
from voiceagent.agent.past import PastRoom, PastTurn
from voiceagent.cli.legible import legible
from voiceagent.cli.loop import run
from voiceagent.cli.timeline import Decided, drawn, strip
from voiceagent.engines import brain, speak_policy
from voiceagent.errors import ConfigError, StoreError
from voiceagent.judgment.policy import SpeakDecision, SpeakPolicy
from voiceagent.judgment.settings import ClassifierName, Policy
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.sqlite import SqliteStore

app = typer.Typer()

_STYLES = {"speak": "bold green", "offer": "bold yellow", "silent": "dim"}
_out = Console(highlight=False)


@app.command(epilog="Example: voiceagent decide --store rooms.db --room hall --picture hall.svg")
def decide(
    store: Annotated[Path, typer.Option(help="The SQLite file that keeps the rooms; it is only read.")],
    room: Annotated[list[str] | None, typer.Option(help="A room; may be given several times. Without: all of them.")] = None,
    policy: Annotated[str | None, typer.Option(help=f"One of: {', '.join(get_args(Policy))}.")] = None,
    classifier: Annotated[str | None, typer.Option(help=f"One of: {', '.join(get_args(ClassifierName))}.")] = None,
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the timeline into this SVG file.")] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Show only turns that would be decided otherwise.")] = False,
) -> None:
    """Go through stored rooms with a policy and show what it would decide otherwise; thoughts are not had again."""
    policy = policy or ("classifier" if classifier else None)
    settings = config.load(config_file, options={"judgment.policy": policy, "judgment.classifier": classifier})
    if not store.is_file():
        raise ConfigError(f"there is no file {store}")
    if picture is not None and not picture.parent.is_dir():
        raise ConfigError(f"there is no folder {picture.parent} for the picture")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "rooms.db"
        _copy(store, copy)
        decided = run(_decide(settings, copy, store, room))
    for room_id, turns in decided.items():
        _show(room_id, turns, changed)
    if picture is not None:
        _draw(picture, drawn(decided, settings.agent.name))


async def _decide(settings: config.Settings, copy: Path, path: Path, rooms: list[str] | None) -> dict[str, list[Decided]]:
    model = brain(settings.llm) if settings.judgment.classifier == "llm" else EchoModel()
    policy, classifier = speak_policy(settings, model)
    decided: dict[str, list[Decided]] = {}
    try:
        for past in await _past(copy, path, rooms):
            turns = past.turns(_agent_of(past, settings.agent.channel_id), settings.agent.window)
            decided[past.room_id] = [await _judged(policy, one, settings) for one in turns]
    finally:
        await policy.close()
        if classifier is not None:
            await classifier.close()
    return decided


def _copy(path: Path, copy: Path) -> None:
    """The file as it stands: it may be in use, and may be of an older version. Raises ConfigError when it is no store."""
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as old,
            contextlib.closing(sqlite3.connect(copy)) as new,
        ):
            if old.execute("SELECT count(*) FROM sqlite_master WHERE name = 'events'").fetchone() == (0,):
                raise ConfigError(f"{path} keeps no rooms")
            old.backup(new)
    except sqlite3.Error as error:
        raise ConfigError(f"{path} cannot be read as a store of rooms: {error}") from None


def _draw(picture: Path, drawing: str) -> None:
    try:
        picture.write_text(drawing, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {picture}: {error.strerror}") from None
    _out.print(f"Timeline: {picture}", soft_wrap=True)


async def _past(copy: Path, path: Path, wanted: list[str] | None) -> list[PastRoom]:
    try:
        store = await SqliteStore.open(copy)
    except StoreError as error:
        why = str(error).replace(str(copy), str(path))
        raise ConfigError(f"{path} cannot be read as a store of rooms: {why}") from None
    try:
        known = await store.list_rooms()
        if missing := [room for room in wanted or () if room not in known]:
            raise ConfigError(f"{path} keeps no room {missing[0]!r}; it keeps: {', '.join(known) or 'none'}")
        return [PastRoom(r, await store.list_events(r), await store.list_participants(r)) for r in wanted or known]
    finally:
        await store.close()


def _agent_of(past: PastRoom, channel_id: str) -> str:
    """The agent of the settings; another one where only others were in the room."""
    agents = past.agents
    return channel_id if channel_id in agents or not agents else agents[0]


async def _judged(policy: SpeakPolicy, past: PastTurn, settings: config.Settings) -> Decided:
    try:
        async with asyncio.timeout(settings.judgment.speak_timeout_ms / 1000):
            decision = await policy.decide(past.turn)
    except Exception as error:  # noqa: BLE001 - as in a room: a policy that fails lets the agent speak
        decision = SpeakDecision("speak", f"fallback: {type(error).__name__}")
    return Decided(past, decision)


def _show(room_id: str, turns: Sequence[Decided], changed: bool) -> None:
    title = Text(legible(f"Room {room_id}"))
    table = Table("#", "who", "said", "then", "now", "why", box=None, pad_edge=False, title=title, title_justify="left")
    for one in turns:
        if one.changed or not changed:
            mark = " *" if one.changed else ""
            said = legible(one.past.turn.event.content.body[:61])
            then = "spoke" if one.past.answered else "silent"
            table.add_row(
                str(one.past.turn.event.index),
                Text(legible(one.past.speaker)),
                Text(said if len(said) <= 60 else f"{said[:59]}…"),
                then,
                Text(f"{one.decision.mode}{mark}", style=_STYLES[one.decision.mode]),
                Text(legible(one.decision.reason)),
            )
    _out.print(table)
    for line in strip(turns, _out.width):
        _out.print(line, markup=False)
    more = sum(one.changed and not one.past.answered for one in turns)
    less = sum(one.changed and one.past.answered for one in turns)
    _out.print(f"{len(turns)} turns; {more + less} would change: {more} it would take, {less} it would leave to others.\n")
