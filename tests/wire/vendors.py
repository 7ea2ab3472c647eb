"""Servers of vendors on loopback, written from their published protocols: Deepgram's live and prerecorded listening, Cartesia's
speaking over a WebSocket, OpenAI's speech and transcriptions. What is said is known by how long it is loud."""

import asyncio
import base64
import io
import json
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from aiohttp import WSMsgType, web

from voiceagent.audio.frame import RATE, Samples, to_ms, to_samples

WORDS = ["what", "time", "do", "you", "open", "on", "sunday", "morning", "please", "and", "thank", "you"]
WORD_MS = 250
LOUD = 1_000
RATE_OUT = 24_000


def spoken(words: int) -> Samples:
    """So many words of speech."""
    return np.full(to_samples(words * WORD_MS), 3_000, dtype=np.int16)


def silent(ms: int) -> Samples:
    return np.zeros(to_samples(ms), dtype=np.int16)


def heard(sound: Samples) -> list[str]:
    """The words of a sound."""
    return WORDS[: to_ms(int((np.abs(sound) >= LOUD).sum())) // WORD_MS]


class Connection:
    """One socket of the listening server: what it was sent, and when it ended."""

    def __init__(self, headers: dict[str, str], query: dict[str, str]) -> None:
        self.headers = headers
        self.query = query
        self.sound: Samples = np.zeros(0, dtype=np.int16)
        self.texts: list[str] = []
        self.ended = asyncio.Event()


class Vendors:
    """What the servers were asked, and how they misbehave: `breaks_at_ms` and `deaf` hold for the first connections."""

    def __init__(self) -> None:
        self.url = ""
        self.connections: list[Connection] = []
        self.recorded = 0
        self.breaks_at_ms: list[int] = []
        self.deaf = 0
        self.refuses = False
        self.said: list[str] = []
        self.mute = False

    async def listen(self, request: web.Request) -> web.StreamResponse:
        if self.refuses:
            raise web.HTTPUnauthorized
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(dict(request.headers), dict(request.query))
        self.connections.append(connection)
        breaks = self.breaks_at_ms.pop(0) if self.breaks_at_ms else None
        deaf = self.deaf > 0
        self.deaf -= deaf
        try:
            await self._serve(socket, connection, breaks, deaf=deaf)
        finally:
            connection.ended.set()
        return socket

    async def _serve(self, socket: web.WebSocketResponse, connection: Connection, breaks: int | None, *, deaf: bool) -> None:
        told = 0
        async for message in socket:
            if deaf:
                continue
            if message.type is WSMsgType.BINARY:
                connection.sound = np.concatenate((connection.sound, np.frombuffer(message.data, dtype=np.int16)))
                if breaks is not None and to_ms(connection.sound.size) >= breaks:
                    assert socket._req is not None and socket._req.transport is not None
                    socket._req.transport.abort()
                    return
                words = heard(connection.sound)
                if len(words) > told:
                    told = len(words)
                    await socket.send_json(results(words, final=False))
                continue
            connection.texts.append(json.loads(message.data)["type"])
            if connection.texts[-1] == "CloseStream":
                await socket.send_json(results(heard(connection.sound), final=True))
                await socket.send_json({"type": "Metadata", "request_id": "r", "channels": 1})
                return

    async def prerecorded(self, request: web.Request) -> web.Response:
        if self.refuses:
            raise web.HTTPUnauthorized
        self.recorded += 1
        words = heard(unwrapped(await request.read()))
        return web.json_response(
            {"metadata": {"request_id": "r"}, "results": {"channels": [{"alternatives": [alternative(words)]}]}}
        )

    async def cartesia(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        at = 0.0
        async for message in socket:
            asked = json.loads(message.data)
            words = asked["transcript"].split()
            self.said += words
            if self.mute:
                continue
            for word in words:
                stamps = {"words": [word], "start": [at], "end": [at + 0.2]}
                about = {"context_id": asked["context_id"], "done": False, "status_code": 206}
                await socket.send_json({"type": "timestamps", "word_timestamps": stamps, **about})
                tone = np.full(RATE_OUT // 5, 4_000, dtype="<i2").tobytes()
                await socket.send_json({"type": "chunk", "data": base64.b64encode(tone).decode(), **about})
                at += 0.2
            if not asked["continue"]:
                at = 0.0
                await socket.send_json({"type": "done", "context_id": asked["context_id"], "done": True, "status_code": 200})
        return socket

    async def speech(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.said.append(body["input"])
        if self.refuses:
            raise web.HTTPUnauthorized
        return web.Response(body=np.full(RATE_OUT, 4_000, dtype="<i2").tobytes(), content_type="audio/pcm")

    async def transcriptions(self, request: web.Request) -> web.Response:
        form = await request.post()
        upload = form["file"]
        assert isinstance(upload, web.FileField)
        answer = web.json_response({"text": " ".join(heard(unwrapped(upload.file.read())))})
        answer.force_close()  # the plugin never closes its client
        return answer


def results(words: list[str], *, final: bool) -> dict[str, object]:
    channel = {"alternatives": [alternative(words)]}
    about = {"channel_index": [0, 1], "start": 0.0, "duration": 1.0, "speech_final": final, "from_finalize": False}
    return {"type": "Results", "is_final": final, "channel": channel, "metadata": {"request_id": "r"}, **about}


def alternative(words: list[str]) -> dict[str, object]:
    step = WORD_MS / 1000
    timed = [
        {"word": word, "punctuated_word": word, "start": at * step, "end": (at + 1) * step, "confidence": 0.9}
        for at, word in enumerate(words)
    ]
    return {"transcript": " ".join(words), "confidence": 0.9 if words else 0.0, "words": timed}


def unwrapped(file: bytes) -> Samples:
    with wave.open(io.BytesIO(file)) as sound:
        assert sound.getframerate() == RATE
        return np.frombuffer(sound.readframes(sound.getnframes()), dtype=np.int16)


@asynccontextmanager
async def serving() -> AsyncIterator[Vendors]:
    """The servers, all at one address."""
    vendors = Vendors()
    app = web.Application()
    app.router.add_get("/v1/listen", vendors.listen)
    app.router.add_post("/v1/listen", vendors.prerecorded)
    app.router.add_get("/tts/websocket", vendors.cartesia)
    app.router.add_post("/v1/audio/speech", vendors.speech)
    app.router.add_post("/v1/audio/transcriptions", vendors.transcriptions)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert isinstance(site._server, asyncio.Server)
    host, port = site._server.sockets[0].getsockname()[:2]
    vendors.url = f"http://{host}:{port}"
    try:
        yield vendors
    finally:
        await runner.cleanup()
