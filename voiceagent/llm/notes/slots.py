"""What an answer may not get wrong: days of the week, months, named days (`Good Friday`), numbered things (`bus 15`)."""

import re
from dataclasses import dataclass

from voiceagent.llm.notes.words import is_empty, ordinal, stem, tokens

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SETS = {
    "weekend": {5, 6},
    "weekends": {5, 6},
    "weekday": {0, 1, 2, 3, 4},
    "weekdays": {0, 1, 2, 3, 4},
    "daily": set(range(7)),
}
_BEFORE_VERBS_TEXT = "i you we they he she it can could will would to may must should who that which"
_BEFORE_VERBS = frozenset(_BEFORE_VERBS_TEXT.split())
_UNIT = re.compile(
    r"(dollar|cent|euro|pound|minute|hour|day|week|month|year|percent|mile|page|item|people|person|am|pm|a|p|clock)s?"
)
_RANGE_WORDS = {"to", "through", "till", "until", "thru"}
_MONTHS_TEXT = "january february march april may june july august september october november december"
_MONTHS = tuple(_MONTHS_TEXT.split())
_FEAST = re.compile(
    r"\b((?:good|holy|ash|shrove|easter|whit|palm|boxing|christmas|new year'?s?|labou?r|may|memorial|independence|thanksgiving|"
    r"columbus|veterans'?|presidents'?|valentine'?s?|mother'?s|father'?s|st\.? patrick'?s|all saints'?|ascension|bank|public)"
    r" (?:day|eve|monday|tuesday|wednesday|thursday|friday|saturday|sunday|holidays?)|christmas|easter|thanksgiving|halloween|"
    r"new year|pentecost|whitsun|juneteenth|hanukkah|ramadan|(?<=\bon )holidays)\b"
)
_BEFORE_MONTHS = frozenset(("in", "of", "from", "to", "until", "since"))
HOLIDAY = "holiday"
_PUBLIC_TEXT = "good friday,easter monday,christmas,new year,labor,boxing,thanksgiving,independence,memorial,whit monday"
_PUBLIC = frozenset((*_PUBLIC_TEXT.split(","), HOLIDAY))


@dataclass(frozen=True, slots=True)
class Slots:
    """What a text names.

    `days` are 0 (Monday) to 6, `months` 0 (January) to 11, ranges filled; `labels` pairs a stem with its number, such as
    (`room`, `2`); `feasts` are named days such as `good friday`, and `holiday` when all of them are meant.
    """

    days: frozenset[int]
    labels: frozenset[tuple[str, str]]
    months: frozenset[int] = frozenset()
    feasts: frozenset[str] = frozenset()

    def allows(self, fact: "Slots") -> bool:
        """Whether a fact may answer: it names what is asked for, or nothing of the kind; a named day must be named by it too."""
        if self.days and fact.days and not self.days & fact.days:
            return False
        if self.months and fact.months and not self.months & fact.months:
            return False
        if self.feasts and not self.feasts & fact.feasts and not (HOLIDAY in fact.feasts and self.feasts & _PUBLIC):
            return False
        for noun, number in self.labels:
            numbers = {value for name, value in fact.labels if name == noun}
            if numbers and number not in numbers:
                return False
        return True


def find(text: str) -> Slots:
    """The slots of a question or a fact."""
    lowered = text.lower().replace("\u2019", "'")
    feasts = {_feast(match) for match in _FEAST.findall(lowered)}
    words = tokens(_FEAST.sub(" ", lowered))
    return Slots(frozenset(_days(words)), frozenset(_labels(words)), frozenset(_months(words)), frozenset(feasts))


def without_days(text: str) -> str:
    """The text less its days, so that a follow-up can put another in."""
    return re.sub(r"\b(on|at the|this|next)?\s*\b(" + "|".join(_DAYS) + r"|weekend|weekday)s?\b", "", text, flags=re.IGNORECASE)


def is_slot(word: str) -> bool:
    """Whether a word names a day or a month."""
    return _day(word) is not None or word in _SETS or word in _MONTHS


def _day(word: str) -> int | None:
    return _DAYS.index(word.removesuffix("s")) if word.removesuffix("s") in _DAYS else None


def _days(words: list[str]) -> set[int]:
    found: set[int] = set()
    for place, word in enumerate(words):
        found |= _SETS.get(word, set())
        if word == "every" and words[place + 1 : place + 2] == ["day"]:
            found |= set(range(7))
        day = _day(word)
        if day is None:
            continue
        found.add(day)
        last = _day(words[place + 2]) if place + 2 < len(words) and words[place + 1] in _RANGE_WORDS else None
        if last is not None:
            found |= {(day + step) % 7 for step in range((last - day) % 7 + 1)}
    return found


def _months(words: list[str]) -> set[int]:
    found: set[int] = set()
    places = [(place, _MONTHS.index(word)) for place, word in enumerate(words) if word in _MONTHS and not _is_verb(words, place)]
    for (place, month), (after, last) in zip(places, places[1:] + places[-1:], strict=True):
        found.add(month)
        if after > place and _RANGE_WORDS & set(words[place + 1 : after]):
            found |= {(month + step) % 12 for step in range((last - month) % 12 + 1)}
    return found


def _is_verb(words: list[str], place: int) -> bool:
    """`may` and `march` are months only after a preposition."""
    return words[place] in ("may", "march") and (
        place == 0 or words[place - 1] not in ("in", "of", "from", "to", "until", "since", "and")
    )


def _feast(match: str) -> str:
    if match.endswith(("holiday", "holidays")):
        return HOLIDAY
    return re.sub(r"'s?|(?<=year)s\b", "", match).removesuffix(" day").replace("labour", "labor")


def _labels(words: list[str]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        after = words[place + 1] if place + 1 < len(words) else ""
        place_number = ordinal(word)
        earlier = words[place - 2] if place > 1 else ""
        if word.isdigit() and _names(before) and earlier not in _BEFORE_VERBS and not _UNIT.fullmatch(after):
            found.add((stem(before), word))
        elif place_number is not None and _names(after):
            found.add((stem(after), place_number))
    return found


def _names(word: str) -> bool:
    return bool(word) and not is_empty(word) and not is_slot(word)
