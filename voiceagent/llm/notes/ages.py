"""A person's age in a question, and the ages that a fact speaks of. English only, pure."""

import re

from voiceagent.llm.notes.words import tokens

_OLDEST = 150
_SAID = re.compile(
    r"\b(?:is|are|am|i'm|he's|she's|turns|turning|turned|i'm only|is only|just|he is|she is|and) (?:only |just |now )?(\d{1,2})"
    r"(?: and\b| years?\b| now\b| or\b|$| ?[,.;?!])|\b(\d{1,2}) years? olds?\b|\bage of (\d{1,2})\b|\baged (\d{1,2})\b"
)
_LIMITS = (
    (re.compile(r"\b(\d{1,2}) (?:to|and|through) (\d{1,2})\b(?! (?:am|pm|o'clock|people|children))"), None),
    (re.compile(r"\b(?:under|below|younger than|less than) (?:the age of )?(\d{1,2})\b"), "under"),
    (re.compile(r"\bup to (?:the age of )?(\d{1,2})\b"), "upto"),
    (re.compile(r"\b(?:over|above|older than|at least|from the age of|minimum age is|at the age of|age of) (\d{1,2})\b"), "over"),
)
_ABOUT_AGE = re.compile(
    r"\b(ages?|aged|old|older|younger|children|child|kids?|under|seniors?|people under|pensioners|minimum age|everybody over)\b"
)


def said(question: str) -> int | None:
    """The age of somebody in the question (`she is only three`, `my seven year old`), if one is said."""
    match = _SAID.search(_digits(question))
    return next((int(group) for group in match.groups() if group), None) if match else None


def limits(fact: str) -> tuple[tuple[int, int], ...]:
    """The spans of ages, both ends in, that a fact speaks of; empty when it speaks of none."""
    text = _digits(fact)
    if not _ABOUT_AGE.search(text):
        return ()
    found: list[tuple[int, int]] = []
    for shape, sort in _LIMITS:
        for match in shape.finditer(text):
            numbers = [int(group) for group in match.groups()]
            low, high = (numbers[0], numbers[-1]) if sort is None else _span(sort, numbers[0])
            if low < high:
                found.append((low, high))
    return tuple(found)


def excludes(spans: tuple[tuple[int, int], ...], age: int) -> bool:
    """Whether a fact is about people of other ages only: every span it names has two ends, and none holds the age."""
    return bool(spans) and all(low > 0 and high < _OLDEST and not low <= age <= high for low, high in spans)


def _span(sort: str, number: int) -> tuple[int, int]:
    if sort == "over":
        return number, _OLDEST
    return 0, number - 1 if sort == "under" else number


def _digits(text: str) -> str:
    """Lower case, with number words as digits and hyphens apart; marks stay, for they end what is said."""
    parts = re.findall(r"[\w'\u2019-]+|[^\w\s]", text)
    return " ".join(" ".join(tokens(part)) or part for part in parts)
