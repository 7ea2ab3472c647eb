"""Who may know an event: the grammar of visibility, as pure functions."""

from collections.abc import Mapping
from typing import Final

from voiceagent.errors import RoomError
from voiceagent.room.events import ChannelType

ALL: Final = "all"
NONE: Final = "none"
INTERNAL: Final = "internal"
_CATEGORIES: Final = {"transport": False, "intelligence": True}
KEYWORDS: Final = frozenset({ALL, NONE, INTERNAL, *_CATEGORIES})


def check_channel_id(channel_id: str) -> str:
    """The id itself when a visibility can name it. Raises RoomError."""
    if not channel_id or channel_id in KEYWORDS or "," in channel_id or channel_id != channel_id.strip():
        raise RoomError(
            f"channel id {channel_id!r}: use a name without commas or outer spaces that is none of {sorted(KEYWORDS)}"
        )
    return channel_id


def normal(value: str) -> str:
    """The one spelling of a visibility: a keyword, or channel ids trimmed, unique and sorted. Raises RoomError."""
    if value in KEYWORDS:
        return value
    ids = {item.strip() for item in value.split(",")}
    if "" in ids or ids & KEYWORDS:
        raise RoomError(f"visibility {value!r}: use one of {sorted(KEYWORDS)}, or channel ids separated by commas")
    return ",".join(sorted(ids))


def reaches(visibility: str, channel_id: str, channel_type: ChannelType) -> bool:
    """Whether a channel may know what carries this visibility."""
    if visibility == ALL:
        return True
    if visibility in (NONE, INTERNAL):
        return False
    if visibility in _CATEGORIES:
        return channel_type.intelligence is _CATEGORIES[visibility]
    return channel_id in visibility.split(",")


def narrow(first: str, second: str, types: Mapping[str, ChannelType]) -> str:
    """What both allow. `types` tells each channel's type; a listed channel of unknown type fits no category."""
    if INTERNAL in (first, second):
        return INTERNAL
    if NONE in (first, second):
        return NONE
    if first == ALL:
        return second
    if second == ALL or first == second:
        return first
    if first in _CATEGORIES and second in _CATEGORIES:
        return NONE
    if first in _CATEGORIES:
        first, second = second, first
    listed = first.split(",")
    if second in _CATEGORIES:
        wanted = _CATEGORIES[second]
        kept = [c for c in listed if c in types and types[c].intelligence is wanted]
    else:
        kept = [c for c in listed if c in second.split(",")]
    return ",".join(kept) or NONE
