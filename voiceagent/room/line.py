"""One line of a room's feed: the envelope that hosts read, around a fact or a committed event."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from voiceagent.room.codec import event_json
from voiceagent.room.events import EventStatus, RoomEvent
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

Audience = Literal["all", "host"]

ROOM_EVENT: Final = "room.event"
"""The type of a line that tells of a committed event."""


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """One line of a room's feed. Durable ones have their own gapless `seq`; droppable ones carry the last one as `after`.

    A durable line has its number once it is stored, and no reader sees it before. `at_ms` is milliseconds since the feed began.
    `audience`: `host` keeps it from participants. A `room.event` line holds its `event`, and no `data` until it is JSON.
    """

    seq: int | None
    after: int
    at_ms: int
    time: str
    type: str
    room_id: str
    channel_id: str | None = None
    session_id: str | None = None
    generation_id: str | None = None
    responds_to: str | None = None
    audience: Audience = "all"
    data: Mapping[str, JSON] = field(default_factory=dict)
    event: RoomEvent | None = None
    _text: str | None = field(default=None, init=False, repr=False, compare=False)

    def at(self, seq: int | None, after: int) -> "FeedEvent":
        """The same line at its place; written out, for dataclasses.replace takes three times as long."""
        return FeedEvent(
            seq,
            after,
            self.at_ms,
            self.time,
            self.type,
            self.room_id,
            self.channel_id,
            self.session_id,
            self.generation_id,
            self.responds_to,
            self.audience,
            self.data,
            self.event,
        )

    def as_json(self) -> dict[str, JSON]:
        """The envelope as hosts read it."""
        named = {
            "channel_id": self.channel_id,
            "session_id": self.session_id,
            "generation_id": self.generation_id,
            "responds_to": self.responds_to,
        }
        place: dict[str, JSON] = {"seq": self.seq} if self.seq is not None else {"after": self.after}
        return {
            "v": 1,
            **place,
            "at_ms": self.at_ms,
            "time": self.time,
            "type": self.type,
            "room_id": self.room_id,
            **{key: value for key, value in named.items() if value is not None},
            "data": dict(self.data) if self.event is None else {"event": event_json(self.event)},
        }

    def text(self) -> str:
        """The envelope as JSON text that UTF-8 can hold; written once, however many readers are sent it."""
        if self._text is None:
            text = json.dumps(self.as_json(), ensure_ascii=False, separators=(",", ":"))
            object.__setattr__(self, "_text", text if text.isascii() else text.encode(errors="replace").decode())
        return self._text or ""

    @property
    def input_id(self) -> str | None:
        """The input that the line is about, for the types of inputs."""
        named = self.data.get("input_id") if self.type.startswith("input.") else None
        return named if isinstance(named, str) else None


@dataclass(frozen=True, slots=True)
class Moment:
    """When a line was made: `at_ms` since the feed began, and the calendar's time in RFC 3339."""

    at_ms: int
    time: str


def audience_of(visibility: str) -> Audience:
    """Who may read of what has this visibility: everybody, if all people's channels may know it; else hosts alone."""
    return "all" if visibility in (ALL, "transport") else "host"


def event_line(event: RoomEvent, moment: Moment, seq: int | None, after: int) -> FeedEvent:
    """The line of a committed event; refused ones, and those withheld from people's channels, are for hosts alone."""
    return FeedEvent(
        seq,
        after,
        moment.at_ms,
        moment.time,
        ROOM_EVENT,
        event.room_id,
        channel_id=event.source.channel_id,
        generation_id=event.correlation_id,
        responds_to=event.responds_to,
        audience="host" if event.status is EventStatus.BLOCKED else audience_of(event.visibility),
        event=event,
    )
