"""The agent's own sound, taken where its voice makes it: the one place where nobody else's is mixed in."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import numpy as np

from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.room.channel import RoomContext
from voiceagent.room.hooks import HookResult
from voiceagent.speech.engines import TextToSpeech
from voiceagent.voice.mouth import SpokenSentence


class Tap:
    """A voice that keeps what it makes, for each speech by its id.

    A floor sounds one reply at a time, so that the sentence last asked about in BEFORE_TTS is the one spoken next: register
    `note` as that hook.
    """

    def __init__(self) -> None:
        self._voice: TextToSpeech | None = None
        self._speech_id = ""
        self._made: dict[str, list[Samples]] = {}

    def around(self, voice: TextToSpeech) -> TextToSpeech:
        """Takes the voice's place in front of it."""
        self._voice = voice
        return self

    async def note(self, sentence: SpokenSentence, room: RoomContext) -> HookResult[Any]:
        """The hook: whose sentence comes next."""
        self._speech_id = sentence.speech_id
        return HookResult.allow()

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        """What the voice gives, kept on its way."""
        if self._voice is None:
            raise SpeechError("the tap stands around no voice")
        made = self._made.setdefault(self._speech_id, [])
        async with aclosing(self._voice.speak(text)) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                made.append(piece)
                yield piece

    def sound(self, speech_id: str) -> Samples:
        """All that was made of a speech, heard or not."""
        pieces = self._made.get(speech_id)
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int16)
