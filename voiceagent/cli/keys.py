"""`voiceagent keys`: invitations to a room, as links that expire, and tokens for whoever watches the server."""

from pathlib import Path
from typing import Annotated

import typer

from voiceagent import clock, config
from voiceagent.errors import ConfigError, WebError
from voiceagent.web import auth
from voiceagent.web.names import check_room

app = typer.Typer()

HOUR = 3_600


@app.command()
def keys(
    room: Annotated[str | None, typer.Argument(help="The room to invite to.")] = None,
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 366, help="How long the invitation is good for.")] = 8.0,
    host: Annotated[bool, typer.Option("--host", help="Also shows what the agent decides and thinks.")] = False,
    address: Annotated[str | None, typer.Option(help="Where people reach the server, such as https://talk.example.org.")] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Print a token for /metrics instead, which opens no room.")] = False,
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
) -> None:
    """Print a link that lets its holder into one room for a while, or a token for figures.

    The settings must hold web.token_secret, the same one that the server runs with.

    Examples: voiceagent keys lobby --hours 2 --address https://talk.example.org · voiceagent keys --metrics --hours 8760
    """
    web = config.load(config_file).web
    if web.token_secret is None:
        raise ConfigError("no invitations without a secret: set [web] token_secret (32 characters or more), for the server too")
    secret, until = web.token_secret.get_secret_value(), int(clock.utc().timestamp() + hours * HOUR)
    if metrics:
        typer.echo(auth.issue_for_figures(secret, until))
        return
    try:
        room = check_room(room or "")
    except WebError as error:
        raise ConfigError(str(error)) from None
    token = auth.issue(secret, room, until, host=host)
    typer.echo(f"{(address or web.url).rstrip('/')}/?room={room}#token={token}")
