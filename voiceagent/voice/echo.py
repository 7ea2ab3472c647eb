"""Whether words that a microphone picked up are the agent's own, by what has been playing."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.speech.speakable import speakable
from voiceagent.voice.murmurs import plain_words

LAG_MS: Final = 1_500
"""What begins later than this after the last sound is no echo of it; a short one needs its words played so lately."""

SLACK_MS: Final = 1_500
"""How far off the time of a played word may be: it may be estimated, and somebody who speaks last may be cut."""

COMING: Final = 5
"""Words that may have sounded already though they do not count as heard yet."""

SHORT: Final = 2
"""Words of a transcript so short that people often say the same of their own accord."""

RIGHT_A_SLIP: Final = 3
"""So many right words carry one that is wrong, missing or too many."""

_APART: Final = re.compile(r"[-/\u2013\u2014]")
_SHORTENED: Final = {"n't": " not", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am", "'s": " is", "'d": " would"}
_ENDING: Final = re.compile(r"(?<=\w)(?:n't|'re|'ll|'ve|'m|'s|'d)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stretch:
    """When something was said: first and last voice, ms on clock.now()."""

    from_ms: int
    to_ms: int


class EchoWords:
    """What sounds in one room, word by word. Pure; all times are those of one clock, in ms."""

    def __init__(self, language: str = "en") -> None:
        """`language` is the one that numbers and signs are read in."""
        self._language = language
        self._heard: deque[tuple[str, int]] = deque(maxlen=200)
        self._text, self._over = "", ""
        self._words: list[str] = []
        self._done = 0
        self._last_ms: int | None = None

    def playing(self, text: str, heard: str, now_ms: int) -> None:
        """Something of a reply sounds now: `text` of it was handed to speech, `heard`, a beginning of that, is over.

        To be told often (100 ms) while it sounds. A `heard` that is shorter than before: it comes again from there.
        """
        self._last_ms = now_ms
        if (text, heard) == (self._text, self._over):
            return
        if not text.startswith(self._text):
            self._text, self._over, self._words, self._done = "", "", [], 0
        self._words += self._plain(text[len(self._text) :])
        goes_on = heard.startswith(self._over)
        done = self._done + len(self._plain(heard[len(self._over) :])) if goes_on else len(self._plain(heard))
        done = min(done, len(self._words))
        for _ in range(min(len(self._heard), self._done - done)):
            self._heard.pop()
        self._heard.extend((word, now_ms) for word in self._words[self._done : done])
        self._text, self._over, self._done = text, heard, done

    def repeats(self, said: str, when: Stretch, *, final: bool = True) -> bool:
        """Whether what was said is nothing but words that were played then, in their order, one after the other.

        Three right words carry one slip, six two. Of unfinished words (not `final`) the last may be cut short, and is left out
        where two or more before it are right. Approximate matching against any part of what was played: P. Sellers, The theory
        and computation of evolutionary distances (1980).
        """
        words = self._plain(said)
        if not words or self._last_ms is None or when.from_ms > self._last_ms + LAG_MS:
            return False
        if not final and len(words) > SHORT and self._played(words[:-1], when, self._last_ms, final=True):
            return True
        return self._played(words, when, self._last_ms, final=final)

    def _played(self, words: list[str], when: Stretch, last_ms: int, *, final: bool) -> bool:
        still = last_ms >= when.to_ms - LAG_MS
        if len(words) <= SHORT:
            near = self._between(when.from_ms - LAG_MS, when.to_ms + LAG_MS, SHORT if still else 0)
            starts = range(len(near) - len(words) + 1)
            return any(_alike(words, near[at : at + len(words)], final=final) for at in starts)
        near = self._between(when.from_ms - LAG_MS - SLACK_MS, when.to_ms + SLACK_MS, COMING if still else 0)
        slips, right = _nearest(words, near, final=final)
        return right >= RIGHT_A_SLIP and slips <= right // RIGHT_A_SLIP

    def _between(self, from_ms: int, to_ms: int, coming: int) -> list[str]:
        played = [word for word, at in self._heard if from_ms <= at <= to_ms]
        return [*played, *self._words[self._done : self._done + coming]]

    def _plain(self, text: str) -> list[str]:
        """The words as they are said, numbers spelled and shortened ones written out."""
        said = _APART.sub(" ", speakable(text, self._language)).replace("\u2019", "'")
        return plain_words(_ENDING.sub(lambda found: _SHORTENED[found[0].casefold()], said))


def _alike(said: Sequence[str], played: Sequence[str], *, final: bool) -> bool:
    return all(_same(said, at, word, final=final) for at, word in enumerate(played))


def _same(said: Sequence[str], at: int, word: str, *, final: bool) -> bool:
    return said[at] == word or (not final and at == len(said) - 1 and word.startswith(said[at]))


def _nearest(said: Sequence[str], played: Sequence[str], *, final: bool) -> tuple[int, int]:
    """Slips and right words of `said` against that part of `played` which it resembles most."""
    row = [(0, 0)] * (len(played) + 1)  # slips, and right words as a negative number, so that the least is the best
    for at in range(len(said)):
        above, row = row, [(at + 1, 0)]
        for place, word in enumerate(played, 1):
            hit = _same(said, at, word, final=final)
            slips, right = above[place - 1]
            row.append(min((slips + (not hit), right - hit), _slip(above[place]), _slip(row[place - 1])))
    slips, right = min(row)
    return slips, -right


def _slip(cost: tuple[int, int]) -> tuple[int, int]:
    return cost[0] + 1, cost[1]
