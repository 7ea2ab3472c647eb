"""Where an utterance begins, pauses and ends: frames and probabilities in, facts out; no clock, no model."""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from voiceagent.audio.frame import Samples, to_samples
from voiceagent.speech.background import Background
from voiceagent.speech.settings import HearingSettings

_GAP: Final = to_samples(100)
"""Longest silence inside the few voiced frames that make a beginning."""

_DIP: Final = to_samples(60)
"""Shortest silence in which speech that never ends is cut."""

_FAINT_DB: Final = 36.0
"""How far under an utterance's loudest frame sound is no more than the tail of it: breath, echo of the room, the line's noise."""

_FADE_DB: Final = 0.1
"""How much of that loudest is forgotten with each frame, so that one slam does not make the rest of what is said faint."""

_TAIL: Final = to_samples(120)
"""The longest tail a detector is believed to have held on to. Over our recordings Silero calls a voice what is 30 dB under its
loudest for 0-140 ms, 45 ms at the median. Two people on a telephone lose words at 34 dB that they keep at 36."""

_STIR_DB: Final = 20.0
"""How near an utterance's loudest frame sound must be again for its silence not to be one, though no voice is noticed yet."""

_STIR: Final = to_samples(260)
"""How long such sound, and all of it in one silence, may put the end off: a detector that had closed is up to 220 ms behind at a
beginning. Noise that has been there for longer puts nothing off."""

_SOFT_LIMIT: Final = 0.9
"""Share of the longest utterance after which the next dip is where it is cut."""


@dataclass(frozen=True, slots=True, eq=False)
class SpeechStarted:
    """Somebody speaks, since position `at`; `sound` is the utterance so far, with the pre-roll before it."""

    at: int
    sound: Samples


@dataclass(frozen=True, slots=True, eq=False)
class SpeechHushed:
    """The voice fell silent at `at`; `sound` is the utterance so far, worth decoding: if nothing follows, it is all of it."""

    at: int
    sound: Samples


@dataclass(frozen=True, slots=True, eq=False)
class SpeechPaused:
    """It is silent for so long now that this may be the end; `sound` is the utterance with that silence, worth judging."""

    at: int
    sound: Samples


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """The hush, or the pause that came of it, is over: the voice is back since `at`."""

    at: int


@dataclass(frozen=True, slots=True, eq=False)
class SpeechEnded:
    """An utterance: its voice from `start` to `end`, and the sound to decode.

    `sound` begins at position `sound_at`, at most the pre-roll before `start`, and never repeats a sample of another
    utterance. When the utterance ended after a pause, it is the very sound that `SpeechHushed` gave. `voiced_ratio` is the
    share of voiced frames between `start` and `end`. `continues`: the speaker went on, this part was cut at the bound, and
    the next one's sound begins with the next sample.
    """

    start: int
    end: int
    sound_at: int
    sound: Samples
    voiced_ratio: float
    continues: bool = False


SpeechEvent = SpeechStarted | SpeechHushed | SpeechPaused | SpeechResumed | SpeechEnded


@dataclass(slots=True)
class _Utterance:
    """What is known of the utterance being heard, in positions; `hushed_to` is the end of the sound its hush gave.

    `last_voice` is where the detector last heard a voice, `last_loud` where that was no mere tail; levels are in decibels.
    """

    start: int
    sound_at: int
    last_voice: int
    voiced: int
    hushed_to: int | None = None
    paused: bool = False
    last_loud: int = 0
    loudest: float = 0.0
    stirs_at: int | None = None

    @property
    def end(self) -> int:
        """Where the voice ended, if it has: by its sound, since a detector falls behind."""
        return min(self.last_voice, max(self.last_loud, self.last_voice - _TAIL))

    def voice(self, begin: int, now: int, level: float) -> None:
        """A voiced frame from `begin` to `now`."""
        self.voiced += now - begin
        self.last_voice = now
        self.loudest = max(level, self.loudest - _FADE_DB)
        self.stirs_at = None
        if level >= self.loudest - _FAINT_DB:
            self.last_loud = now

    def stirs(self, begin: int, now: int, level: float) -> bool:
        """A frame without a voice: whether it may be one that is not noticed yet."""
        if level < self.loudest - _STIR_DB:
            self.stirs_at = None
        elif self.stirs_at is None:
            self.stirs_at = begin
        return self.stirs_at is not None and now - self.stirs_at <= _STIR


class Segmenter:
    """One line's segmenter. Positions count samples from the first frame heard.

    Voice begins at `threshold` and lasts while above `release`; a steady background counts as silence however it is judged.
    Each start has one end, with start < hush <= pause <= end; what goes on past `max_speech_ms` is cut, in a dip of the voice if
    one comes in the last tenth, and the parts join without a sample lost or doubled.
    """

    def __init__(self, settings: HearingSettings) -> None:
        self._settings = settings
        self._pre_roll = to_samples(settings.pre_roll_ms)
        self._min_speech = to_samples(settings.min_speech_ms)
        self._hush = to_samples(settings.decode_ms)
        self._pause = to_samples(settings.pause_ms)
        self._end_silence = to_samples(settings.end_silence_ms)
        self._limit = to_samples(settings.max_speech_ms)
        self._background = Background()
        self._tape = _Tape()
        self._onset: _Utterance | None = None
        self._open: _Utterance | None = None
        self._voiced = False

    @property
    def speaking(self) -> bool:
        """Whether an utterance is open."""
        return self._open is not None

    @property
    def voiced(self) -> bool:
        """Whether the last frame counted as voice."""
        return self._voiced

    @property
    def stirring(self) -> int:
        """Samples of voice in a beginning that is not sure to be speech yet; 0 when there is none."""
        return self._onset.voiced if self._onset else 0

    def hear(self, samples: Samples, probability: float, end_silence: int | None = None) -> tuple[SpeechEvent, ...]:
        """Takes the next frame (20 ms, int16) and its probability of a voice (0..1); returns what became known by it.

        `end_silence`: how many samples of silence end the utterance, as things stand now; the settings' when None.
        """
        begin = self._tape.end
        self._tape.append(samples)
        heard = self._open or self._onset
        bar = self._settings.release if heard else self._settings.threshold
        self._voiced = not self._background.hear(samples, probability) and probability >= bar
        if self._open is None:
            return self._await_voice(begin, self._voiced)
        if self._voiced:
            return self._hear_voice(self._open, begin)
        return self._hear_silence(self._open, begin, self._end_silence if end_silence is None else end_silence)

    def finish(self) -> tuple[SpeechEvent, ...]:
        """The line has ended: ends what is open, with all its sound."""
        return self._end(self._open, self._tape.end) if self._open else ()

    def _await_voice(self, begin: int, voiced: bool) -> tuple[SpeechEvent, ...]:
        now = self._tape.end
        if voiced:
            self._onset = self._onset or _Utterance(begin, begin, begin, 0)
            self._onset.voice(begin, now, self._background.level)
        elif self._onset and now - self._onset.last_voice >= _GAP:
            self._onset = None
        self._tape.drop_before((self._onset.start if self._onset else now) - self._pre_roll)
        if self._onset is None or self._onset.voiced < self._min_speech:
            return ()
        self._open, self._onset = self._onset, None
        self._open.sound_at = self._tape.begin
        return (self._started(self._open),)

    def _hear_voice(self, open_: _Utterance, begin: int) -> tuple[SpeechEvent, ...]:
        now = self._tape.end
        dip = begin - open_.last_voice
        length = begin - open_.sound_at
        if length >= self._limit or (dip >= _DIP and length >= _SOFT_LIMIT * self._limit):
            return self._cut(open_, open_.last_voice + dip // 2, begin)
        resumed = (SpeechResumed(begin),) if open_.hushed_to is not None else ()
        open_.hushed_to, open_.paused = None, False
        open_.voice(begin, now, self._background.level)
        return resumed

    def _hear_silence(self, open_: _Utterance, begin: int, end_silence: int) -> tuple[SpeechEvent, ...]:
        now = self._tape.end
        stirs = open_.stirs(begin, now, self._background.level)
        silence = now - open_.end
        told = self._silent(open_, silence)
        over = silence >= end_silence + (_STIR if stirs else 0)
        if over and open_.paused and open_.hushed_to is not None:
            return (*told, *self._end(open_, open_.hushed_to))
        if now - open_.sound_at >= self._limit:
            return (*told, *self._end(open_, max(open_.end, open_.sound_at + self._limit)))
        return told

    def _silent(self, open_: _Utterance, silence: int) -> tuple[SpeechEvent, ...]:
        told: list[SpeechEvent] = []
        if silence >= self._hush and open_.hushed_to is None:
            open_.hushed_to = self._tape.end
            told.append(SpeechHushed(open_.end, self._tape.between(open_.sound_at, self._tape.end)))
        if silence >= self._pause and not open_.paused:
            open_.paused = True
            told.append(SpeechPaused(open_.end, self._tape.between(open_.sound_at, self._tape.end)))
        return tuple(told)

    def _end(self, open_: _Utterance, sound_to: int) -> tuple[SpeechEvent, ...]:
        ended = self._ended(open_, sound_to)
        self._open = None
        self._tape.drop_before(max(sound_to, self._tape.end - self._pre_roll))
        return (ended,)

    def _cut(self, open_: _Utterance, cut: int, resumes: int) -> tuple[SpeechEvent, ...]:
        """Ends the part at `cut` and opens the next, whose voice began at `resumes`."""
        ended = self._ended(open_, cut, continues=True)
        now = self._tape.end
        self._open = _Utterance(resumes, cut, now, 0)
        self._open.voice(resumes, now, self._background.level)
        self._tape.drop_before(cut)
        return ended, self._started(self._open)

    def _started(self, open_: _Utterance) -> SpeechStarted:
        return SpeechStarted(open_.start, self._tape.between(open_.sound_at, self._tape.end))

    def _ended(self, open_: _Utterance, sound_to: int, *, continues: bool = False) -> SpeechEnded:
        return SpeechEnded(
            open_.start,
            open_.end,
            open_.sound_at,
            self._tape.between(open_.sound_at, sound_to),
            min(1.0, open_.voiced / max(1, open_.end - open_.start)),
            continues,
        )


class _Tape:
    """The last stretch of sound, addressed by position."""

    def __init__(self) -> None:
        self.begin = 0
        self.end = 0
        self._frames: deque[Samples] = deque()

    def append(self, samples: Samples) -> None:
        self._frames.append(samples)
        self.end += len(samples)

    def drop_before(self, position: int) -> None:
        """Forgets what is older than `position`, to the sample."""
        while self._frames and self.begin < position:
            first = self._frames.popleft()
            dropped = min(len(first), position - self.begin)
            if dropped < len(first):
                self._frames.appendleft(first[dropped:])
            self.begin += dropped

    def between(self, start: int, end: int) -> Samples:
        """The samples from `start` to `end`, both on the tape, as an array of its own."""
        joined: Samples = np.concatenate(self._frames) if self._frames else np.zeros(0, dtype=np.int16)
        return joined[start - self.begin : end - self.begin].copy()
