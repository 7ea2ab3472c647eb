"""`voiceagent speaker`: the agent at a microphone and a loudspeaker of this machine."""

import asyncio
import signal
import uuid
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from voiceagent import config, engines
from voiceagent.app import App, Choices
from voiceagent.cli.garbage import settled
from voiceagent.cli.legible import legible
from voiceagent.cli.loop import run
from voiceagent.config import Settings
from voiceagent.errors import ConfigError
from voiceagent.fallback import closed, opened
from voiceagent.room.events import Participant
from voiceagent.room.feed import Subscription
from voiceagent.transport.speaker.standing import StandingCall

app = typer.Typer()

DEFAULT: Final = Path("config/speaker.toml")
PERSON: Final = Participant("room", "Somebody in the room")
SENTENCE: Final = "This is a test of the loudspeaker and of the microphone. What they make of it will be told in a moment."
METER_S: Final = 0.1
QUIETEST: Final = -60
METER: Final = 30
"""The meter begins at so many dBFS, and is so many signs long."""

_out = Console(highlight=False)


@app.command(epilog="Examples: voiceagent speaker · voiceagent speaker --test · voiceagent speaker --input usb --output usb")
def speaker(
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.", show_default=str(DEFAULT))] = None,
    microphone: Annotated[str | None, typer.Option("--input", help="The microphone, by a part of its name.")] = None,
    loudspeaker: Annotated[str | None, typer.Option("--output", help="The loudspeaker, by a part of its name.")] = None,
    test: Annotated[bool, typer.Option("--test", help="Say a sentence, record it, and tell what to change.")] = False,
    list_devices: Annotated[
        bool, typer.Option("--list-devices", help="Show this machine's microphones and loudspeakers.")
    ] = False,
) -> None:
    """Talk with the agent through this machine's microphone and loudspeaker; Ctrl-C ends it."""
    if list_devices:
        _list()
        return
    chosen = config_file if config_file is not None else (DEFAULT if DEFAULT.is_file() else None)
    settings = config.load(chosen, options={"speaker.input": microphone, "speaker.output": loudspeaker})
    run(_test(settings) if test else _speak(settings))


async def _speak(settings: Settings) -> None:
    _out.print("Loading the models ...")
    chosen = settings.speaker
    async with App(settings, Choices(shared=True)) as voice:
        call = engines.speaker_call(f"speaker-{uuid.uuid4().hex[:8]}", chosen)
        line = await asyncio.to_thread(voice.wakeful, call, _tell_awake)
        call.on_state = _tell_devices
        await voice.open_room(chosen.room)
        reader = voice.engine.feed(chosen.room).subscribe()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: loop.create_task(call.hang_up()))
        with settled():
            async with asyncio.TaskGroup() as tasks:
                devices = tasks.create_task(call.run())
                shown = tasks.create_task(_show(call, reader, settings))
                await voice.reception.receive(line, room_id=chosen.room, participant=PERSON, shared=True)
                reader.close()
                await shown
                await devices
    _out.print("Closed.")


async def _test(settings: Settings) -> None:
    _out.print("Listening to the room, then saying a sentence: please be quiet for some seconds.")
    voice = await asyncio.to_thread(engines.voice, settings.speaking)
    await opened(voice)
    try:
        pieces = [piece async for piece in voice.speak(SENTENCE) if isinstance(piece, np.ndarray)]
    finally:
        await closed(voice)
    found, advice = await engines.sound_check(settings.speaker, np.concatenate(pieces))
    table = Table(show_header=False)
    for name, value in found:
        table.add_row(name, value)
    _out.print(table)
    for words in advice or ("All is well.",):
        _out.print(words)


async def _show(call: StandingCall, reader: Subscription, settings: Settings) -> None:
    """What is said, a line each; at a terminal a meter besides."""
    with Live(Text(), console=_out, refresh_per_second=10, transient=True, auto_refresh=False) as live:
        meter = asyncio.create_task(_meter(call, live)) if _out.is_terminal else None
        try:
            async for event in reader.events():
                match event.type:
                    case "input.accepted" if event.data.get("text"):
                        _out.print(f"[bold]You[/]: {legible(str(event.data['text']))}", markup=True)
                    case "speech.finished" | "speech.cut" if event.data.get("heard_text"):
                        mark = " [dim](cut)[/]" if event.type == "speech.cut" else ""
                        _out.print(f"[bold]{settings.agent.name}[/]: {legible(str(event.data['heard_text']))}{mark}")
                    case _:
                        pass
        finally:
            if meter is not None:
                meter.cancel()


async def _meter(call: StandingCall, live: Live) -> None:
    while True:
        full = max(0, round((call.level.rms - QUIETEST) / -QUIETEST * METER))
        live.update(
            Text(f"{'▮' * full}{'▯' * (METER - full)} {call.level.rms:4.0f} dB{'  muted' if call.muted else ''}"), refresh=True
        )
        await asyncio.sleep(METER_S)


def _tell_devices(there: bool) -> None:
    _out.print("Listening. Speak; Ctrl-C ends it." if there else "A sound device is gone: waiting for it to come back ...")


def _tell_awake(awake: bool) -> None:
    _out.print("[dim]awake[/]" if awake else "[dim]asleep[/]")


def _list() -> None:
    table = Table("", "device", "Hz", "channels", "default")
    for kind, name, rate, channels, is_default in engines.sound_devices():
        what = "microphone" if kind == "input" else "loudspeaker"
        table.add_row(what, Text(legible(name)), str(rate), str(channels), "yes" if is_default else "")
    if not table.rows:
        raise ConfigError("this machine has no sound devices; plug one in, or start its sound server, then look again")
    _out.print(table)
