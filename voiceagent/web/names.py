"""Names that people give: of rooms, of themselves, and the keys by which a page is known again."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from voiceagent.web.refusal import Refused

NAME_CHARS = 64
MARKS = 2
_ROOM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
_JOINER = "\u200d"
_ALIKE = str.maketrans(
    "аеорсухіјѕԁһոօзмнтвкԛԝαορνικτυχѵɡı0135",
    "aeopcyxijsdhnosmhtbkqwaopvikuuxvgioise",
)


def check_room(room: str) -> str:
    """The room's name. Raises Refused 404 for anything but 1 to 64 letters, digits, `_` and `-`."""
    if _ROOM.fullmatch(room) is None:
        raise Refused(404, "a room's name has 1 to 64 letters, digits, _ or -")
    return room


def participant_id(key: str) -> str:
    """The public id of whoever holds this key: the same each time, and no way back to the key. Raises Refused 400."""
    if _KEY.fullmatch(key) is None:
        raise Refused(400, "the participant key has 22 to 64 letters, digits, _ or -")
    return f"web-{hashlib.sha256(key.encode()).hexdigest()[:20]}"


def clean_name(name: str) -> str:
    """A name fit to be shown: no controls, no direction marks, no invisible signs, few accents a letter, 64 characters."""
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFC", name[: 4 * NAME_CHARS]):
        category = unicodedata.category(sign)
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if sign.isspace():
            kept.append(" ")
        elif sign == _JOINER:
            if kept and _is_symbol(kept[-1]):
                kept.append(sign)
        elif category[0] != "C" and marks <= MARKS:
            kept.append(sign)
    text = " ".join("".join(kept).strip(_JOINER).split())
    return text[:NAME_CHARS].strip() or "Guest"


def distinct_name(name: str, taken: Iterable[str]) -> str:
    """The cleaned name, numbered when it looks like one that is taken (`Аnna`, with a Cyrillic A, looks like `Anna`)."""
    looks = {look(other) for other in taken}
    wanted = clean_name(name)
    if look(wanted) not in looks:
        return wanted
    for number in range(2, len(looks) + 3):
        numbered = f"{wanted[: NAME_CHARS - 5]} ({number})"
        if look(numbered) not in looks:
            return numbered
    raise AssertionError("more numbers than names")


def look(name: str) -> str:
    """What a name looks like: letters of other alphabets by the Latin ones they resemble, case, width and spaces left out."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(sign for sign in folded if not unicodedata.combining(sign) and not sign.isspace())
    return plain.translate(_ALIKE).replace("l", "i").replace("rn", "m").replace("vv", "w")


def _is_symbol(sign: str) -> bool:
    return unicodedata.category(sign) in ("So", "Sk") or sign == "\ufe0f"
