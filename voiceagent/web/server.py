"""The web app: which request goes where, and what lives as long as it does."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from voiceagent.room.engine import RoomEngine
from voiceagent.web.door import Door, Doorway
from voiceagent.web.lines import Lines, Receiver
from voiceagent.web.messages import Messages
from voiceagent.web.refusal import Refused, answer_refused
from voiceagent.web.rooms import OpenRoom, Rooms
from voiceagent.web.settings import WebSettings
from voiceagent.web.signalling import Signalling
from voiceagent.web.status import Status, StatusPages
from voiceagent.web.stream import Streams

PAGE: Final = Path(__file__).parent / "page"


def build(
    reception: Receiver,
    engine: RoomEngine,
    settings: WebSettings,
    status: Callable[[], Status],
    open_room: OpenRoom | None = None,
) -> ASGIApp:
    """The ASGI app. `open_room` opens a room and seats its agents; by default the engine's own create_room, without any."""
    door = Door(settings)
    rooms = Rooms(engine, settings.max_rooms, open_room)
    pages = StatusPages(status, token_required=settings.token_secret is not None)
    lines = Lines(reception, rooms, settings, lambda: status().agent)
    signalling = Signalling(door, lines, engine)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with lines:
            yield

    app = Starlette(
        routes=[
            Route("/healthz", pages.health),
            Route("/v1/status", pages.status),
            Route("/v1/rooms/{room}/offer", signalling.offer, methods=["POST"]),
            Route("/v1/rooms/{room}/candidates", signalling.candidate, methods=["POST"]),
            Route("/v1/rooms/{room}/mute", signalling.mute, methods=["POST"]),
            Route("/v1/rooms/{room}/line", signalling.leave, methods=["DELETE"]),
            Route("/v1/rooms/{room}/messages", Messages(door, lines, engine).post, methods=["POST"]),
            Route("/v1/rooms/{room}/events", _Events(Streams(door, rooms, engine)), methods=["GET"]),
            Mount("/", _Page(directory=PAGE, html=True)),
        ],
        exception_handlers={Refused: answer_refused},
        lifespan=lifespan,
    )
    return Doorway(app, door)


def uvicorn_config(app: ASGIApp, settings: WebSettings) -> uvicorn.Config:
    """How uvicorn serves the app: uvloop where it is, TLS when named, proxy headers only from those named."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="auto",
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        proxy_headers=bool(settings.trusted_proxy),
        forwarded_allow_ips=list(settings.trusted_proxy),
        timeout_graceful_shutdown=1,  # streams never end by themselves; uvicorn cancels them then
        h11_max_incomplete_event_size=32_768,
    )


class _Events:
    """Lets a stream write its own answer: Starlette calls an object, not a method, with the bare ASGI arguments."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one stream."""
        await self._streams.get(scope, receive, send)


class _Page(StaticFiles):
    """The page's files, asked for anew each time, so that a new version is seen at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response
