"""Lines of feeds as JSON text, and back. The line of an event holds none of it: the event is stored once."""

import json
import logging
from dataclasses import replace
from typing import Any, Final

from voiceagent.errors import StoreError
from voiceagent.room.codec import decode_event
from voiceagent.room.events import RoomEvent
from voiceagent.room.line import FeedEvent, Moment, event_line
from voiceagent.values import JSON

log = logging.getLogger(__name__)

EPOCH: Final = "1970-01-01T00:00:00.000Z"
"""The time of a line that cannot be read."""

OPENING: Final = ("input.accepted", "generation.started", "speech.queued")
ENDING: Final = ("input.settled", "generation.finished", "generation.failed", "generation.detached")
SILENCING: Final = ("speech.finished", "speech.cut", "speech.dropped")
"""Types of lines that open what one of the others ends: an input, a generation, a speech."""


def encode_line(line: FeedEvent) -> str:
    """ASCII JSON, which holds every text, half characters and NUL too. What JSON cannot hold is left out, and said in the log."""
    moment: dict[str, JSON] = {"at_ms": line.at_ms, "time": line.time}
    if line.event is not None:
        return json.dumps(moment)
    named = {
        "channel_id": line.channel_id,
        "session_id": line.session_id,
        "generation_id": line.generation_id,
        "responds_to": line.responds_to,
        "audience": None if line.audience == "all" else line.audience,
    }
    head = moment | {key: value for key, value in named.items() if value is not None}
    try:
        return json.dumps(head | {"data": dict(line.data)})
    except (TypeError, ValueError, RecursionError):
        log.exception("room %s: a line of type %s is kept without its data, which JSON cannot hold", line.room_id, line.type)
        return json.dumps(head)


def decode_line(place: tuple[str, int], type: str, text: str, event: RoomEvent | None = None) -> FeedEvent:
    """The line that was stored in a room under a number, with the event that it tells of.

    One that cannot be read is a line without data, and said in the log: its number must not be missing.
    """
    room_id, seq = place
    value = _read(room_id, seq, text)
    moment = Moment(value.get("at_ms", 0), value.get("time", EPOCH))
    if event is not None:
        return event_line(event, moment, seq, seq - 1)
    return FeedEvent(
        seq,
        seq - 1,
        moment.at_ms,
        moment.time,
        type,
        room_id,
        value.get("channel_id"),
        value.get("session_id"),
        value.get("generation_id"),
        value.get("responds_to"),
        value.get("audience", "all"),
        value.get("data", {}),
    )


def event_of(text: str | None, index: int | None) -> RoomEvent | None:
    """The stored event of a line, at its index; None for what is no line of an event, or cannot be read."""
    if text is None:
        return None
    try:
        event = decode_event(text)
    except StoreError as error:
        log.error("the line of an event is left without it: %s", error)
        return None
    return event if event.index == index else replace(event, index=index)


def moment_of(text: str) -> Moment:
    """When a stored line was made."""
    value = _read("", 0, text)
    return Moment(value.get("at_ms", 0), value.get("time", EPOCH))


def _read(room_id: str, seq: int, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    log.error("room %s: line %s of the stored feed cannot be read", room_id, seq)
    return {}


def found_by(name: str | None) -> str | None:
    """A name as every database can hold it; the line itself has it as it is."""
    if name is None or (name.isascii() and "\0" not in name):
        return name
    return name.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
