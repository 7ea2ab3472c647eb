"""What every request passes: host, origin, rate, room name and token."""

from datetime import datetime

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from voiceagent import clock
from voiceagent.web import auth
from voiceagent.web.limits import Rate
from voiceagent.web.names import check_room, participant_id
from voiceagent.web.refusal import Refused, answer_refused
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

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
        if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith("/v1/rooms/"):
            auth.check_origin(self.settings, headers, scope["scheme"])
        self._requests.spend(_client(scope), now)

    def room(self, request: Request) -> str:
        """The room of a request whose sender may enter it. Raises Refused."""
        return self.room_and_standing(request)[0]

    def room_and_standing(self, request: Request) -> tuple[str, Standing]:
        """The room of a request whose sender may enter it, and what they may there. Raises Refused."""
        room = check_room(str(request.path_params["room"]))
        return room, auth.check_room_access(self.settings, request.headers, room, _seconds(clock.utc()))

    def participant(self, key: str) -> str:
        """The public id of a key's holder. Raises Refused 400."""
        return participant_id(key)

    def spend_offer(self, request: Request) -> None:
        """Counts one attempt to join. Raises Refused 429."""
        self._offers.spend(_client(request.scope), clock.now())

    def spend_message(self, request: Request) -> None:
        """Counts one typed message. Raises Refused 429."""
        self._messages.spend(_client(request.scope), clock.now())


class Doorway:
    """The ASGI layer around the whole app: asks the door, and sets the headers that keep a page to itself."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
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


def _client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _seconds(utc: datetime) -> int:
    return int(utc.timestamp())
