"""`voiceagent keys`: invitations to a room, as links that expire."""

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
    room: Annotated[str, typer.Argument(help="The room to invite to.")],
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 366, help="How long the invitation is good for.")] = 8.0,
    host: Annotated[bool, typer.Option("--host", help="Also shows what the agent decides and thinks.")] = False,
    address: Annotated[str | None, typer.Option(help="Where people reach the server, such as https://talk.example.org.")] = None,
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
) -> None:
    """Print a link that lets its holder into one room for a while.

    The settings must hold web.token_secret, the same one that the server runs with.

    Example: voiceagent keys lobby --hours 2 --address https://talk.example.org
    """
    web = config.load(config_file).web
    if web.token_secret is None:
        raise ConfigError("no invitations without a secret: set [web] token_secret (32 characters or more), for the server too")
    try:
        check_room(room)
    except WebError as error:
        raise ConfigError(str(error)) from None
    until = int(clock.utc().timestamp() + hours * HOUR)
    token = auth.issue(web.token_secret.get_secret_value(), room, until, host=host)
    typer.echo(f"{(address or web.url).rstrip('/')}/?room={room}#token={token}")
