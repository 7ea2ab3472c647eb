"""The agent's own sound, taken where its voice makes it: the one place where nobody else's is mixed in."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import numpy as np

from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.room.channel import RoomContext
from voiceagent.room.hooks import HookResult
from voiceagent.speech.engines import TextToSpeech, Timing
from voiceagent.voice.mouth import SpokenSentence


class Tap:
    """A voice that keeps what it makes, for each speech by its id.

    Register `note` as a hook of BEFORE_TTS, behind all that change words: it says whose a sentence is. Its sound is what was made
    of it ahead and belongs to nobody yet, or else what is made of it next.
    """

    def __init__(self, spell: Callable[[str], str]) -> None:
        """`spell`: how a sentence is put to the voice."""
        self._voice: TextToSpeech | None = None
        self._spell = spell
        self._said: dict[str, list[tuple[str, int]]] = {}
        self._made: dict[str, list[list[Samples]]] = {}
        self._free: dict[str, int] = {}

    def around(self, voice: TextToSpeech) -> TextToSpeech:
        """Takes the voice's place in front of it."""
        self._voice = voice
        return self

    async def note(self, sentence: SpokenSentence, room: RoomContext) -> HookResult[Any]:
        """The hook: whose sentence comes next."""
        text = self._spell(sentence.text).strip()
        made = len(self._made.get(text, ()))
        place = made - 1 if self._free.get(text, 0) < made else made
        self._free[text] = place + 1
        self._said.setdefault(sentence.speech_id, []).append((text, place))
        return HookResult.allow()

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """What the voice gives, kept on its way."""
        if self._voice is None:
            raise SpeechError("the tap stands around no voice")
        made: list[Samples] = []
        self._made.setdefault(text, []).append(made)
        async with aclosing(self._voice.speak(text)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if not isinstance(piece, Timing):
                    made.append(piece)
                yield piece

    def sound(self, speech_id: str) -> Samples:
        """All that was made of a speech, heard or not."""
        said = self._said.get(speech_id, ())
        pieces = [piece for text, place in said for piece in next(iter(self._made.get(text, [])[place:]), [])]
        return np.concatenate([np.zeros(0, dtype=np.int16), *pieces])
