"""Names that people give: of rooms, of themselves, and the keys by which a page is known again."""

import hashlib
import re
from collections.abc import Iterable

from voiceagent.room.names import LONGEST, spoken_name
from voiceagent.room.roster import likeness
from voiceagent.web.refusal import Refused

_ROOM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")


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
    """A name fit to be shown; `Guest` when nothing of it is."""
    return spoken_name(name) or "Guest"


def distinct_name(name: str, taken: Iterable[str]) -> str:
    """The cleaned name, numbered when it looks like one that is taken (`Аnna`, with a Cyrillic A, looks like `Anna`)."""
    looks = {likeness(other) for other in taken}
    wanted = clean_name(name)
    if likeness(wanted) not in looks:
        return wanted
    for number in range(2, len(looks) + 3):
        numbered = f"{wanted[: LONGEST - 5]} ({number})"
        if likeness(numbered) not in looks:
            return numbered
    raise AssertionError("more numbers than names")
