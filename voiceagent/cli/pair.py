"""`voiceagent pair`: the hosts that a running server is paired with, told to that server over its own door."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import quote

import httpx2
import typer

from voiceagent import clock, config
from voiceagent.errors import WebError
from voiceagent.room.pairings.pairing import Level
from voiceagent.values import JSON
from voiceagent.web import auth

app = typer.Typer(no_args_is_help=True)

SHORT_S: Final = 60
"""How long the token is good that a command makes for itself."""

LONGEST_S: Final = 40

ConfigFile = Annotated[Path | None, typer.Option("--config", help="Settings of the server, in TOML.")]
Server = Annotated[str | None, typer.Option(help="Where this machine reaches the server; by default, host and port.")]
May = Annotated[
    Level, typer.Option(help="What the other host may do here: read (list, answer), or prompt (its agents also ask).")
]


@app.callback()
def pair() -> None:
    """Pair this server with another one, so that each lists and answers the other's questions. The server must be running.

    On one host: voiceagent pair code. On the other: voiceagent pair join https://talk.example.org CODE.
    """


@app.command()
def code(level: May = "read", config_file: ConfigFile = None, server: Server = None) -> None:
    """Print a code for the other host, good once and for a short while."""
    told = _ask("POST", "/code", config_file, server, {"level": level})
    typer.echo(told["code"])


@app.command()
def join(
    address: Annotated[str, typer.Argument(help="Where the other host is, such as https://talk.example.org.")],
    code: Annotated[str, typer.Argument(help="The code that it has printed.")],
    level: May = "read",
    config_file: ConfigFile = None,
    server: Server = None,
) -> None:
    """Pair with the host that has made a code."""
    told = _ask("POST", "", config_file, server, {"address": address, "code": code, "level": level})
    typer.echo(f"Paired with {told['name']} at {told['address']}.")


@app.command("list")
def show(config_file: ConfigFile = None, server: Server = None) -> None:
    """List the paired hosts: what each may do here, and this one there."""
    pairings = _ask("GET", "", config_file, server)["pairings"]
    for one in pairings if isinstance(pairings, list) else []:
        if isinstance(one, dict):
            typer.echo(f"{one['name']}  {one['address']}  here: {one['level']}  there: {one['granted']}  since {one['since']}")


@app.command()
def end(
    name: Annotated[str, typer.Argument(help="The paired host, as the list calls it.")],
    config_file: ConfigFile = None,
    server: Server = None,
) -> None:
    """End a pairing at both hosts."""
    told = _ask("DELETE", f"/{quote(name, safe='')}", config_file, server)
    typer.echo("Ended at both hosts." if told["told"] else "Ended here; the other host finds out when it asks next.")


def _ask(
    method: str, path: str, config_file: Path | None, server: str | None, body: Mapping[str, JSON] | None = None
) -> dict[str, JSON]:
    """What the server says. Raises WebError when it does not do what it was asked."""
    web = config.load(config_file).web
    url = f"{(server or web.url).rstrip('/')}/v1/pairings{path}"
    headers = {}
    if web.token_secret is not None:
        until = int(clock.utc().timestamp()) + SHORT_S
        token = auth.issue(web.token_secret.get_secret_value(), auth.EVERY_ROOM, until, host=True)
        headers["authorization"] = f"Bearer {token}"
    try:
        answer = httpx2.request(method, url, headers=headers, json=body, timeout=LONGEST_S, follow_redirects=False)
        told = answer.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise WebError(f"no server of voiceagent answers at {url} ({type(error).__name__}): is it running?") from None
    if answer.status_code != 200 or not isinstance(told, dict):
        raise WebError(str(told.get("error", "")) if isinstance(told, dict) else f"status {answer.status_code}")
    return told
