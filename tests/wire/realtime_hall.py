"""A voiceagent with scripted ears, voice and brain behind its real door, and OpenAI's own realtime client in front of it."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection

from tests.scenario.scripted import LOUD, ScriptedDetector, ToneTts
from tests.wire.browser import serving
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.settings import AgentSettings
from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples
from voiceagent.llm.scripted import ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.store import Store
from voiceagent.speech.engines import Transcript
from voiceagent.voice.reception import Hearing, Reception
from voiceagent.voice.settings import VoiceSettings
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

Told = dict[str, Any]

CLIENT_RATE = 24_000
HELLO = 1_000
"""A level at which the scripted recognizer hears `hello`."""


class Ears:
    """Knows what was said by how loud it was said: resampled sound is not exactly as loud as it was."""

    def __init__(self, words: Mapping[int, str | Exception]) -> None:
        self._words = words

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        loud = np.abs(sound)[np.abs(sound) > LOUD]
        said = self._words.get(round(int(np.median(loud)), -2) if loud.size else 0, "")
        if isinstance(said, Exception):
            raise said
        return Transcript(said)


@dataclass
class Hall:
    """The engine, the brain and the place of one server."""

    url: str
    engine: RoomEngine
    model: ScriptedModel
    tts: ToneTts


@asynccontextmanager
async def hall(
    turns: Sequence[str | Sequence[Step]],
    *,
    words: Mapping[int, str | Exception] | None = None,
    settings: WebSettings | None = None,
    voice: VoiceSettings | None = None,
    ms_a_letter: int = 20,
    tools: Sequence[Callable[..., Any]] = (),
    store: Store | None = None,
) -> AsyncIterator[Hall]:
    """One that is served; its agent says `turns` in order."""
    settings = settings or WebSettings()
    model, tts = ScriptedModel(turns), ToneTts(ms_a_letter=ms_a_letter)
    async with RoomEngine(store=store) as engine:
        agent = AgentSettings(name="Ada")
        engine.register_channel(AIChannel(agent.channel_id, provider=model, settings=agent, tools=tools))
        hearing = Hearing(Ears(words or {HELLO: "hello"}), ScriptedDetector)
        reception = Reception(engine, hearing, tts, voice or VoiceSettings(greeting=""))

        async def open_room(room: str) -> None:
            await engine.create_room(room)
            await engine.attach_channel(room, agent.channel_id)

        status = Status("0", "scripted", "", agent="Ada")
        app = build(reception, engine, settings, lambda: status, open_room, words=reception.words)
        async with serving(app, settings) as url:
            yield Hall(url, engine, model, tts)


class Client:
    """OpenAI's client on one connection; keeps everything that it was told, and when (the loop's seconds)."""

    def __init__(self, connection: AsyncRealtimeConnection) -> None:
        self.connection = connection
        self.told: list[Told] = []
        self.at: list[float] = []
        self._more = asyncio.Condition()

    async def read(self) -> None:
        """Until the connection ends."""
        async for event in self.connection:
            async with self._more:
                self.told.append(event.model_dump(mode="json"))
                self.at.append(asyncio.get_running_loop().time())
                self._more.notify_all()

    def all(self, *types: str) -> list[Told]:
        """What was told of these types."""
        return [event for event in self.told if event["type"] in types]

    async def until(self, type: str, count: int = 1, seconds: float = 10) -> Told:
        """The `count`th event of a type; waits for it."""
        try:
            async with asyncio.timeout(seconds), self._more:
                await self._more.wait_for(lambda: len(self.all(type)) >= count)
        except TimeoutError:
            raise AssertionError(f"waited in vain for {type}; told were {[event['type'] for event in self.told]}") from None
        return self.all(type)[count - 1]

    async def append(self, samples: Samples) -> None:
        """16 kHz sound, sent in one piece as 24 kHz."""
        await self.connection.input_audio_buffer.append(audio=to_client(samples))

    async def speak(self, samples: Samples, ms: int = 60) -> None:
        """The same in pieces, at the pace of sound."""
        loop = asyncio.get_running_loop()
        began, size = loop.time(), RATE * ms // 1000
        for at in range(0, samples.size, size):
            await asyncio.sleep(max(0.0, began + at / RATE - loop.time()))
            await self.append(samples[at : at + size])

    async def write(self, text: str, *, respond: bool = True) -> None:
        """A message of text, and the wish for an answer."""
        content: Any = [{"type": "input_text", "text": text}]
        await self.connection.conversation.item.create(item={"type": "message", "role": "user", "content": content})
        if respond:
            await self.connection.response.create()

    def sound(self, item_id: str | None = None) -> Samples:
        """What was heard (of one item), 24 kHz."""
        deltas = (e for e in self.all("response.output_audio.delta") if item_id in (None, e["item_id"]))
        return np.frombuffer(b"".join(base64.b64decode(event["delta"]) for event in deltas), dtype="<i2").astype(np.int16)


@asynccontextmanager
async def client(url: str, *, key: str = "none", model: str = "voiceagent", **query: str) -> AsyncIterator[Client]:
    """OpenAI's client, connected."""
    async with (
        AsyncOpenAI(api_key=key, base_url=f"{url}v1", max_retries=0) as openai,
        openai.realtime.connect(model=model, extra_query=dict(query)) as connection,
    ):
        made = Client(connection)
        reading = asyncio.create_task(made.read())
        try:
            yield made
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


def to_client(samples: Samples) -> str:
    """16 kHz as a client sends it."""
    resampler = Resampler(RATE, CLIENT_RATE)
    data = np.concatenate((resampler.process(samples), resampler.flush())).astype("<i2").tobytes()
    return base64.b64encode(data).decode()


def level(ms: int, loud: int = HELLO) -> Samples:
    """Sound of one level."""
    return np.full(RATE * ms // 1000, loud, dtype=np.int16)
