"""What a reply says, sentence by sentence, and where each lies in its words and in its sound."""

from dataclasses import dataclass
from typing import Final

SAMPLES_A_LETTER: Final = 1_100
"""16 kHz samples that a letter takes while a sentence's real length is not known: 14.5 letters a second."""


@dataclass(slots=True)
class _Line:
    """One sentence: the words handed to speech, its place in the reply's own text, its place in the sound."""

    text: str
    first_char: int
    end_char: int
    start: int
    end: int
    whole: bool = False

    def spoken(self, played: int) -> int:
        """Position in the reply's text after `played` samples of the reply, letters taken as equally long."""
        if self.whole and played >= self.end:
            return self.end_char
        return self.first_char + int(self._share(played) * (self.end_char - self.first_char))

    def heard(self, played: int) -> str:
        """The words of `text` that are over after `played` samples of the reply, letters taken as equally long."""
        if self.whole and played >= self.end:
            return self.text
        place = int(self._share(played) * len(self.text))
        return self.text[: place + 1].rpartition(" ")[0] if place < len(self.text) else self.text

    def _share(self, played: int) -> float:
        length = self.end - self.start
        if not self.whole:
            length = max(length, (self.end_char - self.first_char) * SAMPLES_A_LETTER)
        return min(1.0, max(0, played - self.start) / max(1, length))


class Script:
    """The account of a reply's words on their way to sound; positions are 16 kHz samples from the reply's first one."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._source = ""
        self._read = 0
        self.samples = 0
        self.complete = False

    @property
    def source(self) -> str:
        """The reply's own words, as far as they have been read."""
        return self._source

    @property
    def text(self) -> str:
        """The words handed to speech so far, sentences joined by spaces."""
        return " ".join(line.text for line in self._lines)

    def read(self, piece: str) -> None:
        """Adds words that the agent wrote."""
        self._source += piece

    def skip(self, sentence: str) -> None:
        """A sentence of the source that will not be said."""
        self._read = self._after(sentence)

    def begin(self, sentence: str, text: str) -> None:
        """`text` goes to speech now, in place of `sentence`, which is the next one of the source."""
        first = self._read
        self._read = self._after(sentence)
        self._lines.append(_Line(text, first, self._read, self.samples, self.samples))

    def sounded(self, samples: int) -> None:
        """The sentence that began last has this much more sound."""
        self.samples += samples
        self._lines[-1].end = self.samples

    def end_sentence(self) -> None:
        """The sentence that began last has all its sound."""
        self._lines[-1].whole = True

    def fail_sentence(self) -> None:
        """The sentence that began last gets no more sound; one that got none was never said."""
        if self._lines[-1].end == self._lines[-1].start:
            self._lines.pop()
        else:
            self.end_sentence()

    def finish(self) -> None:
        """No more sound will come; its length is known."""
        self.complete = True

    def spoken_chars(self, played: int) -> int:
        """How many characters of the reply's own words have been heard after `played` samples, by share of letters."""
        if played <= 0:
            return 0
        heard = 0
        for line in self._lines:
            if line.start >= played:
                break
            heard = line.spoken(played)
        return heard

    def heard_text(self, played: int) -> str:
        """The words handed to speech that were heard whole after `played` samples, by share of letters."""
        heard = [line.heard(played) for line in self._lines if line.start < played]
        return " ".join(words for words in heard if words)

    def places(self, played: int) -> tuple[tuple[int, int], ...]:
        """Where the sentences that are over after `played` samples end: in the reply's own words, and in its sound."""
        return tuple((line.end_char, line.end) for line in self._lines if line.whole and line.end <= played)

    def exact(self, played: int) -> bool:
        """Whether `played` falls between sentences, so that what was heard is known and not estimated."""
        return all(line.whole and line.end <= played for line in self._lines if line.start < played)

    def _after(self, sentence: str) -> int:
        """Where `sentence` ends in the source, whatever became of the spaces in it."""
        letters = sum(not char.isspace() for char in sentence)
        at = self._read
        while at < len(self._source) and letters > 0:
            letters -= not self._source[at].isspace()
            at += 1
        return at
