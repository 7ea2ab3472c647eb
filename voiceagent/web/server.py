"""The web app: which request goes where, and what lives as long as it does."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from voiceagent.room.engine import RoomEngine
from voiceagent.trace.witness import Figures
from voiceagent.web.commands import Commands
from voiceagent.web.door import KEY_HEADER, Door, Doorway
from voiceagent.web.inbox.pages import InboxPages
from voiceagent.web.lines import Lines, Receiver
from voiceagent.web.messages import Messages
from voiceagent.web.metrics import MetricsPage
from voiceagent.web.pairing.parts import Pairing
from voiceagent.web.push.pages import PushPages
from voiceagent.web.push.pusher import Pusher
from voiceagent.web.quiet import hush
from voiceagent.web.readers import Readers
from voiceagent.web.realtime.connection import FRAME_BYTES
from voiceagent.web.realtime.endpoint import Entrance, Realtime
from voiceagent.web.realtime.requests import Words
from voiceagent.web.refusal import Refused, answer_refused, deny
from voiceagent.web.rooms import OpenRoom, Rooms
from voiceagent.web.rtvi.offer import Offers
from voiceagent.web.schema.served import Documents
from voiceagent.web.settings import WebSettings
from voiceagent.web.signalling import Signalling
from voiceagent.web.socket import Sockets
from voiceagent.web.status import Status, StatusPages
from voiceagent.web.stream import Served, Streams

PAGE: Final = Path(__file__).parent / "page"


def build(
    reception: Receiver,
    engine: RoomEngine,
    settings: WebSettings,
    status: Callable[[], Status],
    open_room: OpenRoom | None = None,
    *,
    figures: Figures | None = None,
    words: Words | None = None,
    pusher: Pusher | None = None,
) -> ASGIApp:
    """The ASGI app. `open_room` opens a room and seats its agents; by default the engine's own create_room, without any.

    With `figures`, /metrics shows them. `words` finds the words of a recording, for clients that say themselves when they have
    finished. `pusher` notifies devices of urgent questions.
    """
    door = Door(settings)
    rooms = Rooms(engine, settings.max_rooms, open_room)
    lines = Lines(reception, rooms, settings, lambda: status().agent)
    signalling = Signalling(door, lines, engine)
    readers, commands, pairing = Readers(door, rooms, engine), Commands(door, rooms, engine), Pairing(door, engine)
    rtvi = Offers(door, lines, commands, engine, status)

    app = Starlette(
        routes=[
            *_itself(StatusPages(status, token_required=settings.token_secret is not None)),
            *_figures(door, readers, figures),
            *_documents(Documents(lambda: status().version)),
            *_lines(signalling),
            *(*_inbox(InboxPages(door, readers, engine, pairing.hosts), PushPages(door, pusher)), *pairing.routes),
            Route("/v1/rooms/{room}/rtvi", rtvi.serve, methods=["POST", "PATCH"]),
            Route("/v1/rooms/{room}/messages", Messages(door, lines, engine).post, methods=["POST"]),
            Route("/v1/rooms/{room}/events", _Events(Streams(readers)), methods=["GET"]),
            Route("/v1/rooms/{room}/commands", commands.post, methods=["POST"]),
            WebSocketRoute("/v1/rooms/{room}/stream", Sockets(door, readers, commands).serve),
            WebSocketRoute("/v1/realtime", Realtime(Entrance(door, rooms, reception, status), engine, words).serve),
            WebSocketRoute("/{path:path}", _no_socket),
            Mount("/", _Page(directory=PAGE, html=True)),
        ],
        exception_handlers={Refused: answer_refused},
        lifespan=lambda _: _open(lines, pairing),
    )
    return Doorway(_opened_to(app, settings.allowed_origins), door)


@asynccontextmanager
async def _open(lines: Lines, pairing: Pairing) -> AsyncIterator[None]:
    """What lives as long as the app is served."""
    async with pairing, lines:
        yield


def _itself(pages: StatusPages) -> list[Route]:
    """What the server says of itself."""
    return [Route("/healthz", pages.health), Route("/v1/status", pages.status)]


def _documents(documents: Documents) -> list[Route]:
    """What describes the server to machines."""
    return [Route("/v1/openapi.json", documents.openapi), Route("/v1/asyncapi.json", documents.asyncapi)]


def _inbox(pages: InboxPages, push: PushPages) -> list[Route]:
    """Where questions of all rooms are listed, followed and answered."""
    return [
        Route("/v1/inbox", pages.listed, methods=["GET"]),
        Route("/v1/inbox/events", _Events(pages), methods=["GET"]),
        Route("/v1/inbox/commands", pages.command, methods=["POST"]),
        Route("/v1/overview", pages.overview, methods=["GET"]),
        Route("/v1/push", push.key, methods=["GET"]),
        Route("/v1/push/devices", push.devices, methods=["POST", "DELETE"]),
    ]


def _lines(signalling: Signalling) -> list[Route]:
    """How a browser comes by its line, and leaves it."""
    return [
        Route("/v1/rooms/{room}/offer", signalling.offer, methods=["POST"]),
        Route("/v1/rooms/{room}/candidates", signalling.candidate, methods=["POST"]),
        Route("/v1/rooms/{room}/mute", signalling.mute, methods=["POST"]),
        Route("/v1/rooms/{room}/playout", signalling.playout, methods=["POST"]),
        Route("/v1/rooms/{room}/line", signalling.leave, methods=["DELETE"]),
    ]


def _figures(door: Door, readers: Readers, figures: Figures | None) -> list[Route]:
    """Where figures are shown, how many read rooms among them."""
    if figures is None:
        return []
    figures.gauge("streams", "Readers of rooms' feeds over HTTP and WebSocket", lambda: readers.open)
    return [Route("/metrics", MetricsPage(door, figures).get)]


def _opened_to(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Lets browsers give these origins' pages what the door lets through."""
    if not origins:
        return app
    headers = ("authorization", "content-type", "last-event-id", KEY_HEADER)
    return CORSMiddleware(app, allow_origins=origins, allow_methods=("GET", "POST", "PATCH", "DELETE"), allow_headers=headers)


def uvicorn_config(app: ASGIApp, settings: WebSettings) -> uvicorn.Config:
    """How uvicorn serves the app: uvloop where it is, TLS when named, proxy headers only from those named."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="auto",
        ws="websockets-sansio",
        ws_max_size=max(settings.max_body_bytes, FRAME_BYTES),  # every socket has its own bound below that
        ws_per_message_deflate=False,  # it would keep some 300 kB for each socket
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
    hush()
    return config


class _Events:
    """Lets a stream write its own answer: Starlette calls an object, not a method, with the bare ASGI arguments."""

    def __init__(self, streams: Served) -> None:
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one stream."""
        await self._streams.get(scope, receive, send)


async def _no_socket(socket: WebSocket) -> None:
    """The page's files are not served over a WebSocket."""
    await deny(socket, Refused(404, "no WebSocket is served here"))


class _Page(StaticFiles):
    """The page's files, asked for anew each time, so that a new version is seen at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response
