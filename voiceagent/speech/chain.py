"""Recognizers and voices in a chain: when the first fails or is late, the next one does the same piece of work."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.fallback import COOL_DOWN_MS, Fallback, closed, opened
from voiceagent.speech.engines import SpeechToText, TextToSpeech, Timing, Transcript
from voiceagent.speech.streaming import StreamingSpeechToText, listening
from voiceagent.speech.tongue import NO_ODDS, Odds, words_of

log = logging.getLogger(__name__)

LATE_MS: Final = 3_000
"""How long an engine may take before the next one is asked for the same; the last of a chain has all the time there is."""


class RecognizerChain:
    """Asks its recognizers in order for the words of a stretch. One that fails or is late is asked last for a while."""

    def __init__(self, engines: Sequence[SpeechToText], late_ms: int = LATE_MS, cool_down_ms: int = COOL_DOWN_MS) -> None:
        """Raises ValueError when there is no engine."""
        self._chain = Fallback(engines, cool_down_ms)
        self._late = late_ms

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        """Words of `sound` by the first that gives them; a guess (`partial`) is asked of the first alone.

        Raises SpeechError when none does, with what the last one said.
        """
        return await self.transcribe_in(sound, NO_ODDS, partial=partial)

    async def transcribe_in(self, sound: Samples, odds: Odds, *, partial: bool = False) -> Transcript:
        """The same; the odds are told to those that choose among languages."""
        order = self._chain.order(clock.now())
        if partial:
            return await words_of(order[0], sound, odds, partial=True)
        for engine in order[:-1]:
            try:
                async with asyncio.timeout(self._late / 1000):
                    words = await words_of(engine, sound, odds)
            except TimeoutError:
                self._failed(engine, SpeechError(f"no words within {self._late} ms"))
            except Exception as error:  # noqa: BLE001 - the next one is asked
                self._failed(engine, error)
            else:
                self._chain.worked(engine)
                return words
        return await words_of(order[-1], sound, odds)

    def streaming(self) -> StreamingSpeechToText | None:
        """Whoever is asked first, if it can listen along."""
        return listening(self._chain.order(clock.now())[0])

    def failed(self, engine: object, error: Exception) -> None:
        """The others go first until its cool-down is over."""
        for known in self._chain.engines:
            if known is engine:
                self._failed(known, error)

    async def open(self) -> None:
        """Opens those that need it."""
        await opened(*self._chain.engines)

    async def close(self) -> None:
        """Closes all of them."""
        await closed(*self._chain.engines)

    def _failed(self, engine: SpeechToText, error: Exception) -> None:
        log.warning("a recognizer failed (%s), another is asked: %s", type(engine).__name__, error)
        self._chain.failed(engine, clock.now())


class VoiceChain:
    """Speaks a sentence with the first voice that gives a sound of it; what has begun to sound is not begun again."""

    def __init__(self, engines: Sequence[TextToSpeech], late_ms: int = LATE_MS, cool_down_ms: int = COOL_DOWN_MS) -> None:
        """Raises ValueError when there is no engine."""
        self._chain = Fallback(engines, cool_down_ms)
        self._late = late_ms

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """The pieces of one voice, in order. Raises what the last one raises, and SpeechError when a voice breaks off."""
        order = self._chain.order(clock.now())
        for engine in order:
            begun: list[Samples | Timing] = []
            pieces = engine.speak(text)
            try:
                async with asyncio.timeout(None if engine is order[-1] else self._late / 1000):
                    await _until_sound(pieces, begun)
                for piece in begun:
                    yield piece
                async for piece in pieces:
                    yield piece
            except Exception as error:
                self._failed(engine, error, late=isinstance(error, TimeoutError))
                if engine is order[-1] or _has_sound(begun):
                    raise
            else:
                self._chain.worked(engine)
                return
            finally:
                if isinstance(pieces, AsyncGenerator):
                    await pieces.aclose()

    async def open(self) -> None:
        """Opens those that need it."""
        await opened(*self._chain.engines)

    async def close(self) -> None:
        """Closes all of them."""
        await closed(*self._chain.engines)

    def _failed(self, engine: TextToSpeech, error: Exception, *, late: bool) -> None:
        told = f"no sound within {self._late} ms" if late else str(error)
        log.warning("a voice failed (%s): %s", type(engine).__name__, told)
        self._chain.failed(engine, clock.now())


async def _until_sound(pieces: AsyncIterator[Samples | Timing], begun: list[Samples | Timing]) -> None:
    """Takes pieces up to the first that sounds, or to the end of a sentence that has no sound."""
    async for piece in pieces:
        begun.append(piece)
        if _has_sound([piece]):
            return


def _has_sound(pieces: Sequence[Samples | Timing]) -> bool:
    return any(not isinstance(piece, Timing) and piece.size > 0 for piece in pieces)
