"""Makes a room's event of what somebody says: what may be asked for, what is stripped, where it hangs in a thread."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from voiceagent import clock
from voiceagent.errors import RoomError
from voiceagent.room.channel import Channel
from voiceagent.room.door import checked_answer
from voiceagent.room.events import (
    ChannelType,
    Content,
    EventSource,
    EventStatus,
    EventType,
    InboundMessage,
    RoomEvent,
    SystemContent,
    TextContent,
)
from voiceagent.room.live import LiveRoom
from voiceagent.room.store import Store
from voiceagent.room.visibility import INTERNAL, NONE, narrow, normal
from voiceagent.values import JSON

log = logging.getLogger(__name__)

RESERVED: Final = frozenset(
    {
        "instruction",
        "steer",
        "submitted",
        "input_ids",
        "interrupted",
        "played_ms",
        "played_percentage",
        "heard_text",
        "heard_exact",
        "answer_channel_id",
        "answer_responds_to",
        "cancelled",
        "cancellation_reason",
        "blocked_reason",
        "standalone",
        "caused_by",
        "automatic",
        "compacted_until",
    }
)
"""Metadata that the room and its channels write about events; from anyone else it is left out."""


SUBMITTED: Final = "submitted"
"""Metadata of an event with a key: the digest of what was handed in under it."""


def digest_of(content: Content, *more: str | None) -> str:
    """A digest of a content, by which the same one is known again."""
    return hashlib.sha256(repr((content, more)).encode("utf-8", "surrogatepass")).hexdigest()


class Intake:
    """Reads inbound messages. An utterance may have had its id since its first sound: see `reserve`."""

    def __init__(self, store: Store, new_id: Callable[[], str]) -> None:
        self._store = store
        self._new_id = new_id

    def new_id(self) -> str:
        """An id for whatever needs one."""
        return self._new_id()

    def reserve(self, room: LiveRoom) -> str:
        """An id that the room will accept for one message."""
        if room.reserved is None:
            room.reserved = set()
        event_id = self._new_id()
        room.reserved.add(event_id)
        return event_id

    async def event(self, room: LiveRoom, message: InboundMessage, channel: Channel | None, depth: int) -> RoomEvent:
        """The event that a message becomes. Raises RoomError for a visibility that only the room itself may use."""
        for value in (message.visibility, message.response_visibility):
            if value is not None and normal(value) == INTERNAL:
                raise RoomError(
                    "visibility 'internal' is for records that the room itself writes; use 'none' to show a message to nobody"
                )
        kind = EventType.MESSAGE if message.type is EventType.INSTRUCTION else message.type
        key = (message.idempotency_key or "").strip() or None
        marks: dict[str, JSON] = {} if key is None else {SUBMITTED: digest_of(message.content)}
        return RoomEvent(
            id=self._take_id(room, message.reserved_id),
            room_id=room.room_id,
            source=EventSource(
                message.channel_id,
                channel.channel_type if channel is not None else ChannelType.SYSTEM,
                participant_id=message.sender_id,
            ),
            content=message.content,
            created_at=clock.utc(),
            type=kind,
            status=EventStatus.PENDING if channel is not None else EventStatus.BLOCKED,
            blocked_by=None if channel is not None else "source_unbound",
            visibility=normal(message.visibility),
            addressed_to=message.addressed_to,
            response_visibility=normal(message.response_visibility) if message.response_visibility is not None else None,
            chain_depth=depth,
            parent_event_id=await self.thread_root(room, message.parent_event_id) if message.parent_event_id else None,
            idempotency_key=key,
            metadata={**{name: value for name, value in message.metadata.items() if name not in RESERVED}, **marks},
        )

    def foreseen(self, room: LiveRoom, message: InboundMessage, channel: Channel) -> RoomEvent | None:
        """The event that a message of a reserved id would become now, kept nowhere; None when it could not become one."""
        event_id = message.reserved_id
        if event_id is None or room.reserved is None or event_id not in room.reserved or message.parent_event_id is not None:
            return None
        return RoomEvent(
            id=event_id,
            room_id=room.room_id,
            source=EventSource(message.channel_id, channel.channel_type, participant_id=message.sender_id),
            content=message.content,
            created_at=clock.utc(),
            visibility=normal(message.visibility),
            addressed_to=message.addressed_to,
            metadata={name: value for name, value in message.metadata.items() if name not in RESERVED},
        )

    async def thread_root(self, room: LiveRoom, parent_id: str) -> str | None:
        """The root of the thread that an event hangs in; None, with a warning, when the parent is unknown."""
        parent = await self._store.get_event(room.room_id, parent_id)
        if parent is None:
            log.warning("room %s: parent %s is unknown; the message starts no thread", room.room_id, parent_id)
            return None
        return parent.parent_event_id or parent.id

    def _take_id(self, room: LiveRoom, reserved_id: str | None) -> str:
        if reserved_id is not None and room.reserved is not None and reserved_id in room.reserved:
            room.reserved.discard(reserved_id)
            return reserved_id
        return self._new_id()

    def own(self, room_id: str, source: EventSource, content: Content, event_id: str | None = None) -> RoomEvent:
        """An event of the room itself or of a channel, that answers nothing; under an id that was made for it, or a new one."""
        kind = EventType.SYSTEM if isinstance(content, SystemContent) else EventType.MESSAGE
        event_id = event_id or self._new_id()
        return RoomEvent(id=event_id, room_id=room_id, source=source, content=content, created_at=clock.utc(), type=kind)

    def instruction(self, room: LiveRoom, text: str, addressed_to: Sequence[str] | str | None, key: str | None) -> RoomEvent:
        """What the application asks of agents. Raises RoomError when none of them is there, or when it carries a key."""
        if key and key.strip():
            raise RoomError("instruction_not_idempotent: an instruction is stored nowhere, so it cannot carry an idempotency key")
        agents = [b.channel_id for b in room.bindings if b.channel_type.intelligence]
        wanted = [addressed_to] if isinstance(addressed_to, str) else addressed_to
        named = tuple(a for a in agents if wanted is None or a in wanted)
        if not named:
            raise RoomError(f"instruction_unaddressed: name an agent channel of the room; it has {agents or 'none'}")
        event = self.own(room.room_id, EventSource("system", ChannelType.SYSTEM), TextContent(text))
        return replace(event, type=EventType.INSTRUCTION, visibility="intelligence", addressed_to=named)

    async def answer(self, room: LiveRoom, event: RoomEvent, trigger: RoomEvent | None) -> RoomEvent:
        """What a channel made for a trigger, as the room takes it: a new id, its link, its depth, no wider than it may be."""
        event = checked_answer(event)
        metadata = {key: value for key, value in event.metadata.items() if key != "instruction"}
        parent = await self.thread_root(room, event.parent_event_id) if event.parent_event_id else None
        event = replace(
            event,
            id=self._new_id(),
            index=None,
            idempotency_key=None,
            status=EventStatus.PENDING,
            blocked_by=None,
            parent_event_id=parent,
        )
        if INTERNAL in (event.visibility, event.response_visibility):
            log.warning(
                "room %s: channel %s may not write internal events: shown to nobody", room.room_id, event.source.channel_id
            )
            scope = NONE if event.response_visibility == INTERNAL else event.response_visibility
            event = replace(event, visibility=NONE, response_visibility=scope)
        if trigger is None:
            return replace(event, metadata=metadata)
        if trigger.type is EventType.INSTRUCTION:
            text = trigger.content.body
            metadata["instruction"] = {
                "sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
                "length": len(text),
            }
        scope = trigger.response_visibility
        own_scope = event.response_visibility
        types = room.channel_types()
        return replace(
            event,
            metadata=metadata,
            responds_to=event.responds_to or trigger.id,
            chain_depth=trigger.chain_depth + 1,
            parent_event_id=event.parent_event_id or trigger.parent_event_id,
            visibility=event.visibility if scope is None else narrow(event.visibility, scope, types),
            response_visibility=scope if own_scope is None else own_scope if scope is None else narrow(own_scope, scope, types),
        )
