"""What a hook may change of an event on its way into a room: who may know it, and its metadata, within what it had."""

import logging

from voiceagent.errors import RoomError
from voiceagent.room.events import RoomEvent
from voiceagent.room.live import LiveRoom
from voiceagent.room.visibility import INTERNAL, narrow, normal
from voiceagent.values import JSON

log = logging.getLogger(__name__)


def reach(before: RoomEvent, after: RoomEvent, room: LiveRoom) -> str:
    """Who may know an event that a hook has changed: never more than an answer's ceiling allows, and nothing turns internal."""
    wanted = _wanted(after.visibility)
    if wanted is None or before.visibility == INTERNAL:
        return before.visibility
    if before.responds_to is not None and before.response_visibility is not None:
        return narrow(before.visibility, wanted, room.channel_types())
    return wanted


def ceiling(before: RoomEvent, after: RoomEvent, room: LiveRoom) -> str | None:
    """A hook may narrow what answers may reach, never widen it."""
    wanted = None if after.response_visibility is None else _wanted(after.response_visibility)
    if before.response_visibility is None or wanted is None:
        return before.response_visibility or wanted
    return narrow(before.response_visibility, wanted, room.channel_types())


def _wanted(visibility: str) -> str | None:
    """A visibility that a hook may ask for, None for any other."""
    try:
        value = normal(visibility)
    except (RoomError, AttributeError, TypeError) as error:
        log.error("a hook's change is left out: %s", error)
        return None
    return None if value == INTERNAL else value


def marks(before: RoomEvent, after: RoomEvent) -> dict[str, JSON]:
    """A hook's metadata, with the room's own mark of what answers an instruction as it was."""
    kept = {key: value for key, value in after.metadata.items() if key != "instruction"}
    return {**kept, "instruction": before.metadata["instruction"]} if "instruction" in before.metadata else kept
