"""What one line's sound means: who speaks when, the words decoded early, and guesses while speech lasts."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, Samples, to_ms
from voiceagent.errors import SpeechError
from voiceagent.speech.engines import SpeechToText, Transcript, VoiceDetector
from voiceagent.speech.segmenter import Segmenter, SpeechEnded, SpeechPaused, SpeechResumed, SpeechStarted
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.guess import settled
from voiceagent.voice.settings import VoiceSettings

log = logging.getLogger(__name__)

Decoding = asyncio.Task[Transcript | Exception]
"""Words on their way: what was recognized, or why nothing was."""


class Hearing:
    """What all lines hear with: the shared recognizer, and a detector for each line."""

    def __init__(
        self,
        stt: SpeechToText,
        detector_factory: Callable[[], VoiceDetector],
        settings: HearingSettings | None = None,
    ) -> None:
        self.detector_factory = detector_factory
        self.settings = settings or HearingSettings()
        self._stt = stt
        self._running = 0

    @property
    def busy(self) -> bool:
        """Whether the recognizer works on something, of whatever line."""
        return self._running > 0

    def words(self, tasks: asyncio.TaskGroup, sound: Samples, timeout_ms: int, *, unfinished: bool = False) -> Decoding:
        """Starts on the words of `sound`. A failure of the recognizer, or its taking too long, is the task's result."""
        self._running += 1
        task = tasks.create_task(self._decode(sound, timeout_ms, unfinished), name="guess" if unfinished else "words")
        task.add_done_callback(self._done)
        return task

    async def _decode(self, sound: Samples, timeout_ms: int, unfinished: bool) -> Transcript | Exception:
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await self._stt.transcribe(sound, partial=unfinished)
        except TimeoutError:
            return SpeechError(f"the recognizer gave no words within {timeout_ms} ms")
        except Exception as error:  # noqa: BLE001 - the utterance's turn reports it
            return error

    def _done(self, _: object) -> None:
        self._running -= 1


@dataclass(frozen=True, slots=True)
class Began:
    """Somebody begins to speak. Times are milliseconds on the line; `voiced_ms` is voice so far, pauses not counted."""

    input_id: str
    start_ms: int
    at_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True)
class Speaks:
    """A frame later, with or without voice in it."""

    at_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """An utterance is over, decided at `at_ms`; `words` is what is or will be known of it."""

    input_id: str
    start_ms: int
    end_ms: int
    at_ms: int
    voiced_ms: int
    voiced_ratio: float
    words: Decoding


EarEvent = Began | Speaks | Finished


@dataclass(frozen=True, slots=True)
class Guess:
    """Words of unfinished speech: `text` is the best guess, of which the first `stable` characters were guessed twice.

    It covers the line from `start_ms` to `at_ms`.
    """

    input_id: str
    text: str
    stable: int
    start_ms: int
    at_ms: int


@dataclass(slots=True)
class _Open:
    """The utterance being heard."""

    input_id: str
    start: int
    sound: list[Samples]
    voiced: int
    guessed_at: int
    guess: str = ""
    early: Decoding | None = None
    early_samples: int = 0


class Ear:
    """One line's ear. `hear()` never waits; decoding runs in tasks of the given group."""

    def __init__(
        self,
        hearing: Hearing,
        settings: VoiceSettings,
        tasks: asyncio.TaskGroup,
        new_input: Callable[[], str],
        on_guess: Callable[[Guess], None],
    ) -> None:
        """`new_input` names an utterance from its first sound; `on_guess` takes words of unfinished speech."""
        self._hearing = hearing
        self._settings = settings
        self._tasks = tasks
        self._new_input = new_input
        self._on_guess = on_guess
        self._segmenter = Segmenter(hearing.settings)
        self._detector = hearing.detector_factory()
        self._recent: deque[Samples] = deque(maxlen=_frames(hearing.settings.pre_roll_ms + 2 * hearing.settings.min_speech_ms))
        self._open: _Open | None = None
        self._guessing: Decoding | None = None
        self._at = 0
        self._deaf = False

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open."""
        return self._open is not None

    def hear(self, samples: Samples) -> tuple[EarEvent, ...]:
        """Takes the next frame (20 ms) and says what became known by it."""
        probability = self._probability(samples)
        self._at += FRAME_SAMPLES
        open_ = self._open
        if open_ is not None:
            open_.sound.append(samples)
            open_.voiced += FRAME_SAMPLES if probability >= self._hearing.settings.release else 0
        else:
            self._recent.append(samples)
        events = self._read(self._segmenter.hear(samples, probability))
        if self._open is not None and self._open is open_:
            self._guess(open_)
            events = (*events, Speaks(to_ms(self._at), to_ms(open_.voiced)))
        return events

    def finish(self) -> tuple[EarEvent, ...]:
        """The line has ended: so has what was being said."""
        return self._read(self._segmenter.finish())

    def _read(self, facts: tuple[SpeechStarted | SpeechPaused | SpeechResumed | SpeechEnded, ...]) -> tuple[EarEvent, ...]:
        events: list[EarEvent] = []
        for fact in facts:
            match fact:
                case SpeechStarted():
                    events.append(self._begin(fact))
                case SpeechPaused() if self._open is not None:
                    self._decode_early(self._open, fact.sound)
                case SpeechResumed() if self._open is not None:
                    _forget(self._open)
                case SpeechEnded() if self._open is not None:
                    events.append(self._end(self._open, fact))
                case _:
                    pass
        return tuple(events)

    def _begin(self, fact: SpeechStarted) -> Began:
        voiced = self._hearing.settings.min_speech_ms
        self._open = _Open(self._new_input(), fact.at, list(self._recent), voiced * FRAME_SAMPLES // FRAME_MS, fact.at)
        self._recent.clear()
        return Began(self._open.input_id, to_ms(fact.at), to_ms(self._at), voiced)

    def _end(self, open_: _Open, fact: SpeechEnded) -> Finished:
        self._open = None
        self._stop_guessing()
        if open_.early is None or open_.early_samples != fact.sound.size:
            _forget(open_)
            open_.early = self._decode(fact.sound)
        start, end, at, voiced = (to_ms(position) for position in (fact.start, fact.end, self._at, open_.voiced))
        return Finished(open_.input_id, start, end, at, voiced, fact.voiced_ratio, open_.early)

    def _decode(self, sound: Samples) -> Decoding:
        return self._hearing.words(self._tasks, sound, self._settings.recognizer_timeout_ms)

    def _decode_early(self, open_: _Open, sound: Samples) -> None:
        """A pause may be the end: the words are then ready when that is decided."""
        self._stop_guessing()
        open_.early = self._decode(sound)
        open_.early_samples = sound.size

    def _guess(self, open_: _Open) -> None:
        """Decodes what was said so far, unless that was done lately or the recognizer has better things to do."""
        if open_.early is not None or self._guessing is not None or self._hearing.busy:
            return
        if to_ms(self._at - open_.guessed_at) < self._settings.partial_every_ms:
            return
        open_.guessed_at = self._at
        sound = np.concatenate(open_.sound)
        self._guessing = self._hearing.words(self._tasks, sound, self._settings.recognizer_timeout_ms, unfinished=True)
        self._guessing.add_done_callback(partial(self._guessed, open_))

    def _guessed(self, open_: _Open, task: Decoding) -> None:
        if self._guessing is task:
            self._guessing = None
        if task.cancelled():
            return
        words = task.result()
        if isinstance(words, Exception):
            log.warning("words of unfinished speech: %s", words)
            return
        text, stable = settled(open_.guess, words.text.strip().rstrip(".…"))
        if text and text != open_.guess and self._open is open_:
            open_.guess = text
            self._on_guess(Guess(open_.input_id, text, stable, to_ms(open_.start), to_ms(open_.guessed_at)))

    def _stop_guessing(self) -> None:
        if self._guessing is not None:
            self._guessing.cancel()
            self._guessing = None

    def _probability(self, samples: Samples) -> float:
        """A detector that fails hears nothing in this frame; said once, until it works again."""
        try:
            probability = float(self._detector.probability(samples))
            if not 0 <= probability <= 1:
                raise ValueError(f"a voice detector gave {probability} for a probability")
        except Exception:
            if not self._deaf:
                log.exception("a voice detector failed; its line is heard as silent until it works again")
            self._deaf = True
            return 0.0
        self._deaf = False
        return probability


def _forget(open_: _Open) -> None:
    if open_.early is not None:
        open_.early.cancel()
        open_.early = None


def _frames(ms: int) -> int:
    return -(-ms // FRAME_MS)
