"""The words of one utterance while it is spoken and after it: asked of a recognizer that knows only whole stretches of sound."""

import asyncio
from dataclasses import replace
from typing import Final, Protocol
from weakref import WeakSet

import numpy as np

from voiceagent import clock
from voiceagent.audio.frame import Samples, to_ms, to_samples
from voiceagent.errors import SpeechError
from voiceagent.speech.engines import SpeechToText, Transcript
from voiceagent.speech.tongue import Tongue, words_of
from voiceagent.voice.settings import VoiceSettings

Decoding = asyncio.Future[Transcript | Exception]
"""Words on their way: what was recognized, or why nothing was. Cancelling it lets the work go."""

SHARE: Final = 0.35
"""The part of the recognizer's time that guessing at unfinished speech may take, of all who speak together."""


LONG_MS: Final = 8_000
"""Speech up to here is decoded whole for each guess: it fits the recognizer's shortest window."""

TIMED_MS: Final = 10_000
"""The sound that a recognizer's deadline is for: longer sound has as much more time, since one that is slower than speech by
that much is of no use, and one that hangs over a short word is still found as soon."""


class Recognition(Protocol):
    """One utterance's words. Nothing here waits, and nothing raises: a failure is a decoding's result."""

    def begin(self, sound: Samples) -> None:
        """The utterance has begun: its sound so far (16 kHz mono int16), with a little from before the voice."""
        ...

    def hear(self, samples: Samples) -> None:
        """The next frame of it (20 ms), with or without voice; none comes twice."""
        ...

    def guess(self) -> Decoding | None:
        """The words so far, or None while nothing new is due. Asked once a frame while a voice is heard."""
        ...

    def words(self, sound: Samples) -> Decoding:
        """The words of all of it, `sound`: the voice has paused or ended. Once a pause; speech may go on after it."""
        ...

    def drop(self) -> None:
        """Nobody waits for more guesses: the utterance is over. What `words` gave last goes on."""
        ...


class Desk:
    """The recognizer that all lines share, what it is at, and what guessing has cost so far."""

    def __init__(self, stt: SpeechToText) -> None:
        self._speakers: WeakSet[Recognition] = WeakSet()
        self._stt = stt
        self._running = 0
        self._cost_ms = 0

    @property
    def busy(self) -> bool:
        """Whether the recognizer works on something, of whatever line."""
        return self._running > 0

    def decode(
        self, tasks: asyncio.TaskGroup, sound: Samples, timeout_ms: int, tongue: Tongue, *, after: str | None = None
    ) -> Decoding:
        """Starts on the words of `sound`, spoken by a person of this tongue: of a finished stretch, which the tongue learns from,
        or a guess at what goes on `after` these words.

        A failure of the recognizer, or its taking too long, is the result.
        """
        self._running += 1
        task = tasks.create_task(self._decode(sound, timeout_ms, tongue, after), name="words" if after is None else "guess")
        task.add_done_callback(self._done)
        return task

    def guess_every(self, least_ms: int) -> int:
        """The time between two guesses of one utterance: all who speak take SHARE of the recognizer together."""
        return max(least_ms, round(self._cost_ms * max(1, len(self._speakers)) / SHARE))

    def begin(self, recognition: Recognition) -> None:
        """One more speaks; counted until end(), or until nobody holds its recognition any more."""
        self._speakers.add(recognition)

    def end(self, recognition: Recognition) -> None:
        """One less."""
        self._speakers.discard(recognition)

    async def _decode(self, sound: Samples, timeout_ms: int, tongue: Tongue, after: str | None) -> Transcript | Exception:
        began = clock.now()
        timeout_ms = deadline_ms(to_ms(sound.size), timeout_ms)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                words = await words_of(self._stt, sound, tongue.odds(sound), partial=after is not None)
        except TimeoutError:
            return SpeechError(f"the recognizer gave no words within {timeout_ms} ms")
        except Exception as error:  # noqa: BLE001 - the utterance's turn reports it
            return error
        if after is None:
            tongue.heard(words)
            return words
        self._cost_ms = clock.now() - began
        return replace(words, text=f"{after} {words.text.strip()}".strip()) if words.text.strip() else words

    def _done(self, _: object) -> None:
        self._running -= 1


def deadline_ms(sound_ms: int, timeout_ms: int) -> int:
    """How long the words of so much sound may take, where those of up to TIMED_MS of it may take `timeout_ms`."""
    return timeout_ms * max(sound_ms, TIMED_MS) // TIMED_MS


class BatchRecognition:
    """An utterance before a recognizer that takes a stretch and gives its words: the whole so far is decoded again and again.

    Past LONG_MS, guesses decode only what follows the last pause whose words are known; a pause is a place to cut.
    """

    def __init__(self, desk: Desk, tasks: asyncio.TaskGroup, settings: VoiceSettings, tongue: Tongue) -> None:
        self._desk = desk
        self._tongue = tongue
        self._tasks = tasks
        self._settings = settings
        self._sound: list[Samples] = []
        self._heard = 0
        self._guessed_to = 0
        self._guessing: Decoding | None = None
        self._paused: tuple[int, Decoding] | None = None

    def begin(self, sound: Samples) -> None:
        """Its first sound; the first guess comes after half the time that lies between two."""
        self._desk.begin(self)
        self._sound = [sound]
        self._heard = sound.size
        self._guessed_to = self._heard - to_samples(self._settings.partial_every_ms // 2)

    def hear(self, samples: Samples) -> None:
        """Keeps it."""
        self._sound.append(samples)
        self._heard += samples.size

    def guess(self) -> Decoding | None:
        """Decodes what was said so far, unless that was done lately or the recognizer has better things to do."""
        if self._desk.busy or to_ms(self._heard - self._guessed_to) < self._desk.guess_every(self._settings.partial_every_ms):
            return None
        self._guessed_to = self._heard
        known_to, known = self._known()
        sound = np.concatenate(self._sound)[known_to:]
        self._guessing = self._desk.decode(self._tasks, sound, self._settings.recognizer_timeout_ms, self._tongue, after=known)
        return self._guessing

    def words(self, sound: Samples) -> Decoding:
        """Decodes it with care; a guess that is still being made is let go."""
        self._stop_guessing()
        words = self._desk.decode(self._tasks, sound, self._settings.recognizer_timeout_ms, self._tongue)
        self._paused = sound.size, words
        return words

    def drop(self) -> None:
        """Lets a guess go."""
        self._stop_guessing()
        self._desk.end(self)

    def _known(self) -> tuple[int, str]:
        """How far, in samples, the words are known from a pause, and which; that is not asked of short speech."""
        if self._paused is None or to_ms(self._heard) < LONG_MS:
            return 0, ""
        size, words = self._paused
        found = words.result() if words.done() and not words.cancelled() else None
        return (size, found.text.strip()) if isinstance(found, Transcript) and found.text.strip() else (0, "")

    def _stop_guessing(self) -> None:
        if self._guessing is not None:
            self._guessing.cancel()
            self._guessing = None
