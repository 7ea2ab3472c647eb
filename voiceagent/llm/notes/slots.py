"""What an answer may not get wrong: days, numbered things (`bus 15`), and the kind of answer that is wanted."""

import re
from dataclasses import dataclass
from enum import Enum

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


class Wants(Enum):
    """The kind of answer that a question's shape asks for."""

    ANYTHING = "anything"
    MONEY = "money"
    MOMENT = "moment"
    DURATION = "duration"
    COUNT = "count"
    AGE = "age"
    PLACE = "place"


_ASKS = (
    (Wants.AGE, re.compile(r"\bhow old\b|\bwhen (was|were) .*\b(built|founded|opened|started|made)\b")),
    (Wants.DURATION, re.compile(r"\bhow (long|soon|quickly|fast)\b|\bhow (much|many) (time|hours|days|weeks|months|minutes)\b")),
    (Wants.MONEY, re.compile(r"\bhow much\b|\b(costs?|prices?|fees?|expensive)\b|\byou charge\b")),
    (Wants.COUNT, re.compile(r"\bhow many\b")),
    (
        Wants.MOMENT,
        re.compile(
            r"(^|[,.?!] |\b(and|know|me|wonder) )when\b|\b(what|which) (time|day|days|hours)\b|"
            r"\bwhat are (your|the) (opening )?hours\b"
        ),
    ),
    (Wants.PLACE, re.compile(r"\bwhere\b|\baddress\b|\blocated\b|\blocation\b|\bfind you\b")),
)
_NUMBER = r"(\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred)"
_GIVES = {
    Wants.MONEY: re.compile(r"\b(dollars?|cents?|euros?|pounds?|pence|free|charge|pays?|costs?)\b|[$\u20ac\u00a3%]|percent"),
    Wants.MOMENT: re.compile(
        r"(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(every|any) day\b|morning|afternoon|evening|noon|midnight|o'clock|"
        r"\b(at|from|until|till|by|past|to|before|after) "
        + _NUMBER
        + r"\b|\b[ap]\.?m\b|\b(week|month|any hour|summer|winter|spring|autumn)"
    ),
    Wants.DURATION: re.compile(r"minutes?|hours?|days?|weeks?|months?|years?|\bwait\b"),
    Wants.COUNT: re.compile(
        r"\b"
        + _NUMBER
        + r"\b(?! (in|at|until|till|to|o'clock|and|dollars?|cents?|minutes?|hours?|days?|weeks?|months?)\b)|\b(no|none)\b"
    ),
    Wants.AGE: re.compile(r"\b(years?|since|1[5-9]\d\d|20\d\d|old|founded|built)\b"),
    Wants.PLACE: re.compile(
        r"\b(street|lane|road|avenue|square|floor|behind|beside|next to|across|opposite|under|near|in front|outside|inside|"
        r"upstairs|downstairs|left|right|corner|room|lobby|hall|desk|counter|entrance|building)\b|\bat \d"
    ),
}


@dataclass(frozen=True, slots=True)
class Slots:
    """`days` are 0 (Monday) to 6; `labels` pairs a stem with its number, such as (`room`, `2`)."""

    days: frozenset[int]
    labels: frozenset[tuple[str, str]]

    def allows(self, fact: "Slots") -> bool:
        """Whether a fact may answer: it names one of the asked days or none, and no other number of an asked label."""
        if self.days and fact.days and not self.days & fact.days:
            return False
        for noun, number in self.labels:
            numbers = {value for name, value in fact.labels if name == noun}
            if numbers and number not in numbers:
                return False
        return True


def find(text: str) -> Slots:
    """The slots of a question or a fact."""
    words = tokens(text)
    return Slots(frozenset(_days(words)), frozenset(_labels(words)))


def wants(question: str) -> Wants:
    """What kind of answer the question's shape asks for."""
    lowered = question.lower()
    return next((kind for kind, shape in _ASKS if shape.search(lowered)), Wants.ANYTHING)


def gives(text: str, kind: Wants) -> bool:
    """Whether a fact holds an answer of that kind at all."""
    shape = _GIVES.get(kind)
    return shape is None or shape.search(text.lower()) is not None


def bonus(asked: Slots, fact: Slots, text: str, kind: Wants) -> float:
    """What a fact gains for naming the very day, or some place when a place is asked for."""
    day = 0.20 if asked.days & fact.days else 0.0
    return day + (0.08 if kind is Wants.PLACE and gives(text, kind) else 0.0)


def without_days(text: str) -> str:
    """The text less its days, so that a follow-up can put another in."""
    return re.sub(r"\b(on|at the|this|next)?\s*\b(" + "|".join(_DAYS) + r"|weekend|weekday)s?\b", "", text, flags=re.IGNORECASE)


def is_slot(word: str) -> bool:
    """Whether a word names a day."""
    return _day(word) is not None or word in _SETS


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
