"""The web app on a real engine, and a receiver in place of the voice layer: it records what it hears, plays what it is told."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import numpy as np

from tests.wire.browser import serving
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, AudioFrame, Samples
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.transport.call import Call
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status


class Recorder:
    """A call as its receiver saw it."""

    def __init__(self, call: Call, room: str, participant: Participant) -> None:
        self.call = call
        self.room = room
        self.participant = participant
        self.heard: list[Samples] = []
        self.at: list[int] = []
        self.began = time.time()
        self.ended = asyncio.Event()
        self.ended_at = 0.0
        self._more = asyncio.Event()

    @property
    def sound(self) -> Samples:
        """All that was heard, in one piece."""
        return np.concatenate(self.heard) if self.heard else np.zeros(0, dtype=np.int16)

    def hear(self, frame: AudioFrame) -> None:
        """Keeps a frame."""
        self.heard.append(frame.samples)
        self.at.append(frame.at)
        self._more.set()

    def end(self) -> None:
        """No more frames will come."""
        self.ended_at = time.time()
        self.ended.set()
        self._more.set()

    async def until(self, frames: int) -> None:
        """Returns once so many frames were heard in all, or the call has ended."""
        while len(self.heard) < frames and not self.ended.is_set():
            self._more.clear()
            await self._more.wait()

    async def play(self, samples: Samples) -> None:
        """Hands over at the pace of sound."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        for n in range(len(samples) // FRAME_SAMPLES):
            self.call.play(AudioFrame(samples[n * FRAME_SAMPLES : (n + 1) * FRAME_SAMPLES], n * FRAME_SAMPLES))
            await asyncio.sleep(max(0.0, start + (n + 1) * 0.02 - loop.time()))


class Receiver:
    """Takes every call, records it till it ends, and tells who waits for the next one."""

    def __init__(self, engine: RoomEngine) -> None:
        self._engine = engine
        self.calls: asyncio.Queue[Recorder] = asyncio.Queue()
        self.all: list[Recorder] = []

    async def receive(self, call: Call, *, room_id: str, participant: Participant) -> None:
        """Joins, hears, leaves."""
        recorder = Recorder(call, room_id, participant)
        self.all.append(recorder)
        self.calls.put_nowait(recorder)
        await self._engine.join(room_id, participant)
        try:
            async for frame in call.frames():
                recorder.hear(frame)
        finally:
            recorder.end()
            await self._engine.leave(room_id, participant.id)

    async def next(self) -> Recorder:
        """The next call, waited for 10 s at most."""
        async with asyncio.timeout(10):
            return await self.calls.get()


@asynccontextmanager
async def door(settings: WebSettings | None = None, port: int = 0) -> AsyncIterator[tuple[str, Receiver, RoomEngine]]:
    """The app, served: its URL, its receiver and its engine."""
    settings = settings or WebSettings()
    async with RoomEngine() as engine:
        receiver = Receiver(engine)
        app = build(receiver, engine, settings, lambda: Status("0", "nobody speaks here", "This is a test."))
        async with serving(app, settings, port) as url:
            yield url, receiver, engine


async def let_in(client: httpx.AsyncClient, more: int = 1) -> None:
    """Returns once so many more streams may be open at once."""
    async with AsyncExitStack() as streams:
        while more:
            asked = client.stream("GET", "v1/rooms/lobby/events")
            response = await asked.__aenter__()
            if response.status_code == 200:
                streams.push_async_exit(asked)
                more -= 1
            else:
                await asked.__aexit__(None, None, None)


def tone(seconds: float, hertz: float = 440.0, level: int = 8000) -> Samples:
    """A sine of 16 kHz."""
    t = np.arange(int(seconds * RATE)) / RATE
    return (level * np.sin(2 * np.pi * hertz * t)).astype(np.int16)
