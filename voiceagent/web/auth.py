"""Who may come in: signed room tokens, and the hosts and origins a browser may name."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import jwt
from jwt.types import Options

from voiceagent.web.refusal import Refused
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

AUDIENCE = "voiceagent-room"
FIGURES = "voiceagent-figures"
ALGORITHM = "HS256"
EVERY_ROOM = "*"
"""What a host's token names that opens every room; no room has this name."""

_CLAIMS: Options = {"require": ["aud", "room", "exp"], "verify_exp": False}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def issue(secret: str, room: str, expires_at: int, *, host: bool = False) -> str:
    """A token that opens one room until `expires_at`, in seconds since 1970 UTC; a `host`'s also shows what the agent decides,
    and opens every room when it is for EVERY_ROOM."""
    claims: dict[str, str | int | bool] = {"aud": AUDIENCE, "room": room, "exp": expires_at}
    return jwt.encode({**claims, "host": True} if host else claims, secret, algorithm=ALGORITHM)


def check_token(token: str, secret: str, room: str, now: int) -> Standing:
    """Lets the holder of a token for this room pass; `now` in seconds since 1970 UTC. Returns what they may.

    Raises Refused 401 or 403.
    """
    opened, standing = _opened(token, secret, now)
    if opened not in (room, EVERY_ROOM):
        raise Refused(403, "the token is for another room")
    return standing


def _opened(token: str, secret: str, now: int) -> tuple[str, Standing]:
    """The room that a token opens, or EVERY_ROOM, and what its holder may there. Raises Refused 401."""
    try:
        claims = jwt.decode(token, secret, algorithms=[ALGORITHM], audience=AUDIENCE, options=_CLAIMS)
    except jwt.InvalidTokenError as error:
        raise Refused(401, "this room needs a valid token: ask whoever invited you for a new link") from error
    if not isinstance(claims["exp"], int) or claims["exp"] <= now:
        raise Refused(401, "the token has expired: ask whoever invited you for a new link")
    host = claims.get("host") is True
    if not isinstance(claims["room"], str) or (claims["room"] == EVERY_ROOM and not host):
        raise Refused(401, "this room needs a valid token: ask whoever invited you for a new link")
    return claims["room"], Standing(host, claims["exp"])


def check_room_access(settings: WebSettings, headers: Mapping[str, str], room: str, now: int) -> Standing:
    """Asks for a bearer token wherever a secret is set, and returns what its holder may; without one, only this machine can reach
    the server, and whoever asks is its host. Raises Refused."""
    if settings.token_secret is None:
        return Standing(host=True)
    return check_token(_bearer(headers), settings.token_secret.get_secret_value(), room, now)


def check_reach(settings: WebSettings, headers: Mapping[str, str], now: int) -> tuple[str | None, Standing]:
    """The one room that somebody may look into over whatever shows several, None for all of them, and what they may there: a
    token's holder sees what it opens; without a secret, only this machine can reach the server. Raises Refused 401."""
    if settings.token_secret is None:
        return None, Standing(host=True)
    room, standing = _opened(_bearer(headers), settings.token_secret.get_secret_value(), now)
    return None if room == EVERY_ROOM else room, standing


def _bearer(headers: Mapping[str, str]) -> str:
    """The token that came along. Raises Refused 401."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Refused(401, "this room needs a token: open it with the link you were invited by")
    return token.strip()


def room_of(settings: WebSettings, headers: Mapping[str, str]) -> str | None:
    """The room that a token claims to open, whether it does or not; None without one, or where none is asked for."""
    if settings.token_secret is None:
        return None
    try:
        claims = jwt.decode(headers.get("authorization", "").partition(" ")[2].strip(), options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return None
    room = claims.get("room")
    return room if isinstance(room, str) and room != EVERY_ROOM else None


def issue_for_figures(secret: str, expires_at: int) -> str:
    """A token that opens no room, but /metrics, until `expires_at`, in seconds since 1970 UTC."""
    return jwt.encode({"aud": FIGURES, "exp": expires_at}, secret, algorithm=ALGORITHM)


def check_figures_access(settings: WebSettings, headers: Mapping[str, str], now: int) -> None:
    """Asks for a token of its own wherever a secret is set; without one, only this machine reaches the server. Raises Refused."""
    if settings.token_secret is None:
        return
    secret, options = settings.token_secret.get_secret_value(), Options(require=["aud", "exp"], verify_exp=False)
    scheme, _, token = headers.get("authorization", "").partition(" ")
    try:
        claims = jwt.decode(token.strip(), secret, algorithms=[ALGORITHM], audience=FIGURES, options=options)
    except jwt.InvalidTokenError:
        claims = {}
    expires_at = claims.get("exp")
    if scheme.lower() != "bearer" or not isinstance(expires_at, int) or expires_at <= now:
        raise Refused(401, "figures need a token that is still good: voiceagent keys --metrics makes one")


def check_host(settings: WebSettings, host: str) -> None:
    """Refuses a Host header that is not ours: a foreign name that was made to resolve to this machine. Raises Refused 421."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        name = None
    if name is None:
        raise Refused(421, "the Host header is missing, or names no host")
    known = {urlsplit(origin).hostname for origin in settings.allowed_origins}
    if settings.loopback:
        known |= _LOOPBACK | {settings.host}
    elif not known:
        return
    if name not in known:
        raise Refused(421, f"this server is not {name[:80]!r}: open it by its own address, or add its origin to allowed_origins")


def check_origin(settings: WebSettings, headers: Mapping[str, str], scheme: str) -> None:
    """Refuses what another site's page sends. Raises Refused 403."""
    origin = headers.get("origin")
    if origin is None:
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "requests from other sites are not served")
        return
    if origin == f"{scheme}://{headers.get('host', '')}" or origin in settings.allowed_origins:
        return
    raise Refused(403, f"the origin {origin[:80]!r} is not allowed: add it to allowed_origins if its pages may use this server")
