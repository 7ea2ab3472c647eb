"""A voice for each language: every sentence is spoken by the voice of the language that it is written in."""

from collections.abc import AsyncIterator, Mapping

from voiceagent.audio.frame import Samples
from voiceagent.languages import language_of
from voiceagent.speech.engines import TextToSpeech, Timing


class Polyglot:
    """Several voices as one. A sentence that names no language goes to the voice that spoke last."""

    def __init__(self, voices: Mapping[str, TextToSpeech]) -> None:
        """`voices` by the code of their language, the first one for a text of which nothing tells the language."""
        self._voices = dict(voices)
        self._last = next(iter(self._voices))

    def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """The sound of `text` by the voice that fits."""
        self._last = language_of(text, self._voices, self._last)
        return self._voices[self._last].speak(text)

    async def close(self) -> None:
        """Closes those voices that can be."""
        for voice in self._voices.values():
            close = getattr(voice, "close", None)
            if close is not None:
                close()
