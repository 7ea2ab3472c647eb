"""Pipecat on the driver's line: its own pipeline, aggregators, Whisper and Piper services, and a transport in memory."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

import numpy as np
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    StartFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.turns.user_start import TranscriptionUserTurnStartStrategy, VADUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from benchmarks.peers.line import Line
from benchmarks.peers.speaker import JITTER, RATE
from benchmarks.peers.system import Brain, Models

SETTINGS = {"default": None, "vad-500": 0.3, "vad-800": 0.6}
"""Seconds of its speech timeout, which begins when its detector's 0.2 s of silence are over; None: its default, Smart Turn."""


class LineInput(BaseInputTransport):
    """The person's sound."""

    def __init__(self, line: Line, params: TransportParams) -> None:
        super().__init__(params)
        self._line = line
        self._reading: asyncio.Task[None] | None = None

    async def start(self, frame: StartFrame) -> None:
        """Begins to read the line."""
        await super().start(frame)
        await self.set_transport_ready(frame)
        self._reading = self.create_task(self._read())

    async def cleanup(self) -> None:
        """Reads no more."""
        await super().cleanup()
        if self._reading is not None:
            await self.cancel_task(self._reading)
            self._reading = None

    async def _read(self) -> None:
        async for samples in self._line.frames():
            await self.push_audio_frame(InputAudioRawFrame(audio=samples.tobytes(), sample_rate=RATE, num_channels=1))


class LineOutput(BaseOutputTransport):
    """The person's loudspeaker: a write returns when its 40 ms have all but sounded, as a sound card's would."""

    def __init__(self, line: Line, params: TransportParams) -> None:
        super().__init__(params)
        self._line = line

    async def start(self, frame: StartFrame) -> None:
        """Ready at once."""
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Plays."""
        line = self._line
        line.speaker.play(np.frombuffer(frame.audio, dtype=np.int16), line.now())
        await asyncio.sleep(max(0.0, (line.speaker.queued(line.now()) - JITTER // 2) / RATE))
        return True


class Instant(FrameProcessor):
    """The driver's brain, where a language model's service would be."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self._brain = brain

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """A context becomes the whole answer at once."""
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        said = next((str(message["content"]) for message in reversed(frame.context.messages) if message["role"] == "user"), "")
        await self.push_frame(LLMFullResponseStartFrame())
        await self.push_frame(LLMTextFrame(self._brain.answer(said)))
        await self.push_frame(LLMFullResponseEndFrame())


class ContextTalk:
    """What the pipeline's context says."""

    def __init__(self, context: LLMContext) -> None:
        self._context = context

    def said(self) -> list[str]:
        """The assistant's messages."""
        return [str(message["content"]) for message in self._context.messages if message["role"] == "assistant"]


class Pipecat:
    """A pipeline for each call, with services of its own, as its examples have it."""

    def __init__(self, models: Models, brain: Brain, setting: str) -> None:
        self._models = models
        self._brain = brain
        self._timeout = SETTINGS[setting]

    @contextlib.asynccontextmanager
    async def call(self, line: Line) -> AsyncIterator[ContextTalk]:
        """A pipeline of its own."""
        params = TransportParams(audio_in_enabled=True, audio_out_enabled=True)
        context = LLMContext()
        pair = LLMContextAggregatorPair(context, user_params=self._user_params())
        stages = [
            LineInput(line, params),
            WhisperSTTService(
                device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=str(self._models.whisper))
            ),
            pair.user(),
            Instant(self._brain),
            PiperTTSService(
                download_dir=self._models.piper.parent, settings=PiperTTSService.Settings(voice=self._models.piper.stem)
            ),
            LineOutput(line, params),
            pair.assistant(),
        ]
        rates = PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)
        worker = PipelineWorker(Pipeline(stages), params=rates, idle_timeout_secs=None)
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        running = asyncio.create_task(runner.run())
        try:
            await line.frame()
            yield ContextTalk(context)
        finally:
            line.hang_up()
            await worker.cancel()
            await asyncio.wait((running,), timeout=5)

    def _user_params(self) -> LLMUserAggregatorParams:
        if self._timeout is None:
            return LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
        start = [VADUserTurnStartStrategy(), TranscriptionUserTurnStartStrategy()]
        stop = [SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=self._timeout)]
        return LLMUserAggregatorParams(
            vad_analyzer=SileroVADAnalyzer(), user_turn_strategies=UserTurnStrategies(start=start, stop=stop)
        )


@contextlib.asynccontextmanager
async def loaded(models: Models, brain: Brain, setting: str) -> AsyncIterator[Pipecat]:
    """Pipecat's services load with each call."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    yield Pipecat(models, brain, setting)
