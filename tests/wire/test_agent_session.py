"""Our recognizer and voice inside LiveKit's own AgentSession: somebody asks it aloud, and hears the answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("livekit.agents", reason="pip install 'voiceagent[livekit]'")
pytest.importorskip("livekit.plugins.openai", reason="pip install livekit-plugins-openai")
pytest.importorskip("livekit.plugins.silero", reason="pip install livekit-plugins-silero")

import numpy as np
from livekit import rtc
from livekit.agents import Agent, AgentSession, ConversationItemAddedEvent, io
from livekit.plugins import openai, silero

from tests.wire import chat_server
from voiceagent import weights
from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.plugins.livekit import STT, TTS
from voiceagent.speech.whisper import WhisperEngine

QUESTION = Path(__file__).resolve().parents[1] / "audio" / "spoken_opening_hours.wav"


class Microphone(io.AudioInput):
    """A recording, then silence, at the pace of sound."""

    def __init__(self, sound: Samples) -> None:
        super().__init__(label="recording")
        self._frames = self._paced(sound)

    async def __anext__(self) -> rtc.AudioFrame:
        return await anext(self._frames)

    async def _paced(self, sound: Samples) -> AsyncIterator[rtc.AudioFrame]:
        loop, start, at = asyncio.get_running_loop(), asyncio.get_running_loop().time(), 0
        while True:
            frame = sound[at * FRAME_SAMPLES : (at + 1) * FRAME_SAMPLES]
            frame = np.pad(frame, (0, FRAME_SAMPLES - frame.size))
            at += 1
            await asyncio.sleep(max(0.0, start + at * FRAME_MS / 1000 - loop.time()))
            yield rtc.AudioFrame(frame.tobytes(), RATE, 1, FRAME_SAMPLES)


class Loudspeaker(io.AudioOutput):
    """Plays at once, and keeps what it played."""

    def __init__(self) -> None:
        super().__init__(label="kept", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=RATE)
        self.played: list[Samples] = []
        self._segment = 0.0

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        self.played.append(np.frombuffer(frame.data, dtype=np.int16))
        self._segment += frame.duration

    def flush(self) -> None:
        super().flush()
        if self._segment:
            self.on_playback_finished(playback_position=self._segment, interrupted=False)
            self._segment = 0.0

    def clear_buffer(self) -> None:
        pass


async def test_it_is_asked_aloud_and_answers_with_our_voice(default_models: None) -> None:
    asked: list[str] = []
    answered = asyncio.Event()
    whisper = WhisperEngine(weights.path("whisper-tiny.en"))
    piper = PiperEngine(weights.path("en_US-joe-medium"))
    loudspeaker = Loudspeaker()

    def on_item(event: ConversationItemAddedEvent) -> None:
        item = event.item
        if item.type == "message" and item.role == "user":
            asked.append(item.text_content or "")
        elif item.type == "message" and item.role == "assistant":
            answered.set()

    async with chat_server.serving() as chat:
        model = openai.LLM(model="talking", base_url=chat.url, api_key="none")
        session: AgentSession[None] = AgentSession(stt=STT(whisper), tts=TTS(piper), llm=model, vad=silero.VAD.load())
        session.on("conversation_item_added", on_item)
        session.input.audio = Microphone(read_sound(QUESTION).samples)
        session.output.audio = loudspeaker
        await session.start(Agent(instructions="Be brief."))
        async with asyncio.timeout(30):
            await answered.wait()
        await session.aclose()
        await model.aclose()
    heard = await WhisperEngine(weights.path("whisper-tiny.en")).transcribe(np.concatenate(loudspeaker.played))
    assert "library" in asked[0].lower()
    assert "hello there" in heard.text.lower()
