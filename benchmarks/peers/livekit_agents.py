"""LiveKit Agents on the driver's line: its own session, detector and turn handling; input and output as its console has them."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator

import numpy as np
from faster_whisper import WhisperModel
from livekit import rtc
from livekit.agents import Agent, AgentSession, llm, stt, tts
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN
from livekit.agents.utils import merge_frames
from livekit.agents.voice import io
from livekit.agents.voice.transcription import TranscriptSynchronizer
from piper import PiperVoice

from benchmarks.peers.line import Line
from benchmarks.peers.speaker import RATE
from benchmarks.peers.system import Brain, Models

SETTINGS = {
    "default": {},
    "vad-500": {"turn_detection": "vad", "endpointing": {"mode": "fixed", "min_delay": 0.5, "max_delay": 3.0}},
    "vad-800": {"turn_detection": "vad", "endpointing": {"mode": "fixed", "min_delay": 0.8, "max_delay": 3.0}},
}


class LineInput(io.AudioInput):
    """The person's sound."""

    def __init__(self, line: Line) -> None:
        super().__init__(label="line")
        self._frames = line.frames()

    async def __anext__(self) -> rtc.AudioFrame:
        samples = await anext(self._frames)
        return rtc.AudioFrame(samples.tobytes(), RATE, 1, samples.size)


class LineOutput(io.AudioOutput):
    """The person's loudspeaker: pausable, and drops what has not sounded when it is cleared."""

    def __init__(self, line: Line) -> None:
        super().__init__(label="line", capabilities=io.AudioOutputCapabilities(pause=True), sample_rate=RATE)
        self._line = line
        self._pushed = 0
        self._dropped = 0
        self._cleared = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Takes sound of any length, faster than it plays."""
        await super().capture_frame(frame)
        if self._playing is not None and not self._playing.done():
            await self._playing
        self._line.speaker.play(np.frombuffer(frame.data, dtype=np.int16), self._line.now())
        if not self._pushed:
            self.on_playback_started(created_at=time.time())
        self._pushed += frame.samples_per_channel

    def flush(self) -> None:
        """The segment is whole."""
        super().flush()
        if self._pushed and (self._playing is None or self._playing.done()):
            self._playing = asyncio.create_task(self._play_out())

    def clear_buffer(self) -> None:
        """Drops what has not sounded."""
        if self._pushed:
            self._dropped = self._line.speaker.clear(self._line.now())
            self._cleared.set()

    def pause(self) -> None:
        """Falls silent."""
        super().pause()
        self._line.speaker.pause(self._line.now())

    def resume(self) -> None:
        """Goes on."""
        super().resume()
        self._line.speaker.resume(self._line.now())

    async def _play_out(self) -> None:
        while not self._cleared.is_set() and (queued := self._line.speaker.queued(self._line.now())):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._cleared.wait(), max(0.005, queued / RATE))
        interrupted = self._cleared.is_set()
        self._line.speaker.resume(self._line.now())
        played = (self._pushed - self._dropped) / RATE
        self._pushed = self._dropped = 0
        self._cleared.clear()
        self.on_playback_finished(playback_position=played, interrupted=interrupted)


class Whisper(stt.STT):
    """faster-whisper as its page shows it; LiveKit cuts the speech out for it."""

    def __init__(self, models: Models) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._model = WhisperModel(str(models.whisper), device="cpu", compute_type="int8")

    async def _recognize_impl(self, buffer, *, language=NOT_GIVEN, conn_options) -> stt.SpeechEvent:
        frame = merge_frames(buffer)
        sound = np.frombuffer(frame.data, dtype=np.int16)
        text = await asyncio.to_thread(self._words, sound, frame.sample_rate)
        said = stt.SpeechData(language="en", text=text)
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[said])

    def _words(self, sound: np.ndarray, rate: int) -> str:
        assert rate == RATE
        segments, _ = self._model.transcribe(sound.astype(np.float32) / 32768, language="en")
        return " ".join(segment.text.strip() for segment in segments)


class Piper(tts.TTS):
    """Piper, a sentence at a time."""

    def __init__(self, models: Models) -> None:
        self.voice = PiperVoice.load(models.piper)
        rate = self.voice.config.sample_rate
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=rate, num_channels=1)

    def synthesize(self, text: str, *, conn_options=DEFAULT_API_CONNECT_OPTIONS) -> tts.ChunkedStream:
        """A sentence's sound."""
        return PiperStream(tts=self, input_text=text, conn_options=conn_options)


class PiperStream(tts.ChunkedStream):
    """One sentence."""

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        voice = self._tts.voice
        output_emitter.initialize(
            request_id=uuid.uuid4().hex, sample_rate=voice.config.sample_rate, num_channels=1, mime_type="audio/pcm"
        )
        chunks = iter(voice.synthesize(self._input_text))
        while (chunk := await asyncio.to_thread(next, chunks, None)) is not None:
            output_emitter.push(chunk.audio_int16_bytes)
        output_emitter.flush()


class Instant(llm.LLM):
    """The driver's brain."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self.brain = brain

    def chat(self, *, chat_ctx, tools=None, conn_options=DEFAULT_API_CONNECT_OPTIONS, **others) -> llm.LLMStream:
        """One answer."""
        return InstantStream(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class InstantStream(llm.LLMStream):
    """The whole answer at once."""

    async def _run(self) -> None:
        said = next((item.text_content for item in reversed(self._chat_ctx.messages()) if item.role == "user"), "")
        delta = llm.ChoiceDelta(role="assistant", content=self._llm.brain.answer(said or ""))
        self._event_ch.send_nowait(llm.ChatChunk(id=uuid.uuid4().hex, delta=delta))


class ContextTalk:
    """What the session's history says."""

    def __init__(self, session: AgentSession) -> None:
        self._session = session

    def said(self) -> list[str]:
        """The assistant's messages."""
        return [item.text_content or "" for item in self._session.history.messages() if item.role == "assistant"]


class LiveKit:
    """The engines, shared by all calls of the process; LiveKit itself starts a session for each."""

    def __init__(self, models: Models, brain: Brain, setting: str) -> None:
        self._stt, self._tts, self._llm = Whisper(models), Piper(models), Instant(brain)
        self._handling = SETTINGS[setting]

    @contextlib.asynccontextmanager
    async def call(self, line: Line) -> AsyncIterator[ContextTalk]:
        """A session of its own."""
        handling = {"turn_handling": self._handling} if self._handling else {}
        session = AgentSession(stt=self._stt, llm=self._llm, tts=self._tts, **handling)
        output = TranscriptSynchronizer(next_in_chain_audio=LineOutput(line), next_in_chain_text=None)
        session.input.audio = LineInput(line)
        session.output.audio = output.audio_output
        session.output.transcription = output.text_output
        await session.start(Agent(instructions="You help people on the telephone."))
        try:
            yield ContextTalk(session)
        finally:
            line.hang_up()
            await session.aclose()


@contextlib.asynccontextmanager
async def loaded(models: Models, brain: Brain, setting: str) -> AsyncIterator[LiveKit]:
    """The engines with their packages' defaults, and LiveKit's own turn settings."""
    yield LiveKit(models, brain, setting)
