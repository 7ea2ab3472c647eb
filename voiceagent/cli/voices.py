"""`voiceagent voices`: teaches the program whose voice is whose; lists them, and forgets them."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from voiceagent import config, engines
from voiceagent.audio.decode import read_sound
from voiceagent.speech.enrolment import enrolment
from voiceagent.speech.voices import VoiceEncoder
from voiceagent.weights import Weights

app = typer.Typer(
    no_args_is_help=True,
    help="Teach the program whose voice is whose. What is kept are numbers that voices are compared by, and no sound.",
)

_out = Console(highlight=False)

Name = Annotated[str, typer.Argument(help="What the person is called in rooms.")]
Config = Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")]


@app.command(epilog="Examples: voiceagent voices add Ana · voiceagent voices add Ana ana-1.wav ana-2.wav")
def add(
    name: Name,
    recordings: Annotated[
        list[Path] | None, typer.Argument(help="Recordings of that person alone; without, by microphone.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=6, max=120, help="How long the microphone listens.")] = 15.0,
    device: Annotated[str | None, typer.Option(help="The microphone, by name; else the default one.")] = None,
    config_file: Config = None,
) -> None:
    """Get to know a person, by 6 s of voice at least; where they will talk, since rooms change voices."""
    settings = config.load(config_file).speaker.voices
    encoder = VoiceEncoder(Weights().whole(settings.model))
    try:
        if recordings:
            sounds = [read_sound(path).samples for path in recordings]
        else:
            _out.print(f"{name}, please speak for {math.ceil(seconds)} s, whole sentences, from where you will talk.")
            sounds = [engines.record(seconds, device)]
        prints = enrolment(encoder, sounds)
    finally:
        encoder.close()
    book = engines.voice_book(settings)
    book.add(name, prints)
    _out.print(f"{name} is known from now on.")
    for other in book.alike(name, settings.likeness):
        _out.print(f"[yellow]{other} sounds much like {name}: the two may be taken for each other.[/]")


@app.command("list", epilog="Example: voiceagent voices list")
def list_voices(config_file: Config = None) -> None:
    """Show who is known."""
    book = engines.voice_book(config.load(config_file).speaker.voices)
    for known in book.known():
        _out.print(known.name)
    _out.print(f"{len(book.known())} known, in {book.path}", soft_wrap=True)


@app.command(epilog="Example: voiceagent voices remove Ana")
def remove(name: Name, config_file: Config = None) -> None:
    """Forget a person for good; a program that runs forgets them, too."""
    engines.voice_book(config.load(config_file).speaker.voices).remove(name)
    _out.print(f"{name} is forgotten.")
