"""What is told of questions beside the rooms' feeds: one piece for every change, whichever room it is about, open or not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from voiceagent.room.questions.question import Question
from voiceagent.values import JSON

What = Literal["opened", "spoken", "proposed", "ended"]


@dataclass(frozen=True, slots=True)
class QuestionNews:
    """One change: the question as it stands behind it, and the data that the room's feed tells of it."""

    what: What
    question: Question
    data: Mapping[str, JSON]
    at: datetime


class QuestionWatchers:
    """Whoever is told. They are called in order, behind the store's commit, and may not wait."""

    def __init__(self) -> None:
        self._takers: dict[int, Callable[[QuestionNews], None]] = {}
        self._next = 0

    def watch(self, take: Callable[[QuestionNews], None]) -> Callable[[], None]:
        """Has `take` called with every piece from now on; returns what ends that."""
        number = self._next = self._next + 1
        self._takers[number] = take
        return lambda: self._forget(number)

    def tell(self, news: QuestionNews) -> None:
        """Tells everybody."""
        for take in tuple(self._takers.values()):
            take(news)

    def _forget(self, number: int) -> None:
        self._takers.pop(number, None)
