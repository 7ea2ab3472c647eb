"""Readers of the event stream who do not read: cut off within a bound, at nobody else's cost."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.wire.door import door, let_in
from voiceagent.web.settings import WebSettings

SLOW_S = 1.0
EVENTS = 400
LARGE = "x" * 20_000
"""Events of that size fill the socket's buffers (some MB on loopback) long before the feed's queue of 1000."""


DOORS = {
    "events": ("", b"HTTP/1.1 200 OK"),
    "stream": (
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
        b"HTTP/1.1 101",
    ),
}
"""How each is asked for, and how the answer begins."""


@contextlib.asynccontextmanager
async def stalled(url: str, path: str) -> AsyncIterator[socket.socket]:
    """A reader that asks for the stream, gets it, and then takes nothing of it."""
    headers, status = DOORS[path]
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.setblocking(False)
        loop, place = asyncio.get_running_loop(), urlsplit(url)
        await loop.sock_connect(reader, (place.hostname, place.port))
        request = f"GET /v1/rooms/lobby/{path} HTTP/1.1\r\nHost: {place.netloc}\r\n{headers}\r\n"
        await loop.sock_sendall(reader, request.encode())
        assert await loop.sock_recv(reader, len(status)) == status
        yield reader


async def seen(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, float]]:
    """The stream's events: type, and how many seconds after it was published each was read."""
    async for line in lines:
        if line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            yield event["type"], asyncio.get_running_loop().time() - event["data"].get("at", 0)


async def rest_of(reader: socket.socket) -> int:
    """Reads what still comes until the other side has closed; gives the number of bytes."""
    loop, count = asyncio.get_running_loop(), 0
    with contextlib.suppress(ConnectionResetError):
        while data := await loop.sock_recv(reader, 1 << 20):
            count += len(data)
    return count


@pytest.mark.parametrize("path", DOORS)
async def test_a_reader_that_stalls_is_cut_off_and_another_is_not_slowed(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Two streams are the most here: that a third may be opened shows that nothing is kept for the one that stalls."""
    monkeypatch.setattr("voiceagent.web.lifeline.SLOW_S", SLOW_S)
    settings = WebSettings(max_streams=2)
    async with door(settings) as (url, _, engine), httpx.AsyncClient(base_url=url) as client, stalled(url, path) as slow:
        async with client.stream("GET", "v1/rooms/lobby/events") as response:
            events = seen(response.aiter_lines())
            assert [(await anext(events))[0] for _ in range(2)] == ["stream.ready", "stream.snapshot"]
            assert (await client.get("v1/rooms/lobby/events")).status_code == 503
            for _ in range(EVENTS):
                engine.feed("lobby").publish("large", {"text": LARGE, "at": asyncio.get_running_loop().time()})
                kind, seconds = await anext(events)
                assert kind == "large"
                assert seconds < SLOW_S
            async with asyncio.timeout(10):
                await let_in(client)
            engine.feed("lobby").publish("last", {"at": asyncio.get_running_loop().time()})
            kind, seconds = await anext(events)
            assert (kind, seconds < SLOW_S) == ("last", True)
        async with asyncio.timeout(10):
            assert 0 < await rest_of(slow) < EVENTS * len(LARGE)
