"""What an adapter offers the driver, and the brain that every system is given."""

import difflib
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmarks.peers.line import Line


@dataclass(frozen=True, slots=True)
class Models:
    """The weights that everybody uses: Whisper's CTranslate2 folder, Piper's .onnx file with its .json beside it."""

    whisper: Path
    piper: Path


@dataclass(slots=True)
class Brain:
    """An instant language model: says `text`, or what `known` has for the nearest question when `text` is empty.

    `asked` keeps every question in order, also those whose answer was never spoken.
    """

    text: str = ""
    known: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, said: str) -> str:
        """The answer to what was said."""
        self.asked.append(said)
        if self.text or not self.known:
            return self.text
        words = said.lower().split()
        return max(self.known.items(), key=lambda pair: difflib.SequenceMatcher(None, words, pair[0].lower().split()).ratio())[1]


class Talk(Protocol):
    """One call that runs."""

    def said(self) -> list[str]:
        """Every answer so far as the system holds it to have been heard by the person, oldest first."""
        ...


class System(Protocol):
    """A system that is loaded. An adapter module has `SETTINGS`, the names it knows, and `loaded(models, brain, setting)`,
    which gives one of these for as long as it is entered."""

    def call(self, line: Line) -> AbstractAsyncContextManager[Talk]:
        """Runs a call on this line while entered; it listens when that returns."""
        ...
