"""Sound from sentences by any LiveKit Agents voice, at 16 kHz, with its words' places where the plugin tells them."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import numpy as np
from livekit import rtc
from livekit.agents import tts
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT, TimedString

from voiceagent import clock
from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import ModelError
from voiceagent.plugins import PluginClass
from voiceagent.speech.engines import Timing, Word
from voiceagent.speech.plugins.calling import ONE_TRY, failure, samples_of


class PluginVoice:
    """A plugin as a voice for all calls. `open` makes the plugin on the running loop; nothing works before."""

    def __init__(self, found: PluginClass, options: Mapping[str, object], gain_db: float = 0.0) -> None:
        """`gain_db` is added to the plugin's loudness. Raises nothing: `open` does."""
        self._found = found
        self._options = dict(options)
        self._gain = 10 ** (gain_db / 20)
        self._session: aiohttp.ClientSession | None = None
        self._made: tts.TTS[Any] | None = None

    async def open(self) -> None:
        """Makes the plugin; opens no connection. Raises ConfigError for its options, ModelError when it refuses to be made."""
        if self._found.takes_session:
            self._session = aiohttp.ClientSession()
        try:
            made = self._found.make(self._options, self._session)
        except Exception:
            await self.close()
            raise
        assert isinstance(made, tts.TTS)
        self._made = made

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """Yields `text` as 16 kHz mono int16 pieces as they arrive, nothing for text without words. Closing it stops the plugin.

        Raises SpeechError.
        """
        if self._made is None:
            raise ModelError(f"{self._found.name} is not open")
        if not any(char.isalnum() for char in text):
            return
        stream = _asked(self._made, text)
        resampler = Resampler(self._made.sample_rate, RATE)
        try:
            while True:
                with clock.outside():
                    audio = await anext(stream, None)
                if audio is None:
                    break
                if words := _words(audio.frame):
                    yield Timing(words)
                if resampler.from_rate != audio.frame.sample_rate:
                    resampler = Resampler(audio.frame.sample_rate, RATE)
                yield self._loud(resampler.process(samples_of(audio.frame)))
            yield self._loud(resampler.flush())
        except GeneratorExit:
            raise
        except Exception as error:
            raise failure(self._found.name, error) from error
        finally:
            await stream.aclose()

    async def close(self) -> None:
        """Closes its connections."""
        if self._made is not None:
            await self._made.aclose()
        if self._session is not None:
            await self._session.close()

    def _loud(self, samples: Samples) -> Samples:
        if self._gain == 1.0:
            return samples
        louder: Samples = np.clip(samples * self._gain, -32767, 32767).astype(np.int16)
        return louder


def _asked(plugin: tts.TTS[Any], text: str) -> tts.ChunkedStream | tts.SynthesizeStream:
    """The plugin's stream for one sentence; over its streaming form where only that tells the words' places."""
    if not (plugin.capabilities.streaming and plugin.capabilities.aligned_transcript):
        return plugin.synthesize(text, conn_options=ONE_TRY)
    stream = plugin.stream(conn_options=ONE_TRY)
    stream.push_text(text)
    stream.end_input()
    return stream


def _words(frame: rtc.AudioFrame) -> tuple[Word, ...]:
    """The words that the plugin dates with this frame, from the sentence's first sample."""
    told: list[TimedString] = frame.userdata.get(USERDATA_TIMED_TRANSCRIPT) or []
    return tuple(
        Word(str(one).strip(), round(one.start_time * 1000), round(one.end_time * 1000))
        for one in told
        if str(one).strip() and isinstance(one.start_time, (int, float)) and isinstance(one.end_time, (int, float))
    )
