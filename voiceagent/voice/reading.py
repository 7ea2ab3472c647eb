"""One sentence as it is read out: its written words, the spoken words each becomes, and where those lie in the sound."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.audio.frame import to_samples
from voiceagent.speech.engines import Word
from voiceagent.speech.owners import letters_of, owners

_TOKEN: Final = re.compile(r"\S+")

_ASTRAY: Final = 24
"""Letters that may lie between where a timed word is looked for and where it is found."""


@dataclass(slots=True)
class _Spoken:
    """A spoken word: the written word it belongs to, its letters' end in what is spoken, its sound once that is known."""

    written: int
    first_char: int
    end_char: int
    start: int | None = None
    end: int | None = None


class Reading:
    """Positions in samples are from the sentence's own first one; `length` is the whole sentence's, or the best guess at it.

    Where the voice tells word times, a written word is over with the last spoken word it became; otherwise letters are taken
    as equally long.
    """

    def __init__(self, text: str, aloud: str, spell: Callable[[str], str] = str) -> None:
        """`text` was handed to speech, `aloud` is what the voice is given for it, `spell` the way from one to the other."""
        tokens = list(_TOKEN.finditer(text))
        said = list(_TOKEN.finditer(aloud))
        belongs = owners([t.group() for t in tokens], [s.group() for s in said], spell) if tokens else []
        self.timed = False
        self._chars = max(1, len(aloud))
        self._ends = [token.end() for token in tokens]
        self._words = [_Spoken(at, word.start(), word.end()) for at, word in zip(belongs, said, strict=False)]
        self._letters = "".join(letters_of(word.group()) for word in said)
        self._at = [at for at, word in enumerate(said) for _ in letters_of(word.group())]
        self._read = 0

    def place(self, words: Sequence[Word]) -> None:
        """Takes the times of the words that come next; one that is not in what is spoken is passed over."""
        for word in words:
            letters = letters_of(word.text)
            found = self._find(letters) if letters else None
            if found is None:
                continue
            self._read = found + len(letters)
            for at in range(self._at[found], self._at[self._read - 1] + 1):
                self._set(self._words[at], to_samples(word.start_ms), to_samples(word.end_ms))

    def over(self, samples: int, length: int) -> int:
        """How many characters of the text are over: it ends with the last word that has been heard whole."""
        for number, word in enumerate(self._words):
            if self._end(number, length) > samples:
                return self._ends[word.written - 1] if number and word.written else 0
        return self._ends[-1] if self._words else 0

    def start_of(self, samples: int, length: int) -> int:
        """Where the spoken word that sounds at this position began; the position itself between two words."""
        for word in self._words:
            start, end = self._span(word, length)
            if start <= samples < end:
                return start
        return samples

    def _find(self, letters: str) -> int | None:
        """Where these letters come next: at once, or at the beginning of a word that is not far."""
        far = min(self._read + _ASTRAY, len(self._at) - 1)
        begins = (at for at in range(max(1, self._read), far + 1) if self._at[at] != self._at[at - 1])
        return next((at for at in (self._read, *begins) if self._letters.startswith(letters, at)), None)

    def _set(self, word: _Spoken, start: int, end: int) -> None:
        """A word in two pieces reaches from the first one's start to the last one's end."""
        self.timed = True
        word.start = start if word.start is None else min(word.start, start)
        word.end = end if word.end is None else max(word.end, end)

    def _end(self, number: int, length: int) -> int:
        """Where a spoken word ends; without a time of its own, with the next that has one."""
        if not self.timed:
            return -(-self._words[number].end_char * length // self._chars)
        return next((word.end for word in self._words[number:] if word.end is not None), length)

    def _span(self, word: _Spoken, length: int) -> tuple[int, int]:
        if not self.timed:
            return word.first_char * length // self._chars, word.end_char * length // self._chars
        return (word.start, word.end) if word.start is not None and word.end is not None else (0, 0)
