"""What every request passes: host, origin, rate, room name and token."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from voiceagent import clock
from voiceagent.web import auth
from voiceagent.web.limits import Rate
from voiceagent.web.names import check_room, participant_id
from voiceagent.web.reach import Reach
from voiceagent.web.refusal import Refused, answer_refused, deny
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

KEY_HEADER: Final = "participant-key"

PROTOCOL: Final = "voiceagent.v1"
"""What a WebSocket speaks. A browser cannot send headers with one: it offers its token and its key as `bearer.<token>` and
`key.<key>` beside this name, and neither ever stands in an address."""

_GUARDED: Final = ("/v1/rooms/", "/v1/inbox", "/v1/overview", "/v1/push", "/v1/pair")
"""Where even reading is not for other sites' pages."""

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; media-src 'self' blob:; "
        b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"microphone=(self), speaker-selection=(self), camera=(), geolocation=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Door:
    """The checks that need settings or counts, asked for by whoever serves a request."""

    def __init__(self, settings: WebSettings) -> None:
        self.settings = settings
        self._requests = Rate(settings.requests_per_minute)
        self._offers = Rate(settings.offers_per_minute)
        self._messages = Rate(settings.messages_per_minute)

    def pass_request(self, scope: Scope, now: int) -> None:
        """What is asked of every request, whatever it wants. Raises Refused."""
        headers = Headers(scope=scope)
        auth.check_host(self.settings, headers.get("host", ""))
        if scope.get("method") not in ("GET", "HEAD") or scope["path"].startswith(_GUARDED):
            auth.check_origin(self.settings, headers, _origin_scheme(scope))
        self._requests.spend(_client(scope), now)

    def room(self, request: HTTPConnection) -> str:
        """The room of a request whose sender may enter it. Raises Refused."""
        return self.room_and_standing(request)[0]

    def room_and_standing(self, request: HTTPConnection) -> tuple[str, Standing]:
        """The room of a request whose sender may enter it, and what they may there. Raises Refused."""
        room = check_room(str(request.path_params["room"]))
        return room, auth.check_room_access(self.settings, _credentials(request), room, _seconds(clock.utc()))

    def room_for(self, request: HTTPConnection, room: str | None) -> tuple[str, Standing]:
        """The room of a sender who may name one and need not, and what they may there: else the one that their token opens, or a
        new one where nobody needs a token. Raises Refused."""
        credentials = _credentials(request)
        if room is None:
            room = auth.room_of(self.settings, credentials) or f"talk-{secrets.token_hex(8)}"
        return room, auth.check_room_access(self.settings, credentials, room, _seconds(clock.utc()))

    def reach(self, request: HTTPConnection) -> Reach:
        """How far the sender of a request sees who names no room. Raises Refused."""
        room, standing = auth.check_reach(self.settings, _credentials(request), _seconds(clock.utc()))
        return Reach(room, standing, self.holder(request))

    def may_read_figures(self, request: HTTPConnection) -> None:
        """Lets whoever may read the server's figures pass. Raises Refused."""
        auth.check_figures_access(self.settings, _credentials(request), _seconds(clock.utc()))

    def holder(self, request: HTTPConnection) -> str | None:
        """The public id of whoever holds the participant key that came along; None when none did. Raises Refused 400."""
        key = _credentials(request).get(KEY_HEADER)
        return None if key is None else participant_id(key)

    def participant(self, key: str) -> str:
        """The public id of a key's holder. Raises Refused 400."""
        return participant_id(key)

    def spend_offer(self, request: HTTPConnection) -> None:
        """Counts one attempt to join. Raises Refused 429."""
        self._offers.spend(_client(request.scope), clock.now())

    def spend_command(self, request: HTTPConnection) -> None:
        """Counts one command that came without a request of its own. Raises Refused 429."""
        self._requests.spend(_client(request.scope), clock.now())

    def spend_message(self, request: HTTPConnection) -> None:
        """Counts one typed message. Raises Refused 429."""
        self._messages.spend(_client(request.scope), clock.now())


class Doorway:
    """The ASGI layer around the whole app: asks the door, and sets the headers that keep a page to itself."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        try:
            self._door.pass_request(scope, clock.now())
        except Refused as refused:
            response = await answer_refused(Request(scope), refused)
            await response(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._door.pass_request(scope, clock.now())
        except Refused as refused:
            await deny(WebSocket(scope, receive, send), refused)
            return
        await self._app(scope, receive, send)


def _origin_scheme(scope: Scope) -> str:
    """The scheme of the page that opened it, which a WebSocket's own is not."""
    return {"ws": "http", "wss": "https"}.get(scope["scheme"]) or str(scope["scheme"])


def _credentials(request: HTTPConnection) -> Mapping[str, str]:
    """The headers that say who asks; a WebSocket's may stand among the protocols that it offers."""
    headers = {name: request.headers[name] for name in ("authorization", KEY_HEADER) if name in request.headers}
    for offered in request.scope.get("subprotocols", ()):
        kind, _, secret = str(offered).partition(".")
        if kind in ("bearer", "openai-insecure-api-key"):
            headers.setdefault("authorization", f"Bearer {secret}")
        elif kind == "key":
            headers.setdefault(KEY_HEADER, secret)
    return headers


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _seconds(utc: datetime) -> int:
    return int(utc.timestamp())
