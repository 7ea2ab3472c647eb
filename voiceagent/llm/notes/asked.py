"""What is asked in one utterance: its questions one by one, and what a follow-up takes from the turn before. Pure."""

import re
from dataclasses import dataclass

from voiceagent.llm.notes import slots
from voiceagent.llm.notes.words import content, is_question, tokens

MAX_QUESTIONS = 3
MAX_CHARACTERS = 1000

_OPENERS = r"(?:who|what|which|when|where|why|how|is|are|do|does|can|could|will|would|may|must|should)\b"
_AND = re.compile(rf"(?:,\s*|\s+)and\s+(?:also\s+)?(?={_OPENERS})", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[?!.])\s+")
_FOLLOWING = re.compile(r"^(and|but|or|what about|how about|also|then)\b[\s,]*", re.IGNORECASE)
_PREFIX = re.compile(r"^\[?[^\s:?.!,\[\]][^:?.!,\n\[\]]{0,39}\]?:\s+")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question, as the variants it may be looked up by: the first that the notes answer counts.

    `unlike` is the question before a follow-up that names another thing: what answers that does not answer this.
    """

    variants: tuple[str, ...]
    unlike: str | None = None


def asked(utterance: str, before: str | None) -> list[Asked]:
    """The questions of an utterance, at most three; `before` is what the same side asked in the turn before, if anything."""
    units = _units(utterance[:MAX_CHARACTERS])
    found: list[Asked] = []
    for number, unit in enumerate(units[:MAX_QUESTIONS]):
        earlier = _last_question(before) if number == 0 else units[number - 1][-1]
        variants = _followed(unit, earlier)
        found.append(Asked(tuple(variants), earlier if len(variants) > 1 and variants[0] != " ".join(unit) else None))
    return found


def without_name(text: str, name: str | None) -> str:
    """The text less a `Name: ` in front of it, which a room of several people puts there."""
    if name and text.startswith(f"{name}:"):
        return text[len(name) + 1 :].strip()
    return _PREFIX.sub("", text, count=1).strip()


def _units(utterance: str) -> list[list[str]]:
    """Each unit is a question, the last string, with what was told before it: `my wheel wobbles. What does it cost?`"""
    units: list[list[str]] = []
    told: list[str] = []
    for sentence in _SENTENCES.split(utterance.strip()):
        for part in _AND.split(sentence):
            bare = part.strip(" ,;")
            if not content(bare) and not tokens(bare):
                continue
            told.append(bare)
            if is_question(bare) or _FOLLOWING.match(bare):
                units.append(told)
                told = []
    if told:
        units.append(told)
    return units


def _followed(unit: list[str], earlier: str | None) -> list[str]:
    question, whole = unit[-1], " ".join(unit)
    follows = _FOLLOWING.match(question) is not None
    bare = _FOLLOWING.sub("", question) or question
    words = content(bare)
    only_slots = all(slots.is_slot(word) for word in words)
    variants = [whole] if len(unit) > 1 else []
    if earlier and (only_slots or follows):
        carried = slots.without_days(earlier) if slots.find(bare).days else earlier
        joined = f"{carried.rstrip(' ?.!')} {bare}"
        return [joined, *variants] if only_slots else [bare, joined, *variants]
    return [*variants, bare] if bare != whole else [bare]


def _last_question(before: str | None) -> str | None:
    units = _units(before[:MAX_CHARACTERS]) if before else []
    return units[-1][-1] if units else None
