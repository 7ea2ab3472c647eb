"""A response that a client asked for, until it begins."""

from dataclasses import dataclass, field

from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.feed import FeedEvent


@dataclass(slots=True, eq=False)
class Request:
    """What it answers is known to the room by `key`, or is the instruction `text`; `event_id` is the client's own name for it."""

    event_id: str | None
    metadata: dict[str, str] = field(default_factory=dict)
    instructions: str | None = None
    max_tokens: int | None = None
    key: str | None = None
    text: str | None = None
    input_id: str | None = None
    generation_id: str | None = None

    def is_of(self, trigger: RoomEvent) -> bool:
        """Whether an answer to this event is what was asked for."""
        if trigger.type is EventType.INSTRUCTION:
            return self.text is not None and trigger.content.body == self.text
        return self.key is not None and trigger.idempotency_key == self.key

    def learn(self, line: FeedEvent) -> None:
        """The room has taken what is to be answered: from now on it is known by the room's id."""
        if self.input_id is not None or line.type != "input.accepted":
            return
        own = line.data.get("key") == self.key if self.key is not None else line.data.get("kind") == "service"
        if own and (self.key is not None or self.text is not None):
            self.input_id = str(line.data.get("input_id"))
