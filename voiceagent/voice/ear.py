"""What one line's sound means: who speaks when, the words decoded early, and guesses while speech lasts."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_ms, to_samples
from voiceagent.speech.endpoint import Expectation, Silence, wait_ms
from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import WORDLESS, reject, runs_away
from voiceagent.speech.segmenter import (
    Segmenter,
    SpeechEnded,
    SpeechEvent,
    SpeechHushed,
    SpeechPaused,
    SpeechResumed,
    SpeechStarted,
)
from voiceagent.speech.tongue import Tongue
from voiceagent.voice.guess import Guesses
from voiceagent.voice.hearing import Hearing
from voiceagent.voice.recognition import Decoding, Recognition
from voiceagent.voice.settings import VoiceSettings

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Stir:
    """A voiced frame of what may become speech; `voiced_ms` is its voice so far. All times are milliseconds on the line."""

    at_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True)
class Calm:
    """What stirred came to nothing."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Began:
    """Somebody begins to speak; `voiced_ms` is voice so far, pauses not counted."""

    input_id: str
    start_ms: int
    at_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True)
class Speaks:
    """A frame later; `voiced`: there was voice in it."""

    at_ms: int
    voiced_ms: int
    voiced: bool = True


@dataclass(frozen=True, slots=True)
class Paused:
    """The voice fell silent at `end_ms`; this may be the end, and its words are on their way."""

    input_id: str
    at_ms: int
    end_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The voice came back: the pause was not the end."""

    input_id: str
    at_ms: int


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


EarEvent = Stir | Calm | Began | Speaks | Paused | Resumed | Finished


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """The words of an utterance that has paused at `end_ms` and may be over; known at `at_ms`, and fit to be a turn."""

    input_id: str
    transcript: Transcript
    start_ms: int
    end_ms: int
    at_ms: int
    voiced_ms: int


@dataclass(slots=True)
class _Pause:
    """A silence that may end the utterance: where its voice ended, the sound up to here, and what is on its way: its words, and,
    once it has lasted, whether it sounds finished."""

    end: int
    samples: int
    words: Decoding
    finished: asyncio.Future[float | None] | None = None


@dataclass(slots=True)
class _Open:
    """The utterance being heard; positions are samples of the line."""

    input_id: str
    start: int
    voiced: int
    recognition: Recognition
    guesses: Guesses = field(default_factory=Guesses)
    pause: _Pause | None = None


class Ear:
    """One line's ear. `hear()` never waits; decoding runs in tasks of the given group."""

    def __init__(
        self,
        hearing: Hearing,
        settings: VoiceSettings,
        tasks: asyncio.TaskGroup,
        new_input: Callable[[], str],
        *,
        on_guess: Callable[[Guess], None],
        on_candidate: Callable[[Candidate], None],
        expecting: Callable[[], Expectation],
    ) -> None:
        """`new_input` names an utterance from its first sound; `on_guess` takes words of unfinished speech, `on_candidate` those
        of an utterance that has paused; `expecting` says what the agent's last words make likely."""
        self._hearing = hearing
        self._settings = settings
        self._tasks = tasks
        self._new_input = new_input
        self._on_guess = on_guess
        self._on_candidate = on_candidate
        self._expecting = expecting
        self._segmenter = Segmenter(hearing.settings)
        self._detector = hearing.detector_factory()
        self._open: _Open | None = None
        self._tongue = Tongue()
        self._at = 0
        self._deaf = False

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open."""
        return self._open is not None

    def hear(self, samples: Samples, *, own: bool = False) -> tuple[EarEvent, ...]:
        """Takes the next frame (20 ms) and says what became known by it. `own`: what is in it is the agent's sound alone."""
        probability = self._probability(samples)
        if own:
            probability = 0.0
        self._at += FRAME_SAMPLES
        open_, stirred = self._open, self._segmenter.stirring
        if open_ is not None:
            open_.recognition.hear(samples)
        facts = self._segmenter.hear(samples, probability, self._wait())
        if open_ is None:
            return (*self._stirs(stirred), *self._read(facts))
        open_.voiced += FRAME_SAMPLES if self._segmenter.voiced else 0
        events = self._read(facts)
        if self._open is not open_:
            return events
        self._guess(open_)
        return (*events, Speaks(to_ms(self._at), to_ms(open_.voiced), self._segmenter.voiced))

    def finish(self) -> tuple[EarEvent, ...]:
        """The line has ended: so has what was being said."""
        self._hearing.let_go(self._detector)
        return self._read(self._segmenter.finish())

    def _wait(self) -> int:
        """The silence, in samples, that ends what is said, as things stand; counted from its last voice, whenever words came."""
        open_, settings = self._open, self._hearing.settings
        if open_ is None or open_.pause is None:
            return to_samples(settings.max_wait_ms)
        words, judging = _result(open_.pause.words), open_.pause.finished
        text = words.text if isinstance(words, Transcript) else "" if words else None
        language = words.language if isinstance(words, Transcript) else settings.language
        known = Silence(to_ms(open_.voiced), _result(judging), text, language, judging=judging is None or not judging.done())
        return to_samples(wait_ms(known, self._expecting(), settings))

    def _stirs(self, before: int) -> tuple[EarEvent, ...]:
        """What may become speech, frame by frame, until it is sure or comes to nothing."""
        voiced = self._segmenter.stirring
        if voiced > before:
            return (Stir(to_ms(self._at), to_ms(voiced)),)
        return (Calm(to_ms(self._at)),) if before and not voiced and not self._segmenter.speaking else ()

    def _read(self, facts: tuple[SpeechEvent, ...]) -> tuple[EarEvent, ...]:
        events: list[EarEvent] = []
        for fact in facts:
            open_ = self._open
            match fact:
                case SpeechStarted():
                    events.append(self._begin(fact))
                case SpeechHushed() if open_ is not None:
                    open_.pause = _Pause(fact.at, fact.sound.size, open_.recognition.words(fact.sound))
                case SpeechPaused() if open_ is not None and open_.pause is not None:
                    events.append(self._pause(open_, open_.pause, fact))
                case SpeechResumed() if open_ is not None:
                    events += self._resume(open_)
                case SpeechEnded() if open_ is not None:
                    events.append(self._end(open_, fact))
                case _:
                    pass
        return tuple(events)

    def _begin(self, fact: SpeechStarted) -> Began:
        recognition = self._hearing.recognition(self._tasks, self._settings, self._tongue)
        recognition.begin(fact.sound)
        voiced = self._hearing.settings.min_speech_ms
        self._open = _Open(self._new_input(), fact.at, to_samples(voiced), recognition)
        return Began(self._open.input_id, to_ms(fact.at), to_ms(self._at), voiced)

    def _pause(self, open_: _Open, pause: _Pause, fact: SpeechPaused) -> Paused:
        """It may be the end: the words are then ready when that is decided. They are told after this pause is, even if they are
        known."""
        pause.finished = self._hearing.finished(self._tasks, fact.sound)
        pause.words.add_done_callback(partial(self._candidate, open_, pause))
        return Paused(open_.input_id, to_ms(self._at), to_ms(fact.at), to_ms(open_.voiced))

    def _resume(self, open_: _Open) -> tuple[EarEvent, ...]:
        """The voice is back: told of when the pause was."""
        told = open_.pause is not None and open_.pause.finished is not None
        _forget(open_)
        return (Resumed(open_.input_id, to_ms(self._at)),) if told else ()

    def _candidate(self, open_: _Open, pause: _Pause, task: Decoding) -> None:
        if task.cancelled() or self._open is not open_ or open_.pause is not pause:
            return
        words = task.result()
        start, end, voiced = (to_ms(position) for position in (open_.start, pause.end, open_.voiced))
        if isinstance(words, Exception) or reject(words, voiced / max(1, end - start), end - start) is not None:
            return
        self._on_candidate(Candidate(open_.input_id, words, start, end, to_ms(self._at), voiced))

    def _end(self, open_: _Open, fact: SpeechEnded) -> Finished:
        self._open = None
        open_.recognition.drop()
        if open_.pause is not None and open_.pause.samples == fact.sound.size:
            words = open_.pause.words
            if open_.pause.finished is not None:
                open_.pause.finished.cancel()
        else:
            _forget(open_)
            words = open_.recognition.words(fact.sound)
        start, end, at, voiced = (to_ms(position) for position in (fact.start, fact.end, self._at, open_.voiced))
        return Finished(open_.input_id, start, end, at, voiced, fact.voiced_ratio, words)

    def _guess(self, open_: _Open) -> None:
        """Asks for the words so far, while a voice is heard: in a silence their last decoding is near."""
        if not self._segmenter.voiced:
            return
        guess = open_.recognition.guess()
        if guess is not None:
            guess.add_done_callback(partial(self._guessed, open_, self._at))

    def _guessed(self, open_: _Open, at: int, task: Decoding) -> None:
        if task.cancelled():
            return
        words = task.result()
        if isinstance(words, Exception):
            log.warning("words of unfinished speech: %s", words)
            return
        so_far = to_ms(at - open_.start)
        if self._open is not open_ or runs_away(words, so_far) or reject(words, 1.0, so_far) in WORDLESS:
            return
        if open_.guesses.hear(words.text):
            text, stable = open_.guesses.text, open_.guesses.stable
            self._on_guess(Guess(open_.input_id, text, stable, to_ms(open_.start), to_ms(at)))

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
    if open_.pause is not None:
        open_.pause.words.cancel()
        if open_.pause.finished is not None:
            open_.pause.finished.cancel()
        open_.pause = None


def _result(work: asyncio.Future[T] | None) -> T | None:
    """What came of it; None while nothing has, or before it has begun."""
    return work.result() if work is not None and work.done() and not work.cancelled() else None
