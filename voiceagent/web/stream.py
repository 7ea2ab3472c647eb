"""Server-sent events: a room's feed for whoever may enter the room, and how any stream of objects is written as such."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from voiceagent.web.lifeline import End
from voiceagent.web.lifeline import Send as Write
from voiceagent.web.readers import Readers

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_RETRY = b"retry: 1000\n\n"

Serve = Callable[[Write, Coroutine[object, object, None]], Awaitable[End]]
"""Writes a reader's objects until either side ends; the coroutine returns when they have left."""


class Served(Protocol):
    """What writes its own answers over ASGI."""

    async def get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        ...


class Streams:
    """Answers requests for a room's event stream."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    async def get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """GET: what happens in the room from now on; with `Last-Event-ID` or `?after=`, what happened since that line first."""
        async with self._readers.reading(Request(scope, receive)) as admitted:

            async def serve(write: Write, gone: Coroutine[object, object, None]) -> End:
                reader, opening = admitted.begin(write)
                return await reader.run(opening, gone)

            await send_events(receive, send, serve)


async def send_events(receive: Receive, send: Send, serve: Serve) -> None:
    """Answers a request by what `serve` writes."""

    async def write(text: str, seq: int | None) -> None:
        await send({"type": "http.response.body", "body": encode(text, seq), "more_body": True})

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    try:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body", "body": _RETRY, "more_body": True})
        if await serve(write, gone()) != "gone":
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    except asyncio.CancelledError:  # uvicorn closes and ends this request's task, which is its own
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def encode(text: str, seq: int | None) -> bytes:
    """One object as it goes over the wire; the `id`, where it has one, is what a reader resumes behind."""
    place = f"id: {seq}\n" if seq is not None else ""
    return f"{place}data: {text}\n\n".encode()
