"""People's names as data: what of them may be shown, spoken or put before a model."""

import unicodedata
from functools import lru_cache
from typing import Final

LONGEST: Final = 64
_JOINER: Final = "\u200d"  # emoji families and several scripts are written with it
_BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and signs that show nothing


@lru_cache(maxsize=1_024)
def spoken_name(name: str | None) -> str:
    """A display name on one line, 64 characters at most, without control and direction characters; empty when nothing shows."""
    if not name:
        return ""
    kept = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", name) if c.isspace() or _visible(c))
    shown = " ".join(kept.split())[:LONGEST].strip()
    return shown if any(unicodedata.category(c)[0] in "LNPS" for c in shown) else ""


def _visible(character: str) -> bool:
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") or character in _BLANK
    return not hidden or character == _JOINER
