"""`voiceagent console`: the room and the agent without a microphone, typed lines in and typed answers out."""

import asyncio
import io
import sys
import threading
from pathlib import Path
from typing import Annotated, TextIO

import typer

from voiceagent import config
from voiceagent.app import App, Choices
from voiceagent.cli.brain import HELP, brain_options
from voiceagent.cli.loop import run
from voiceagent.room.channel import Channel
from voiceagent.room.events import ChannelType, InboundMessage, Participant, TextContent
from voiceagent.room.feed import FeedEvent, Subscription

app = typer.Typer()

ROOM = "console"
CHANNEL = "keyboard"
YOU = Participant("you", "Guest")
ANSWER_S = 120
THOUGHT_MS = 300
ENDS = ("generation.finished", "generation.failed", "generation.detached")


@app.command()
def console(
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
    llm: Annotated[str | None, typer.Option(help=HELP)] = None,
) -> None:
    """Talk with the agent by typing; Ctrl-D ends it. Works in a pipe: one line in, one answer out."""
    settings = config.load(config_file, options=brain_options(llm))
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    run(_converse(settings, sys.stdin))


async def _converse(settings: config.Settings, lines: TextIO) -> None:
    async with App(settings, Choices(sound=False)) as voice:
        keyboard = Channel(CHANNEL, ChannelType.TEXT)
        voice.engine.register_channel(keyboard)
        await voice.open_room(ROOM)
        await voice.engine.attach_channel(ROOM, CHANNEL)
        await voice.engine.join(ROOM, YOU)
        if lines.isatty():
            typer.echo(f"{settings.agent.name} ({voice.model.name}). Ctrl-D ends.")
        typed = _Typed(lines)
        while (line := await typed.next_line()) is not None:
            if line.strip():
                await _turn(voice, line.strip())
        await voice.engine.leave(ROOM, YOU.id)


async def _turn(voice: App, line: str) -> None:
    """Sends a line and prints its answer while it is made; gives up on an answer after two minutes."""
    reader = voice.engine.feed(ROOM).subscribe()
    try:
        message = InboundMessage(CHANNEL, TextContent(line), sender_id=YOU.id)
        result = await voice.engine.process_inbound(message, room_id=ROOM)
        if result.event is None or result.blocked:
            typer.echo(f"[not taken: {result.reason or 'blocked'}]")
            return
        async with asyncio.timeout(ANSWER_S):
            await _print_answer(reader, result.event.id, voice.think_wait_ms)
    except TimeoutError:
        typer.echo("[no answer]")
    finally:
        reader.close()


async def _print_answer(reader: Subscription, event_id: str, think_wait_ms: int) -> None:
    """Prints what is said to an event, or that nothing is: on second thoughts the agent may still speak."""
    events = reader.events()
    silence: str | None = None
    while True:
        try:
            async with asyncio.timeout(None if silence is None else (think_wait_ms + THOUGHT_MS) / 1000):
                event = await anext(events, None)
        except TimeoutError:
            event = None
        if event is None:
            break
        if event.type == "input.settled" and event.data.get("input_id") == event_id:
            if silence is None:
                return
            break
        if event.type == "input.decided" and event.data.get("input_id") == event_id:
            silence = _silence(event)
            if silence is not None and (_stands(event) or not think_wait_ms):
                break
        if event.responds_to == event_id and event.type == "text.delta":
            typer.echo(event.data.get("text"), nl=False)
        elif event.responds_to == event_id and event.type in ENDS:
            typer.echo(_how_it_ended(event))
            return
    typer.echo(f"[silent: {silence or 'the room is closed'}]")


def _silence(event: FeedEvent) -> str | None:
    """Why the agent does not speak; None when it does."""
    return str(event.data.get("reason")) if event.data.get("mode") == "silent" else None


def _stands(event: FeedEvent) -> bool:
    """Whether a silence is not to be thought over."""
    return event.data.get("final") is True or event.data.get("asked_again") is True


def _how_it_ended(event: FeedEvent) -> str:
    if event.type == "generation.failed":
        return f"[the model failed: {event.data.get('error_category', 'unknown')}]"
    return ""


class _Typed:
    """Lines from a terminal, a pipe or a file, read by a thread that asks for the next one only when it is wanted."""

    def __init__(self, lines: TextIO) -> None:
        self._lines = lines
        self._prompt = "> " if lines.isatty() else ""

    async def next_line(self) -> str | None:
        """The next line; None at the end of input."""
        loop = asyncio.get_running_loop()
        read: asyncio.Future[str] = loop.create_future()

        def settle(line: str) -> None:
            if not read.done():
                read.set_result(line)

        def work() -> None:
            try:
                line = self._lines.readline()
            except (OSError, ValueError):  # the terminal is gone, or was closed
                line = ""
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, line)

        if self._prompt:
            typer.echo(self._prompt, nl=False)
        threading.Thread(target=work, name="keyboard", daemon=True).start()
        return await read or None
