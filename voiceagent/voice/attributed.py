"""The words of an utterance together with what its sound tells of who said it."""

import asyncio
import logging
from dataclasses import replace

from voiceagent.audio.frame import Samples
from voiceagent.speech.engines import Transcript
from voiceagent.speech.traits import Traits, TraitsReader
from voiceagent.voice.recognition import Decoding, Recognition

log = logging.getLogger(__name__)


class AttributedRecognition:
    """A Recognition whose finished words carry the traits of their speaker; both are worked on side by side."""

    def __init__(self, recognition: Recognition, reader: TraitsReader, tasks: asyncio.TaskGroup) -> None:
        self._recognition = recognition
        self._reader = reader
        self._tasks = tasks

    def begin(self, sound: Samples) -> None:
        """The utterance has begun."""
        self._recognition.begin(sound)

    def hear(self, samples: Samples) -> None:
        """The next frame of it."""
        self._recognition.hear(samples)

    def guess(self) -> Decoding | None:
        """The words so far: of nobody in particular."""
        return self._recognition.guess()

    def words(self, sound: Samples) -> Decoding:
        """The words of all of it, and its traits."""
        words = self._recognition.words(sound)
        traits = self._tasks.create_task(self._traits(sound), name="traits")
        return self._tasks.create_task(_both(words, traits), name="words and traits")

    def drop(self) -> None:
        """Nobody waits for more guesses."""
        self._recognition.drop()

    async def _traits(self, sound: Samples) -> Traits | None:
        """What cannot be read costs the name, not the words."""
        try:
            return await self._reader.traits(sound)
        except Exception:
            log.exception("degraded: nobody is told apart by voice in this utterance")
            return None


async def _both(words: Decoding, traits: "asyncio.Task[Traits | None]") -> Transcript | Exception:
    """Cancelled together, and together they end."""
    try:
        found = await words
        return found if isinstance(found, Exception) else replace(found, traits=await traits)
    finally:
        words.cancel()
        traits.cancel()
