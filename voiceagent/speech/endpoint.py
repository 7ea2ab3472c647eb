"""How long a silence must last before it ends an utterance: what is known of it in, milliseconds out; no clock, no model."""

from dataclasses import dataclass
from typing import Final, Protocol

from voiceagent.audio.frame import Samples
from voiceagent.speech.cues import Cue, cue, dictates, ends, ends_in_digits, is_short
from voiceagent.speech.settings import HearingSettings, Patience


class EndJudge(Protocol):
    """Tells by the sound whether a speaker who has paused is done."""

    async def finished(self, sound: Samples) -> float:
        """Probability (0..1); `sound` (16 kHz mono int16) ends 200 ms into the pause. Must not block. Raises SpeechError."""
        ...


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the agent's last words make likely: that they asked something, and that digits are the answer."""

    question: bool = False
    digits: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """What is known of a silence after `voiced_ms` of voice: whether it sounds finished (0..1; None: nobody tells, or not yet,
    while somebody is `judging`), and its words (None: not yet)."""

    voiced_ms: int
    finished: float | None = None
    words: str | None = None
    language: str = "en"
    judging: bool = False


@dataclass(frozen=True, slots=True)
class _Waits:
    """Milliseconds of silence from the last voice, by what is known: it sounds and reads finished; it sounds so by and large; it
    is too short to be judged by sound; it sounds unfinished; its words want more; digits may follow.
    `unknown`: how many times the settings' silence, where nothing is known."""

    finished: int
    likely: int
    short: int
    unfinished: int
    open: int
    digits: int
    unknown: float


_WAITS: Final[dict[Patience, _Waits]] = {
    "eager": _Waits(finished=260, likely=400, short=400, unfinished=700, open=900, digits=1200, unknown=0.8),
    "normal": _Waits(finished=300, likely=600, short=500, unfinished=800, open=1300, digits=1800, unknown=1.0),
    "patient": _Waits(finished=500, likely=900, short=700, unfinished=1400, open=2000, digits=2500, unknown=1.6),
}
_FINISHED: Final = 0.9
_LIKELY: Final = 0.5
_SHORT_MS: Final = 900
_NAME_WORDS: Final = 2
_THINKING: Final = 1.5


def wait_ms(silence: Silence, expecting: Expectation, settings: HearingSettings) -> int:
    """The silence, counted from the last voice, that ends the utterance as things stand now; between the settings' bounds.

    Measured by benchmarks/endpoint.py. Whether it sounds finished weighs most; words that want more outweigh it, and what people
    say alone ("hello", a name), which networks take for a beginning, is not made to wait for it. Who was asked something may
    think before going on. While there are no words nothing is ended, since no turn can be made without them: they then come late
    for the turn, and whoever goes on meanwhile has not been cut off.
    """
    wait = _wait(silence, expecting, settings)
    return min(max(wait, settings.min_wait_ms, settings.pause_ms), settings.max_wait_ms)


def _wait(silence: Silence, expecting: Expectation, settings: HearingSettings) -> int:
    waits, sound = _WAITS[settings.patience], silence.finished
    if silence.words is None:
        return settings.max_wait_ms
    if _dictates(silence.words, silence.language, expecting):
        return waits.digits
    said = cue(silence.words, silence.language)
    if said == "open":
        return waits.open
    if sound is None:
        return waits.unfinished if silence.judging else round(settings.end_silence_ms * waits.unknown)
    if sound >= _FINISHED and (said == "whole" or ends(silence.words)):
        return waits.finished
    wait = _doubted(silence, said, sound, waits)
    return round(wait * _THINKING) if expecting.question and not is_short(silence.words, silence.language) else wait


def _doubted(silence: Silence, said: Cue, sound: float, waits: _Waits) -> int:
    """Of what does not surely sound finished."""
    words = silence.words or ""
    name = silence.voiced_ms < _SHORT_MS and len(words.split()) <= _NAME_WORDS and sound >= _LIKELY
    if name or is_short(words, silence.language):
        return waits.short
    asked = said == "whole" and words.rstrip().endswith("?")
    return waits.likely if asked or sound >= _LIKELY else waits.unfinished


def _dictates(words: str, language: str, expecting: Expectation) -> bool:
    """Whether more digits may follow those that were said."""
    return dictates(words, language) or (expecting.digits and ends_in_digits(words, language))
