"""What a reply says, sentence by sentence, and where each lies in its words and in its sound."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.speech.engines import Word
from voiceagent.voice.reading import Reading

SAMPLES_A_LETTER: Final = 1_100
"""16 kHz samples that a letter takes while a sentence's real length is not known: 14.5 letters a second."""


@dataclass(slots=True)
class _Line:
    """One sentence: its place in the reply's own text and in the sound, and how its words are read out.

    `own` reads `sentence`, the reply's words; `handed` reads `text`, what was handed to speech: a hook may have changed it.
    """

    sentence: str
    text: str
    first_char: int
    end_char: int
    start: int
    end: int
    own: Reading
    handed: Reading
    whole: bool = False

    @property
    def length(self) -> int:
        """Of its sound; the best guess while not all of it is there."""
        length = self.end - self.start
        return length if self.whole else max(length, (self.end_char - self.first_char) * SAMPLES_A_LETTER)

    def over(self, played: int) -> bool:
        """Whether all of it was heard."""
        return self.whole and played >= self.end

    def heard(self, played: int) -> str:
        """The words of `text` that are over after `played` samples of the reply."""
        return self.text if self.over(played) else self.text[: self.handed.over(played - self.start, self.length)]

    def spoken(self, played: int, source: str) -> int:
        """Position in the reply's text after `played` samples of the reply; within a word where that is estimated."""
        if self.over(played):
            return self.end_char
        if self.own.timed:
            return past(source, self.first_char, self.sentence[: self.own.over(played - self.start, self.length)])
        share = min(1.0, max(0, played - self.start) / max(1, self.length))
        return self.first_char + int(share * (self.end_char - self.first_char))

    def word_start(self, played: int) -> int:
        """Where the word that sounds after `played` samples of the reply began."""
        return self.start + self.handed.start_of(played - self.start, self.length)


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
        return " ".join(line.text for line in self._lines if line.text)

    def read(self, piece: str) -> None:
        """Adds words that the agent wrote."""
        self._source += piece

    def skip(self, sentence: str) -> None:
        """A sentence of the source that will not be said."""
        self._read = past(self._source, self._read, sentence)

    def begin(self, sentence: str, text: str, aloud: str | None = None, spell: Callable[[str], str] = str) -> None:
        """`text` goes to speech now, in place of `sentence`, which is the next one of the source.

        `aloud` is what the voice is given for it: `text` with its numbers and marks made words, `spell` the way there.
        """
        first, self._read = self._read, past(self._source, self._read, sentence)
        aloud = text if aloud is None else aloud
        handed = Reading(text, aloud, spell)
        own = handed if sentence == text else Reading(sentence, aloud, spell)
        self._lines.append(_Line(sentence, text, first, self._read, self.samples, self.samples, own, handed))

    def time(self, words: Sequence[Word]) -> None:
        """The voice tells where the next words of the sentence that began last lie, in ms from its first sample."""
        line = self._lines[-1]
        line.handed.place(words)
        if line.own is not line.handed:
            line.own.place(words)

    def sounded(self, samples: int) -> None:
        """The sentence that began last has this much more sound."""
        self.samples += samples
        self._lines[-1].end = self.samples

    def end_sentence(self) -> None:
        """The sentence that began last has all its sound."""
        self._lines[-1].whole = True

    def fail_sentence(self) -> None:
        """The sentence that began last gets no more sound; only the words that got theirs were said."""
        line = self._lines[-1]
        if line.end == line.start:
            self._lines.pop()
        else:
            line.text = line.heard(line.end)
            self.end_sentence()

    def finish(self) -> None:
        """No more sound will come; its length is known."""
        self.complete = True

    def spoken_chars(self, played: int) -> int:
        """How many characters of the reply's own words have been heard after `played` samples."""
        begun = self._begun(played)
        return begun[-1].spoken(played, self._source) if begun else 0

    def heard_text(self, played: int) -> str:
        """The words handed to speech that were heard whole after `played` samples."""
        heard = [line.heard(played) for line in self._begun(played)]
        return " ".join(words for words in heard if words)

    def word_start(self, played: int) -> int:
        """Where the word that sounds after `played` samples began, never later: `played` itself between words."""
        begun = self._begun(played)
        return begun[-1].word_start(played) if begun and not begun[-1].over(played) else played

    def places(self, played: int) -> tuple[tuple[int, int], ...]:
        """Where the sentences that are over after `played` samples end: in the reply's own words, and in its sound."""
        return tuple((line.end_char, line.end) for line in self._lines if line.over(played))

    def exact(self, played: int) -> bool:
        """Whether what was heard is known: `played` falls between sentences, or into one whose words have their times."""
        return all(line.handed.timed or line.over(played) for line in self._begun(played))

    def _begun(self, played: int) -> list[_Line]:
        """The sentences of which something was heard."""
        return [line for line in self._lines if line.start < played]


def past(source: str, start: int, words: str) -> int:
    """Where `words`, which stand in `source` from `start` on, end in it, whatever became of the spaces in them."""
    letters = sum(not char.isspace() for char in words)
    at = start
    while at < len(source) and letters > 0:
        letters -= not source[at].isspace()
        at += 1
    return at
