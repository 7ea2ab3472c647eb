"""People's names as data: what of them may be shown, spoken or put before a model."""

import unicodedata
from functools import lru_cache
from typing import Final

LONGEST: Final = 64
MARKS: Final = 2
"""Accents that one letter may carry."""

_JOINER: Final = "\u200d"  # families of emoji are written with it
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and signs that show nothing


@lru_cache(maxsize=1_024)
def spoken_name(name: str | None) -> str:
    """A display name on one line, 64 characters at most, without controls, direction marks, invisible signs or piles of accents.

    Empty when nothing of it shows.
    """
    if not name:
        return ""
    kept: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", name[: 4 * LONGEST]):
        category = unicodedata.category(character)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if character.isspace():
            kept.append(" ")
        elif character == _JOINER:
            kept.extend(character if kept and _is_symbol(kept[-1]) else "")
        elif category[0] != "C" and marks <= MARKS and character not in _BLANK:
            kept.append(character)
    shown = " ".join("".join(kept).strip(_JOINER).split())[:LONGEST].strip()
    return shown if any(unicodedata.category(c)[0] in "LNPS" for c in shown) else ""


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk") or character == "\ufe0f"
