"""What a sentence claims in numbers, times and days, and whether a fact says otherwise. Pure."""

import re
from dataclasses import dataclass

from voiceagent.llm.notes import slots
from voiceagent.llm.notes.words import stem, tokens

_TIMES = {"from": "from", "until": "until", "till": "until", "to": "until", "by": "by", "since": "since"}
_EDGES = {"open": "from", "opens": "from", "begin": "from", "begins": "from", "start": "from", "starts": "from",
          "close": "until", "closes": "until", "end": "until", "ends": "until"}  # fmt: skip
_MONEY = re.compile(r"[$\u20ac\u00a3]\s?(\d+)")
_COINS = {"$": "dollar", "\u20ac": "euro", "\u00a3": "pound"}
_NOT = re.compile(r"(?:\b(?:not|never|no longer)|n't)\s+(?:\w+\s+)?(?:open|closed|shut)\b", re.IGNORECASE)
_PAYS = {"dollar", "cent", "euro", "pound"}
_HEDGES = {"about", "around", "almost", "only", "just", "like", "the", "a", "an", "up"}


@dataclass(frozen=True, slots=True)
class Claims:
    """`values` maps a unit, or the edge of a span of time, to its numbers; `opened`: open or closed, where one is said."""

    values: dict[str, frozenset[int]]
    days: frozenset[int]
    opened: bool | None
    free: bool

    @property
    def any(self) -> bool:
        """Whether there is anything that a fact could contradict."""
        return bool(self.values) or self.free or (self.opened is not None and bool(self.days))


def claims(text: str) -> Claims:
    """What a sentence claims."""
    words = [word for word in tokens(text) if word not in _HEDGES]
    values: dict[str, set[int]] = {}
    for sign, amount in ((found[0][0], found[1]) for found in _MONEY.finditer(text)):
        values.setdefault(_COINS[sign], set()).add(int(amount))
    for place, word in enumerate(words):
        if word.isdigit() and (of := _of(words, place)) is not None:
            values.setdefault(of, set()).add(int(word[:9]))
    opened = _opened(text, words)
    return Claims({of: frozenset(numbers) for of, numbers in values.items()}, slots.find(text).days, opened, "free" in words)


def contradicts(said: Claims, fact: Claims) -> bool:
    """Whether a fact about the same thing says otherwise: another number of the same kind, another price, open for closed."""
    if said.days and fact.days and not said.days & fact.days:
        return False
    if any(said.values[of].isdisjoint(fact.values[of]) for of in said.values.keys() & fact.values.keys()):
        return True
    if said.free and not fact.free and _PAYS & fact.values.keys():
        return True
    if fact.free and not said.free and _PAYS & said.values.keys() and not _PAYS & fact.values.keys():
        return True
    return None not in (said.opened, fact.opened) and said.opened != fact.opened and bool(said.days & fact.days)


def agrees(said: Claims, fact: Claims) -> bool:
    """Whether somebody has said one of the fact's own numbers, and none that it contradicts."""
    shared = said.values.keys() & fact.values.keys()
    return not contradicts(said, fact) and any(said.values[of] & fact.values[of] for of in shared)


def _of(words: list[str], place: int) -> str | None:
    """What a number counts, or which edge of a span it is; None for a number that stands alone."""
    before = words[place - 1] if place else ""
    earlier = words[place - 2] if place > 1 else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if after in ("o'clock", "oclock", "am", "pm", "in", "on", "every", "") or after in _TIMES or slots.is_slot(after):
        if before == "at":
            return _EDGES.get(earlier)
        return _TIMES.get(before)
    return stem(after) if after.isalpha() else None


def _opened(text: str, words: list[str]) -> bool | None:
    """Whether it says open or closed; `opens at nine` says when, not whether."""
    said = [word for word in words if word in ("open", "closed", "shut")]
    if not said:
        return None
    return (said[0] == "open") is not bool(_NOT.search(text))
