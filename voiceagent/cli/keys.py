"""`voiceagent keys`: invitations to a room, as links that expire, tokens for whoever watches the server, keys for Web Push."""

import base64
from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric import ec

from voiceagent import clock, config
from voiceagent.errors import ConfigError, WebError
from voiceagent.web import auth
from voiceagent.web.names import check_room

app = typer.Typer()

HOUR = 3_600


@app.command()
def keys(
    room: Annotated[str | None, typer.Argument(help="The room to invite to; a host's link without one opens every room.")] = None,
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 366, help="How long the invitation is good for.")] = 8.0,
    host: Annotated[bool, typer.Option("--host", help="Also shows what the agent decides and thinks.")] = False,
    address: Annotated[str | None, typer.Option(help="Where people reach the server, such as https://talk.example.org.")] = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Print a token for /metrics instead, which opens no room.")] = False,
    push: Annotated[bool, typer.Option("--push", help="Make a key for Web Push instead, for [web.push] key.")] = False,
    config_file: Annotated[Path | None, typer.Option("--config", help="Settings, in TOML.")] = None,
) -> None:
    """Print a link that lets its holder into one room for a while, a host's to all; a token for figures; a key for Web Push.

    The settings must hold web.token_secret, the same one that the server runs with.

    Examples: voiceagent keys lobby --hours 2 --address https://talk.example.org · voiceagent keys --host ·
    voiceagent keys --metrics --hours 8760
    """
    if push:
        typer.echo(_push_key())
        return
    web = config.load(config_file).web
    if web.token_secret is None:
        raise ConfigError("no invitations without a secret: set [web] token_secret (32 characters or more), for the server too")
    secret, until = web.token_secret.get_secret_value(), int(clock.utc().timestamp() + hours * HOUR)
    if metrics:
        typer.echo(auth.issue_for_figures(secret, until))
        return
    start = (address or web.url).rstrip("/")
    if room is None and host:
        typer.echo(f"{start}/#token={auth.issue(secret, auth.EVERY_ROOM, until, host=True)}")
        return
    try:
        room = check_room(room or "")
    except WebError as error:
        raise ConfigError(str(error)) from None
    typer.echo(f"{start}/?room={room}#token={auth.issue(secret, room, until, host=host)}")


def _push_key() -> str:
    """A new private key on the curve P-256: its 32 bytes in base64url."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
