"""From an agent's words to 20 ms frames: sentence by sentence, hooks first, never more than a bounded stretch ahead."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_samples
from voiceagent.errors import SpeechError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.reply import Reply
from voiceagent.speech.engines import TextToSpeech, Timing
from voiceagent.speech.sentences import Sentences
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.speech.speakable import speakable
from voiceagent.voice.script import Script
from voiceagent.voice.tape import Tape

log = logging.getLogger(__name__)

STALL_MS: Final = 10_000
"""A voice that gives nothing for so long has failed at its sentence."""

_Piece = TypeVar("_Piece")


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """Payload of BEFORE_TTS and AFTER_TTS: one sentence of a reply. A SYNC hook before may change its text or drop it."""

    text: str
    room_id: str
    speech_id: str
    channel_id: str | None
    responds_to: str | None


@dataclass(frozen=True, slots=True)
class Speaking:
    """What all replies are spoken with: the voice, and how text is made ready for it."""

    tts: TextToSpeech
    settings: SpeakingSettings


class Mouth:
    """Speaks one reply into frames; `on_sound` is called whenever there may be a first frame or nothing more will come."""

    def __init__(self, reply: Reply, engine: RoomEngine, speaking: Speaking, ahead_ms: int, on_sound: Callable[[], None]) -> None:
        self.script = Script()
        self.done = False
        self._reply = reply
        self._engine = engine
        self._speaking = speaking
        self._ahead = to_samples(ahead_ms)
        self._on_sound = on_sound
        self._sentences = Sentences(speaking.settings.first_sentence_words, speaking.settings.max_sentence_chars)
        self._tape = Tape()
        self._space = asyncio.Event()

    @property
    def ready(self) -> bool:
        """Whether frame() has something to give."""
        return self._tape.ahead >= (1 if self.done else FRAME_SAMPLES)

    async def run(self) -> None:
        """Reads the reply to its end, or until it is cancelled. Whatever fails costs a sentence and is reported."""
        try:
            async with closing(self._reply.pieces()) as pieces:
                async for piece in pieces:
                    self.script.read(piece)
                    for sentence in self._sentences.feed(piece):
                        await self._say(sentence)
            if self._reply.cancelled is None:
                for sentence in self._sentences.flush():
                    await self._say(sentence)
        except Exception as error:  # noqa: BLE001 - the reply ends here, the floor goes on
            self._report("speech", error)
        finally:
            self.script.finish()
            self.done = True
            self._on_sound()

    def frame(self) -> Samples | None:
        """The next 20 ms; None while the voice is late or when there is no more. The last one is filled up with silence."""
        frame = self._tape.frame()
        if frame is None and self.done:
            frame = self._tape.rest()
        if self._tape.ahead < self._ahead:
            self._space.set()
        return frame

    def rewind(self, position: int) -> int:
        """Frames from this position of the reply on, in samples, come again; returns where they come from: the last 15 s that
        were given are kept, and an earlier position means the first of those."""
        return self._tape.rewind(position)

    async def _say(self, sentence: str) -> None:
        asked = SpokenSentence(sentence, self._reply.room_id, self._reply.id, self._reply.channel_id, self._reply.responds_to)
        outcome = await self._engine.host.run_hooks(HookTrigger.BEFORE_TTS, asked, self._reply.room_id)
        said = outcome.payload
        spell = partial(speakable, language=self._speaking.settings.language)
        aloud = "" if outcome.blocked_by is not None else spell(said.text).strip()
        if not aloud:
            self.script.skip(sentence)
            return
        self.script.begin(sentence, said.text.strip(), aloud, spell)
        try:
            async with closing(self._sound_of(aloud)) as sound:
                async for piece in sound:
                    if isinstance(piece, Timing):
                        self.script.time(piece.words)
                    else:
                        await self._put(piece)
        except Exception as error:  # noqa: BLE001 - costs this sentence
            self._report("tts", error)
            self.script.fail_sentence()
            return
        self.script.end_sentence()
        self._engine.host.notify(HookTrigger.AFTER_TTS, said, self._reply.room_id)

    async def _sound_of(self, text: str) -> AsyncIterator[Samples | Timing]:
        """The voice's pieces, each waited for no longer than STALL_MS."""
        async with closing(self._speaking.tts.speak(text)) as pieces:
            while True:
                try:
                    async with asyncio.timeout(STALL_MS / 1000):
                        piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                except TimeoutError as late:
                    raise SpeechError(f"the voice gave no sound for {STALL_MS} ms") from late
                yield piece

    async def _put(self, piece: Samples) -> None:
        """Adds sound to the tape; waits while too much lies ahead."""
        if piece.ndim != 1 or piece.dtype != np.int16:
            raise SpeechError(f"a voice gives one-dimensional int16 samples, not {piece.dtype} of shape {piece.shape}")
        self.script.sounded(piece.size)
        was_ready = self.ready
        self._tape.add(piece)
        if self.ready and not was_ready:
            self._on_sound()
        while self._tape.ahead >= self._ahead:
            self._space.clear()
            await self._space.wait()

    def _report(self, stage: str, error: Exception) -> None:
        where = f"room {self._reply.room_id}: speaking reply {self._reply.id}"
        log.error("%s failed at %s: %s", where, stage, error, exc_info=error)
        failure = ErrorEvent(self._reply.room_id, self._reply.channel_id, stage, error, self._reply.responds_to)
        self._engine.host.notify(HookTrigger.ON_ERROR, failure, self._reply.room_id)


@asynccontextmanager
async def closing(pieces: AsyncIterator[_Piece]) -> AsyncIterator[AsyncIterator[_Piece]]:
    """Closes a stream that is left before its end, so that its maker stops at once."""
    try:
        yield pieces
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
