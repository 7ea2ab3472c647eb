"""What the answer matcher is shown, and what it finds."""

from dataclasses import dataclass
from typing import Final

SURE: Final = 0.9
"""Confidence from which an answer is taken as it stands; below it is read back first."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """An open question as far as its answer may be found by words. `spoken_last`: it was the last thing said aloud."""

    question_id: str
    question: str
    options: tuple[str, ...] = ()
    spoken_last: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What somebody seems to have answered: one option, by its place, or words of their own. `confidence` is 0..1."""

    question_id: str
    option: int | None
    text: str | None
    confidence: float

    @property
    def sure(self) -> bool:
        """Whether it may be taken without asking again."""
        return self.confidence >= SURE
