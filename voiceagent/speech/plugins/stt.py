"""Words from speech by any LiveKit Agents recognizer: of whole stretches, and while a person speaks."""

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import aiohttp
from livekit.agents import stt

from voiceagent import clock
from voiceagent.audio.frame import Samples
from voiceagent.errors import ModelError
from voiceagent.plugins import PluginClass
from voiceagent.speech.engines import Transcript, Word
from voiceagent.speech.plugins.calling import ONE_TRY, failure, frame_of
from voiceagent.speech.rejection import compression
from voiceagent.speech.streaming import Heard, SpeechStream

_MADE_UP: Final = (stt.SpeechEventType.RECOGNITION_USAGE,)  # told by the plugin itself: no sign that the other side lives

_CLOSING_S: Final = 0.2


class PluginRecognizer:
    """A plugin as a recognizer for all calls. `open` makes the plugin on the running loop; nothing works before."""

    def __init__(self, found: PluginClass, options: Mapping[str, object], language: str = "en") -> None:
        """`language` marks transcripts that name none. Raises nothing: `open` does."""
        self._found = found
        self._options = dict(options)
        self._language = language
        self._session: aiohttp.ClientSession | None = None
        self._made: stt.STT[Any] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Makes the plugin; opens no connection. Raises ConfigError for its options, ModelError when it refuses to be made."""
        if self._found.takes_session:
            self._session = aiohttp.ClientSession()
        try:
            made = self._found.make(self._options, self._session)
        except Exception:
            await self.close()
            raise
        assert isinstance(made, stt.STT)
        self._made = made

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        """Words of `sound`; a guess is empty, since each would be paid for: guesses come from `stream`. Raises SpeechError."""
        if partial or not sound.size:
            return Transcript("", self._language)
        if not self._plugin.capabilities.offline_recognize:
            return await self._streamed(sound)
        try:
            with clock.outside():
                event = await self._plugin.recognize(frame_of(sound), conn_options=ONE_TRY)
        except Exception as error:
            raise failure(self._found.name, error) from error
        return transcript(event.alternatives[:1], self._language)

    @property
    def streams(self) -> bool:
        """Whether the plugin can listen along, as it was made."""
        return self._made is not None and self._made.capabilities.streaming

    def stream(self) -> SpeechStream:
        """A new connection."""
        plugin = self._plugin
        made = plugin.stream(conn_options=ONE_TRY)
        return PluginStream(made, self._found.name, self._language, self._closing, interim=plugin.capabilities.interim_results)

    async def close(self) -> None:
        """Closes its connections, those first that the other side does not let go of."""
        for task in tuple(self._closing):
            task.cancel()
        if self._closing:
            await asyncio.wait(self._closing)
        if self._made is not None:
            await self._made.aclose()
        if self._session is not None:
            await self._session.close()

    @property
    def _plugin(self) -> stt.STT[Any]:
        if self._made is None:
            raise ModelError(f"{self._found.name} is not open")
        return self._made

    async def _streamed(self, sound: Samples) -> Transcript:
        stream = self.stream()
        words = Transcript("", self._language)
        try:
            stream.push(sound)
            stream.finish()
            async for heard in stream.events():
                words = heard.transcript
        finally:
            await stream.close()
        return words


class PluginStream:
    """One connection of a plugin. Its queue is unbounded, and holds at most one utterance: whoever pushes bounds that."""

    def __init__(
        self, stream: stt.RecognizeStream, name: str, language: str, closing: set[asyncio.Task[None]], *, interim: bool
    ) -> None:
        """`closing` keeps what is still being closed when nobody waits for it any more."""
        self.interim = interim
        self._closing = closing
        self._stream = stream
        self._name = name
        self._language = language
        self._sure: list[stt.SpeechData] = []
        self._unsure: list[stt.SpeechData] = []
        self._outside = contextlib.ExitStack()  # once all is pushed, the loop's time waits for the words
        self._finished = False

    def push(self, samples: Samples) -> None:
        """Sends it on, or drops it where the connection has ended: `events` says why."""
        with contextlib.suppress(RuntimeError):
            self._stream.push_frame(frame_of(samples))

    def finish(self) -> None:
        """Asks for the last words."""
        if not self._finished:
            self._finished = True
            self._outside.enter_context(clock.outside())
            with contextlib.suppress(RuntimeError):
                self._stream.end_input()

    async def events(self) -> AsyncIterator[Heard]:
        """All words so far, whenever the other side says anything. Raises SpeechError."""
        try:
            async for event in self._stream:
                if event.type not in _MADE_UP:
                    yield self._taken(event)
        except Exception as error:
            raise failure(self._name, error) from error

    async def close(self) -> None:
        """Ends the connection; one that the other side does not let go of is closed behind the caller's back."""
        self._outside.close()
        task = asyncio.create_task(self._stream.aclose(), name=f"closing {self._name}")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
        with clock.outside():
            await asyncio.wait((task,), timeout=_CLOSING_S)

    def _taken(self, event: stt.SpeechEvent) -> Heard:
        match event.type:
            case stt.SpeechEventType.FINAL_TRANSCRIPT:
                self._sure += event.alternatives[:1]
                self._unsure = []
            case stt.SpeechEventType.INTERIM_TRANSCRIPT | stt.SpeechEventType.PREFLIGHT_TRANSCRIPT:
                self._unsure = event.alternatives[:1]
            case _:
                pass
        return Heard(transcript([*self._sure, *self._unsure], self._language), sure=not self._unsure)


def transcript(parts: list[stt.SpeechData], language: str) -> Transcript:
    """The parts of a stretch as one. Its confidence is the logarithm of the plugin's, 0 where it gives none."""
    text = " ".join(part.text.strip() for part in parts if part.text.strip())
    given = [part.confidence for part in parts if part.text.strip() and 0 < part.confidence <= 1]
    spoken = next((str(part.language) for part in parts if part.language), language)
    return Transcript(
        text,
        spoken.partition("-")[0] or language,
        no_speech=0.0 if text else 1.0,
        compression=compression(text),
        confidence=math.log(sum(given) / len(given)) if given else 0.0,
        words=tuple(_word(word) for part in parts for word in part.words or () if word.strip()),
    )


def _word(word: object) -> Word:
    start, end = getattr(word, "start_time", 0.0), getattr(word, "end_time", 0.0)
    return Word(str(word).strip(), _ms(start), _ms(end))


def _ms(seconds: object) -> int:
    return round(seconds * 1000) if isinstance(seconds, (int, float)) else 0
