"""Our recognizer and our voice as LiveKit Agents plugins, for an AgentSession of theirs."""

import numpy as np
from livekit import rtc
from livekit.agents import APIConnectionError, APIConnectOptions, LanguageCode, stt, tts
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, NotGivenOr, TimedString
from livekit.agents.utils import AudioBuffer

from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import SpeechError
from voiceagent.fallback import closed
from voiceagent.speech.engines import SpeechToText, TextToSpeech, Timing, Transcript
from voiceagent.speech.plugins.calling import samples_of

__all__ = ["STT", "TTS"]


class STT(stt.STT[str]):
    """A recognizer of ours for `AgentSession(stt=...)`: whole utterances, so the session needs a `vad`, too.

    `STT(WhisperEngine(path))` for local Whisper; anything that is a SpeechToText will do.
    """

    def __init__(self, engine: SpeechToText, *, model: str = "whisper") -> None:
        """`model` is what metrics call it. The plugin owns the engine: `aclose` closes it."""
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._engine = engine
        self._name = model

    @property
    def model(self) -> str:
        """The model's name in metrics."""
        return self._name

    @property
    def provider(self) -> str:
        """Ours."""
        return "voiceagent"

    async def aclose(self) -> None:
        """Closes the engine."""
        await closed(self._engine)

    async def _recognize_impl(
        self, buffer: AudioBuffer, *, language: NotGivenOr[str] = NOT_GIVEN, conn_options: APIConnectOptions
    ) -> stt.SpeechEvent:
        try:
            words = await self._engine.transcribe(_sound(buffer))
        except SpeechError as error:
            raise APIConnectionError(str(error)) from error
        return stt.SpeechEvent(stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[_data(words)])


class TTS(tts.TTS[str]):
    """A voice of ours for `AgentSession(tts=...)`, with the places of its words where it knows them.

    `TTS(PiperEngine(path))` for a local voice; anything that is a TextToSpeech will do.
    """

    def __init__(self, engine: TextToSpeech, *, model: str = "piper") -> None:
        """`model` is what metrics call it. The plugin owns the engine: `aclose` closes it."""
        capabilities = tts.TTSCapabilities(streaming=False, aligned_transcript=True)
        super().__init__(capabilities=capabilities, sample_rate=RATE, num_channels=1)
        self._engine = engine
        self._name = model

    @property
    def model(self) -> str:
        """The voice's name in metrics."""
        return self._name

    @property
    def provider(self) -> str:
        """Ours."""
        return "voiceagent"

    def synthesize(self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS) -> tts.ChunkedStream:
        """Begins to speak `text`."""
        return _Speech(self, self._engine, text, conn_options)

    async def aclose(self) -> None:
        """Closes the engine."""
        await closed(self._engine)


class _Speech(tts.ChunkedStream):
    """One text being spoken."""

    def __init__(self, plugin: TTS, engine: TextToSpeech, text: str, conn_options: APIConnectOptions) -> None:
        self._engine = engine
        super().__init__(tts=plugin, input_text=text, conn_options=conn_options)

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        output_emitter.initialize(request_id="", sample_rate=RATE, num_channels=1, mime_type="audio/pcm")
        try:
            async for piece in self._engine.speak(self.input_text):
                if isinstance(piece, Timing):
                    output_emitter.push_timed_transcript(_timed(piece))
                else:
                    output_emitter.push(piece.tobytes())
        except SpeechError as error:
            raise APIConnectionError(str(error)) from error
        output_emitter.flush()


def _sound(buffer: AudioBuffer) -> Samples:
    """What the session heard, at 16 kHz."""
    frame = rtc.combine_audio_frames(buffer)
    resampler = Resampler(frame.sample_rate, RATE)
    return np.concatenate((resampler.process(samples_of(frame)), resampler.flush()))


def _data(words: Transcript) -> stt.SpeechData:
    timed = [TimedString(word.text, start_time=word.start_ms / 1000, end_time=word.end_ms / 1000) for word in words.words]
    return stt.SpeechData(
        LanguageCode(words.language),
        words.text,
        end_time=words.words[-1].end_ms / 1000 if words.words else 0.0,
        confidence=float(np.exp(min(0.0, words.confidence))),
        words=timed or None,
    )


def _timed(piece: Timing) -> list[TimedString]:
    return [TimedString(f"{word.text} ", start_time=word.start_ms / 1000, end_time=word.end_ms / 1000) for word in piece.words]
