"""Plain questions, answered by their own words: when the house is open, where it is, and what one fact alone speaks of. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.llm.notes import slots
from voiceagent.llm.notes.facts import Fact, Notes
from voiceagent.llm.notes.kinds import Wants, gives, wants
from voiceagent.llm.notes.slots import Slots
from voiceagent.llm.notes.words import content, stem

MOST: Final = 4
"""Facts that one answer may speak."""

_OPENING: Final = frozenset(stem(word) for word in ("open", "opens", "opening", "close", "closed", "closing", "shut"))
_WHERE_NAMES: Final = frozenset(stem(word) for word in ("find", "finding", "location", "directions", "address", "where"))
_STANDS: Final = re.compile(
    r"\b(is|are|lies|stands|located) (\w+ )?(at|in|on|behind|opposite|across|next to|near)\b.*"
    r"\b(street|lane|road|avenue|square|drive|way|village|town|station|office|church|market)\b",
    re.IGNORECASE,
)
_YES_OR_NO: Final = re.compile(r"(can|could|may) (i|we|you|one)\b|(is|are) there\b|(do|does) (you|one|it)\b", re.IGNORECASE)
_OPEN: Final = stem("open")
_PARTS_OF_DAYS: Final = frozenset(stem(word) for word in ["morning", "noon", "afternoon", "evening", "midnight", "night"])


@dataclass(frozen=True, slots=True)
class _Known:
    """What a fact speaks of, in stems: of its own words, and of its heading's."""

    own: frozenset[str]
    heading: frozenset[str]
    slots: Slots
    fact: Fact


class Plain:
    """Looks at words alone. What it finds is sure enough to be spoken without weighing meanings."""

    def __init__(self, notes: Notes) -> None:
        self._house = _stems(notes.title)
        self._known = [
            _Known(_stems(" ".join((fact.text, *fact.cues))), _stems(fact.heading), slots.find(fact.text), fact)
            for fact in notes.facts
        ]

    def house(self, question: str) -> list[int]:
        """Facts on when or where the house itself is; empty for a question about anything else."""
        asked, kind = _stems(question) - self._house, wants(question)
        if asked and asked <= _OPENING:
            return self._opening(slots.find(question))
        if not asked and kind is Wants.PLACE:
            return self._where()
        return []

    def covered(self, question: str) -> list[int]:
        """The few facts under one heading that hold every word of the question and the kind of answer it wants."""
        asked, kind, named = _stems(question) - self._house, wants(question), slots.find(question)
        if not asked or kind is Wants.COUNT or (kind is Wants.ANYTHING and _YES_OR_NO.match(question.strip()) is None):
            return []
        fits = [
            number
            for number, known in enumerate(self._known)
            if asked <= known.own and named.allows(known.slots) and gives(known.fact.text, kind)
        ]
        whole = [number for number in fits if self._told(asked, number, kind)]
        return whole if len(whole) < MOST and self._under_one(whole) else []

    def _told(self, asked: frozenset[str], number: int, kind: Wants) -> bool:
        """One word is enough where the answer's kind is known, or where the heading is about it; otherwise it takes two."""
        return kind is not Wants.ANYTHING or len(asked) > 1 or bool(asked & self._known[number].heading)

    def _opening(self, asked: Slots) -> list[int]:
        """The opening hours: under the heading that speaks of them most, those of the days asked for."""
        about = [
            number
            for number, known in enumerate(self._known)
            if known.own & _OPENING
            and known.own - _OPENING - _PARTS_OF_DAYS <= self._house
            and gives(known.fact.text, Wants.MOMENT)
        ]
        headings = [self._known[number].fact.heading for number in about]
        if not headings:
            return []
        main = max(dict.fromkeys(headings), key=headings.count)
        found = [n for n in about if self._known[n].fact.heading == main and asked.allows(self._known[n].slots)]
        if asked.days:
            found = [n for n in found if not self._known[n].slots.days or self._known[n].slots.days & asked.days]
        return found[:MOST] if any(_OPEN in self._known[n].own for n in found) or asked.days else []

    def _where(self) -> list[int]:
        """Where the house is: the places told under a heading about finding it, or else in facts about the house alone."""
        places = [number for number, known in enumerate(self._known) if gives(known.fact.text, Wants.PLACE)]
        told = [number for number in places if self._known[number].heading & _WHERE_NAMES]
        return (told or [number for number in places if _STANDS.search(self._known[number].fact.text)])[:2]

    def _under_one(self, numbers: Sequence[int]) -> bool:
        return len({self._known[number].fact.heading for number in numbers}) == 1


def _stems(text: str) -> frozenset[str]:
    """The stems of the words that carry meaning, days and months left out."""
    return frozenset(_meant(content(text)))


def _meant(words: Iterable[str]) -> Iterable[str]:
    return (stem(word) for word in words if not slots.is_slot(word))
