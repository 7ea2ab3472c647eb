"""One answer's words as a client is shown them: sentence by sentence, each with how much of it has been heard."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from voiceagent.speech.sentences import Sentences

NO_EARLY_END: Final = 1_000_000
LONGEST: Final = 1_000

Status = Literal["new", "in-progress", "completed"]


@dataclass(slots=True)
class Segment:
    """A sentence; `start` is its place in the answer's words, `heard` how many of its characters were."""

    id: int
    text: str
    start: int
    heard: int = 0

    @property
    def status(self) -> Status:
        """In RTVI's words."""
        return "completed" if self.heard >= len(self.text) else "in-progress" if self.heard else "new"


class Segments:
    """Cuts one answer, as its words come, and follows how far it is heard.

    `numbers` gives the segments' ids, one count for all answers of a client. Positions count in the answer's own words, in which
    a line break stands between two messages, as in what is handed to speech.
    """

    def __init__(self, numbers: Iterator[int]) -> None:
        self._numbers = numbers
        self._all: list[Segment] = []
        self._source = ""
        self._read = 0
        self._message = 0  # where the message that is being written begins in the source
        self._first = 0  # its first segment
        self._between = False
        self._sentences = _splitter()

    @property
    def all(self) -> tuple[Segment, ...]:
        """Every sentence so far."""
        return tuple(self._all)

    def write(self, piece: str) -> list[Segment]:
        """More words; returns the sentences that they complete."""
        if self._between:
            self._next_message()
        self._source += piece
        return [self._add(sentence) for sentence in self._sentences.feed(piece)]

    def end_message(self, text: str) -> list[Segment]:
        """A message is whole, and this is its text: returns the sentences that are new or shown otherwise (pieces were lost)."""
        if self._between:
            self._next_message()
        if self._source[self._message :].strip() == text.strip():
            changed = [self._add(sentence) for sentence in self._sentences.flush()]
        else:
            changed = self._again(text)
        self._between = True
        return changed

    def hear(self, spoken_chars: int) -> list[Segment]:
        """The answer has been heard up to a place in its words: returns the sentences of which more was heard, in order."""
        moved = []
        for segment in self._all:
            heard = min(len(segment.text), spoken_chars - segment.start)
            if heard > segment.heard:
                segment.heard = heard
                moved.append(segment)
        return moved

    def hear_all(self) -> list[Segment]:
        """All of it was heard."""
        return self.hear(len(self._source))

    def _next_message(self) -> None:
        self._between = False
        self._source += "\n" if self._source and not self._source.endswith("\n") else ""
        self._message = self._read = len(self._source)
        self._first = len(self._all)
        self._sentences = _splitter()

    def _again(self, text: str) -> list[Segment]:
        """Cuts the message anew; a sentence in the place of another keeps its id."""
        before = self._all[self._first :]
        del self._all[self._first :]
        self._source = self._source[: self._message] + text
        self._read = self._message
        sentences = _splitter()
        changed = []
        for number, sentence in enumerate([*sentences.feed(text), *sentences.flush()]):
            old = before[number] if number < len(before) else None
            segment = self._add(sentence, old)
            if old is None or old.text != sentence:
                changed.append(segment)
        return changed

    def _add(self, sentence: str, instead: Segment | None = None) -> Segment:
        start = max(self._source.find(sentence, self._read), self._read)
        self._read = start + len(sentence)
        segment = Segment(instead.id if instead is not None else next(self._numbers), sentence, start)
        self._all.append(segment)
        return segment


def _splitter() -> Sentences:
    return Sentences(NO_EARLY_END, LONGEST)
