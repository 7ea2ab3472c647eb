"""Whether a recognizer's words were said by anybody, or made up out of noise."""

import re
import zlib
from collections import Counter
from typing import Final

from voiceagent.speech.engines import Transcript

_NOBODY: Final = 0.8
_DOUBTFUL: Final = 0.4
_UNSURE: Final = -0.65
_GUESSED: Final = -1.3
_REPEATS: Final = 2.4
_MOSTLY_SILENT: Final = 0.2
_FASTEST_WORDS_A_SECOND: Final = 8.0
_SPARE_WORDS: Final = 3
_FEW_UNIQUE: Final = 0.4
_LOOP_WORDS: Final = 8
WORDLESS: Final = frozenset({"nobody spoke", "not understood"})
"""Why words are rejected that were made up of a sound: of a hum, a laugh, noise."""

_HUM_MS: Final = 1_000

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def reject(transcript: Transcript, voiced_ratio: float, duration_ms: int) -> str | None:
    """Why these words are no turn, or None when they are one.

    `voiced_ratio` (0..1) and `duration_ms` are the utterance's, from its voice's start to its end. Measured with tiny.en:
    speech has a no-speech probability of 0.01-0.52 (above 0.3 only with a confidence above -0.55) and a confidence of -0.28 to
    -0.93; crowds, horns, dogs, music and noise have 0.49-0.99 and -0.63 to -2.3, and are surer only when they repeat themselves.
    """
    words = _WORD.findall(transcript.text.lower())
    nobody, sureness = transcript.no_speech, transcript.confidence
    reasons = {
        "no words": not words,
        "nobody spoke": nobody >= _NOBODY or (nobody >= _DOUBTFUL and sureness < _UNSURE),
        "not understood": sureness < _GUESSED,
        "repeats itself": transcript.compression > _REPEATS or (loops(transcript.text) and nobody >= _DOUBTFUL / 2),
        "more words than fit": len(words) > _SPARE_WORDS + _FASTEST_WORDS_A_SECOND * duration_ms / 1000,
        "hardly any voice": voiced_ratio < _MOSTLY_SILENT,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def hums(why: str, voiced_ms: int) -> bool:
    """Whether speech that was rejected for `why` may have been a hum or a laugh: a voice, soon over, in which no word is found.

    Measured with tiny.en and base: "mm-hm" and laughter are an utterance of 280-520 ms, and "nobody spoke" or "not understood";
    coughs and slams are no utterance at all.
    """
    return why in WORDLESS and voiced_ms < _HUM_MS


def runs_away(transcript: Transcript, duration_ms: int) -> bool:
    """Whether words of `duration_ms` of unfinished speech are not to be shown: a sentence cut in mid-word is often said again."""
    words = _WORD.findall(transcript.text)
    too_many = len(words) > _SPARE_WORDS + _FASTEST_WORDS_A_SECOND * duration_ms / 1000
    return too_many or transcript.compression > _REPEATS or loops(transcript.text)


def compression(text: str) -> float:
    """How far zlib makes `text` smaller: 0.3-1.7 for speech, above 2.4 for text that repeats itself; 1.0 when empty."""
    encoded = text.encode()
    return len(encoded) / len(zlib.compress(encoded)) if encoded else 1.0


def loops(text: str) -> bool:
    """Whether `text` says three words in a row three times, or has fewer than two different words in five."""
    words = _WORD.findall(text.lower())
    trigrams = Counter(zip(words, words[1:], words[2:], strict=False))
    if trigrams and max(trigrams.values()) >= 3:
        return True
    return len(words) >= _LOOP_WORDS and len(set(words)) < _FEW_UNIQUE * len(words)
