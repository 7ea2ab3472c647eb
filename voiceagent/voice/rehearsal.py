"""The first sentence of an answer that may never be given, or that waits for its turn, spoken ahead into a cache of the voice."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial

from voiceagent.audio.frame import Samples
from voiceagent.room.reply import GIVEN, Reply
from voiceagent.speech.engines import TextToSpeech, Timing
from voiceagent.speech.sentences import Sentences
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.speech.speakable import speakable
from voiceagent.voice.mouth import closing

log = logging.getLogger(__name__)


class Rehearsal:
    """A voice (TextToSpeech) around another, for one floor. It holds one sentence at most, for one speaker.

    What is asked for by the very text that was rehearsed comes from the cache, and goes on as it is made; anything else is spoken
    as ever, and lets go of a rehearsal whose answer has begun without it.
    """

    def __init__(
        self,
        tts: TextToSpeech,
        settings: SpeakingSettings,
        spawn: Callable[[Coroutine[object, object, None], str], asyncio.Task[None]],
    ) -> None:
        self._tts = tts
        self._settings = settings
        self._spawn = spawn
        self._part: _Part | None = None

    def take(self, draft: Reply) -> None:
        """Another draft: what was rehearsed before it is let go."""
        self.close()
        part = self._part = _Part(draft)
        part.task = self._spawn(self._rehearse(part), f"rehearsal of {draft.id}")
        part.task.add_done_callback(lambda _: part.end())
        draft.when_cancelled(partial(self._settled, part))

    def prepare(self, reply: Reply) -> None:
        """A reply waits for its turn while another sounds: its beginning is ready then. A draft that is rehearsed goes first."""
        held = self._part
        if held is not None and (held.draft is reply or not held.waits):
            return
        self.close()
        part = self._part = _Part(reply, waits=True)
        part.task = self._spawn(self._rehearse(part), f"rehearsal of {reply.id}")
        part.task.add_done_callback(lambda _: part.end())

    def close(self) -> None:
        """Nothing is held any more."""
        part, self._part = self._part, None
        if part is not None:
            part.stop()

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """As TextToSpeech says."""
        part = self._part
        if part is not None and (part.given or (part.waits and part.text == text)):
            self._part = None
            if part.text == text and part.error is None:
                async with closing(part.sound()) as sound:
                    async for piece in sound:
                        yield piece
                return
            part.stop()
        async with closing(self._tts.speak(text)) as pieces:
            async for piece in pieces:
                yield piece

    def _settled(self, part: "_Part") -> None:
        """The draft has become an answer, or was for nothing."""
        if part.draft.cancelled == GIVEN:
            part.given = True
            return
        part.stop()
        if self._part is part:
            self._part = None

    async def _rehearse(self, part: "_Part") -> None:
        try:
            sentence = await self._first_sentence(part.draft)
            text = speakable(sentence, self._settings.language).strip()
            if text:
                part.text = text
                async with closing(self._tts.speak(text)) as pieces:
                    async for piece in pieces:
                        part.add(piece)
        except Exception as error:  # noqa: BLE001 - the answer is spoken anew, or its mouth reports it
            log.info("a rehearsal failed: %r", error)
            part.error = error

    async def _first_sentence(self, draft: Reply) -> str:
        sentences = Sentences(self._settings.first_sentence_words, self._settings.max_sentence_chars)
        async with closing(draft.pieces()) as pieces:
            async for piece in pieces:
                if found := sentences.feed(piece):
                    return found[0]
        return next(iter(sentences.flush()), "") if draft.cancelled is None else ""


class _Part:
    """One sentence being made: `text` once that is known. `given`: its answer has begun; `waits`: it will, in its turn."""

    def __init__(self, draft: Reply, *, waits: bool = False) -> None:
        self.draft = draft
        self.waits = waits
        self.text: str | None = None
        self.given = False
        self.error: Exception | None = None
        self.task: asyncio.Task[None] | None = None
        self._pieces: list[Samples | Timing] = []
        self._over = False
        self._more = asyncio.Event()

    def add(self, piece: Samples | Timing) -> None:
        self._pieces.append(piece)
        self._more.set()

    def end(self) -> None:
        self._over = True
        self._more.set()

    def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()

    async def sound(self) -> AsyncIterator[Samples | Timing]:
        """The pieces from the first one on; raises what the voice raised. Left before its end, the voice stops."""
        read = 0
        try:
            while read < len(self._pieces) or not self._over:
                if read < len(self._pieces):
                    read += 1
                    yield self._pieces[read - 1]
                else:
                    self._more.clear()
                    await self._more.wait()
            if self.error is not None:
                raise self.error
        finally:
            self.stop()
