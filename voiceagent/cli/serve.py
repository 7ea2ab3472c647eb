"""`voiceagent serve`: the door for browsers, open until it is told to stop."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from voiceagent import config
from voiceagent.app import App, Choices
from voiceagent.cli.garbage import settled
from voiceagent.cli.loop import run
from voiceagent.errors import WebError
from voiceagent.web import server
from voiceagent.web.settings import WebSettings

app = typer.Typer()

SIGNALS = (signal.SIGINT, signal.SIGTERM)
DEFAULT = Path("config/browser.toml")


@app.command()
def serve(
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.", show_default=str(DEFAULT))] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 lets the system choose.")] = None,
) -> None:
    """Open the door for browsers and print its address; SIGINT and SIGTERM close it."""
    chosen = config_file if config_file is not None else (DEFAULT if DEFAULT.is_file() else None)
    settings = config.load(chosen, options={"web.host": host, "web.port": port})
    open_door(settings)


def open_door(settings: config.Settings, choices: Choices | None = None) -> None:
    """Serves the page until a signal ends it; `choices` may bring tools, a brain, a recognizer or a voice of one's own."""
    with _listen(settings.web) as listening:
        run(_serve(settings, choices or Choices(), listening))


async def _serve(settings: config.Settings, choices: Choices, listening: socket.socket) -> None:
    web = settings.web.model_copy(update={"port": listening.getsockname()[1]})
    typer.echo("Loading the models ...")
    async with App(settings, choices) as voice:
        words, figures = voice.reception.words, voice.figures
        asgi = server.build(
            voice.reception,
            voice.engine,
            web,
            voice.status,
            voice.open_room,
            figures=figures,
            words=words,
            pusher=voice.pusher,
        )
        door = _Door(server.uvicorn_config(asgi, web), web.url)
        with settled():
            await door.serve(sockets=[listening])
    typer.echo("Closed.")


def _listen(web: WebSettings) -> socket.socket:
    """The socket to serve on, taken before any model is loaded. Raises WebError when it cannot be had."""
    try:
        family = socket.getaddrinfo(web.host, web.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((web.host, web.port), family=family, backlog=128)
    except OSError as error:
        raise WebError(
            f"cannot listen on {web.host}:{web.port} ({os.strerror(error.errno) if error.errno else error}); "
            "choose another port: voiceagent serve --port 8081, or make run PORT=8081"
        ) from None


class _Door(uvicorn.Server):
    """Says where it is once it is open; a signal closes it and lets the program end by itself."""

    def __init__(self, settings: uvicorn.Config, url: str) -> None:
        super().__init__(settings)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Opens, then prints the address."""
        await super().startup(sockets=sockets)
        if self.started:
            typer.echo(f"Ready: open {self._url} in a browser (Ctrl-C ends it)")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Closes in good order at the first signal, at once at the second."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)
