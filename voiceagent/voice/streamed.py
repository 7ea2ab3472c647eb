"""The words of one utterance by a recognizer that listens along; what it fails at is decoded whole by whoever is next."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, Samples, to_ms, to_samples
from voiceagent.errors import SpeechError
from voiceagent.speech.engines import Transcript, Word
from voiceagent.speech.streaming import SpeechStream, StreamingSpeechToText
from voiceagent.voice.recognition import Decoding, Recognition

log = logging.getLogger(__name__)

STUCK_MS: Final = 5_000
"""Speech sent without a word coming back, after which a connection counts as dead, half-open ones too."""

SETTLED_MS: Final = 300
"""Silence of the other side, after all was sent, that makes sure words the last ones: some plugins end seconds after them."""

AFTER_LAST_MS: Final = 100
"""The same, after words that came sure when all had been sent."""

UNANSWERED_MS: Final = 1_000
"""Speech without any answer that speaks against the recognizer; after less, there may have been no words in it."""

_TRIES: Final = 2
_WORTH_HEARING: Final = to_samples(200)
_NOTHING: Final = Transcript("")


class Unanswered(SpeechError):
    """No words came of so little speech: there were none, or the connection is dead; whoever decodes it whole will know."""


class Stretch:
    """One stretch of speech, from a voice to its pause, on a connection of its own; a new one hears all of it again."""

    def __init__(self, engine: StreamingSpeechToText, sound: Samples, start: int, late_ms: int) -> None:
        """`sound` is its beginning, at sample `start` of the utterance; `late_ms` bounds the wait for its last words."""
        self.start = start
        self.words = _NOTHING
        self._engine = engine
        self._sound = [sound]
        self._late = late_ms
        self._stream: SpeechStream | None = None
        self._limit: asyncio.Timeout | None = None
        self._unanswered = 0
        self._finished_at: int | None = None
        self._sure = False

    def hear(self, samples: Samples) -> None:
        """More of it."""
        self._sound.append(samples)
        if self._stream is not None:
            self._stream.push(samples)

    def voiced(self) -> None:
        """The last frame held a voice: words should be coming."""
        self._unanswered += FRAME_MS
        if self._unanswered >= STUCK_MS and self._stream is not None and self._stream.interim:
            self._unanswered = 0
            self._end_by(clock.now())

    def finish(self) -> None:
        """It is whole."""
        self._finished_at = clock.now()
        if self._stream is not None:
            self._last_of(self._stream, self._finished_at)

    async def run(self) -> Transcript | Exception:
        """Its words, once finished; or why there are none, after a second connection failed too, or the words were late."""
        error: Exception = SpeechError("the words came too late")
        for _ in range(_TRIES):
            if self._is_late():
                break
            try:
                return await self._connected()
            except Exception as failure:  # noqa: BLE001 - the utterance's turn reports it
                error = failure
            log.warning("a connection to the recognizer failed: %s", error)
        return error

    async def _connected(self) -> Transcript:
        stream = self._engine.stream()
        try:
            return await self._listen(stream)
        finally:
            self._stream = self._limit = None
            await stream.close()

    async def _listen(self, stream: SpeechStream) -> Transcript:
        """One connection, from the stretch's start to its end. Raises SpeechError, also when nothing comes back."""
        words, self._stream, self._unanswered, self._sure = _NOTHING, stream, 0, False
        stream.push(np.concatenate(self._sound))
        try:
            async with asyncio.timeout(None) as self._limit:
                if self._finished_at is not None:
                    self._last_of(stream, self._finished_at)
                async for heard in stream.events():
                    self._unanswered = 0
                    words = self.words = heard.transcript
                    self._sure = heard.sure and bool(words.text)
                    if self._sure and self._finished_at is not None:
                        self._end_by(min(clock.now() + AFTER_LAST_MS, self._finished_at + self._late))
        except TimeoutError:
            if self._finished_at is None or not self._sure:
                raise self._silence(words) from None
        if self._finished_at is None:
            raise SpeechError("the recognizer ended by itself")
        return words

    def _silence(self, words: Transcript) -> SpeechError:
        if not words.text and self._unanswered < UNANSWERED_MS:
            return Unanswered("no words came")
        return SpeechError("the recognizer says nothing any more")

    def _last_of(self, stream: SpeechStream, at_ms: int) -> None:
        """All was sent at `at_ms`: words that are sure by then are the last unless others follow soon."""
        stream.finish()
        self._end_by(at_ms + (min(SETTLED_MS, self._late) if self._sure else self._late))

    def _end_by(self, at_ms: int) -> None:
        if self._limit is not None and not self._limit.expired():
            self._limit.reschedule(at_ms / 1000)

    def _is_late(self) -> bool:
        return self._finished_at is not None and clock.now() >= self._finished_at + self._late


class StreamedRecognition:
    """An utterance heard along, a connection for each stretch between pauses. Once a stretch fails, `whole` does the rest."""

    def __init__(
        self,
        engine: StreamingSpeechToText,
        whole: Recognition,
        tasks: asyncio.TaskGroup,
        late_ms: int,
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`whole` decodes stretches; `late_ms` is the longest wait for last words; `on_failure` is told why `whole` took over."""
        self._engine = engine
        self._whole = whole
        self._tasks = tasks
        self._late = late_ms
        self._on_failure = on_failure
        self._sound: list[Samples] = []
        self._since: list[Samples] | None = None
        self._stretches: list[tuple[Stretch, asyncio.Task[Transcript | Exception]]] = []
        self._failed = False
        self._over = False
        self._told = ""

    def begin(self, sound: Samples) -> None:
        """Connects, and sends it."""
        self._sound = [sound]
        self._connect(sound)

    def hear(self, samples: Samples) -> None:
        """Sends it, or keeps it while the voice pauses: it may have been all."""
        self._sound.append(samples)
        if self._failed:
            self._whole.hear(samples)
        elif self._since is not None:
            self._since.append(samples)
        else:
            self._stretches[-1][0].hear(samples)

    def guess(self) -> Decoding | None:
        """The words so far when they have changed."""
        if self._failed:
            return self._whole.guess()
        if self._since is not None:
            self._connect(np.concatenate(self._since or [self._sound[-1][:0]]))
        self._stretches[-1][0].voiced()
        words = _joined([(stretch.start, stretch.words) for stretch, _ in self._stretches])
        if not words.text or words.text == self._told:
            return None
        self._told = words.text
        guess: Decoding = asyncio.get_running_loop().create_future()
        guess.set_result(words)
        return guess

    def words(self, sound: Samples) -> Decoding:
        """The last words of what was sent; decoded whole from `sound` where the connection does not give them."""
        if self._failed:
            return self._whole.words(sound)
        if self._since is not None and sum(map(len, self._since)) >= _WORTH_HEARING:
            self._connect(np.concatenate(self._since))
        if self._since is None:
            self._stretches[-1][0].finish()
            self._since = []
        words = self._tasks.create_task(self._last(sound), name="last words")
        words.add_done_callback(self._let_go)
        return words

    def drop(self) -> None:
        """Its connections end with the words that were asked for last."""
        self._over = True
        self._whole.drop()

    def _connect(self, sound: Samples) -> None:
        start = sum(map(len, self._sound)) - sound.size
        stretch = Stretch(self._engine, sound, start, self._late)
        self._since = None
        listening = self._tasks.create_task(stretch.run(), name="listening along")
        self._stretches.append((stretch, listening))
        listening.add_done_callback(self._heard)

    def _heard(self, task: asyncio.Task[Transcript | Exception]) -> None:
        """A stretch that fails while the person still speaks: the rest is heard whole."""
        error = None if task.cancelled() else task.result()
        if isinstance(error, Exception) and not self._failed:
            self._failed = True
            if not isinstance(error, Unanswered):
                self._on_failure(error)
            if not self._over:
                self._whole.begin(np.concatenate(self._sound))

    async def _last(self, sound: Samples) -> Transcript | Exception:
        parts = [(stretch.start, await asyncio.shield(listening)) for stretch, listening in self._stretches]
        known = [(start, words) for start, words in parts if isinstance(words, Transcript)]
        return _joined(known) if len(known) == len(parts) else await self._whole.words(sound)

    def _let_go(self, _: object) -> None:
        if self._over:
            for _stretch, listening in self._stretches:
                listening.cancel()


def _joined(parts: list[tuple[int, Transcript]]) -> Transcript:
    """The stretches' words as one utterance's; each comes with the sample at which it began."""
    spoken = [(start, words) for start, words in parts if words.text]
    if not spoken:
        return parts[-1][1] if parts else _NOTHING
    first = spoken[0][1]
    return replace(
        first,
        text=" ".join(words.text for _, words in spoken),
        compression=max(words.compression for _, words in spoken),
        confidence=min(words.confidence for _, words in spoken),
        words=tuple(
            Word(word.text, word.start_ms + to_ms(start), word.end_ms + to_ms(start))
            for start, words in spoken
            for word in words.words
        ),
    )
