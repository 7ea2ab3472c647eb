"""The command line's door: the list of commands, each loaded only when it is called."""

import importlib
import logging
import os
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from voiceagent import __version__
from voiceagent.errors import ConfigError, VoiceAgentError

COMMANDS = {
    "serve": "Open the door for browsers and print its address.",
    "talk": "Run recordings as callers through the whole pipeline.",
    "speaker": "Talk with the agent through this machine's microphone and loudspeaker.",
    "console": "Talk with the agent by typing, without any sound.",
    "decide": "Go through stored rooms with a policy and show what it would decide otherwise.",
    "evaluate": "Score when the agent speaks on a file of labelled turns.",
    "keys": "Invite people to a room of a server that others reach.",
    "pair": "Pair this server with another: each lists and answers the other's questions.",
    "voices": "Teach the program whose voice is whose, list and forget them.",
    "models": "List, fetch and verify the models.",
    "doctor": "Check models, audio and ports, and say what to do.",
}
"""Each command and what it does; command NAME lives in cli/NAME.py as `app`."""

UNUSABLE = 2


class Door(typer.core.TyperGroup):
    """Knows the commands by name and imports the one that is called: the others' engines stay unloaded."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, text in COMMANDS.items():
            self.commands.setdefault(name, typer.core.TyperCommand(name, help=text))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Replaces the called command's stand-in with the real one."""
        if args and args[0] in COMMANDS:
            command = typer.main.get_command(importlib.import_module(f"voiceagent.cli.{args[0]}").app)
            command.name = args[0]
            self.commands[args[0]] = command
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Turns the project's own errors into one line and an exit code: 2 for input that cannot be used, 1 for a failure."""
        try:
            return super().invoke(ctx)
        except VoiceAgentError as error:
            typer.echo(f"voiceagent: {error}", err=True)
            raise typer.Exit(UNUSABLE if isinstance(error, ConfigError) else 1) from None


app = typer.Typer(
    cls=Door,
    name="voiceagent",
    help="Talk with an agent: from a browser, from a recording, or by typing.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens, to stderr.")] = False,
) -> None:
    """Sets up the log."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s"
    )


def main() -> None:
    """Runs the command that the arguments name."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: halves what decoding unfinished speech costs
    app()
