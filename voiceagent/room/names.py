"""People's names as data: what of them may be shown, spoken or put before a model."""

import unicodedata
from typing import Final

LONGEST: Final = 64


def spoken_name(name: str | None) -> str:
    """A display name without control and direction characters, on one line, 64 characters at most; empty when nothing is left."""
    if not name:
        return ""
    kept = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", name) if c.isspace() or _visible(c))
    return " ".join(kept.split())[:LONGEST].strip()


def _visible(character: str) -> bool:
    # Zero-width joiner: emoji families and several scripts are written with it.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn") or character == "\u200d"
