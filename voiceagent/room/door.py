"""What comes through the room's door is what its types say, or is refused there."""

import logging
from dataclasses import replace
from typing import Any, Final

from voiceagent.errors import RoomError
from voiceagent.room.events import EventType, InboundMessage, Participant, Role, RoomEvent
from voiceagent.room.frozen import FrozenDict, frozen, whole_content, whole_text
from voiceagent.room.visibility import NONE, normal

log = logging.getLogger(__name__)

_EMPTY: Final = FrozenDict()


def checked_message(message: InboundMessage) -> InboundMessage:
    """The message with its texts whole and its metadata a copy. Raises RoomError, naming the field, for a wrong type."""
    try:
        if not isinstance(message.type, EventType):
            raise ValueError(f"type: use an EventType, not {message.type!r}")
        for name in ("visibility", "response_visibility"):
            _visible(name, getattr(message, name), optional=name != "visibility")
        return replace(
            message,
            channel_id=_text("channel_id", message.channel_id),
            content=whole_content(message.content),
            addressed_to=addressed(message.addressed_to),
            metadata=frozen(message.metadata),
            sender_id=_optional("sender_id", message.sender_id),
            parent_event_id=_optional("parent_event_id", message.parent_event_id),
            idempotency_key=_optional("idempotency_key", message.idempotency_key),
            reserved_id=_optional("reserved_id", message.reserved_id),
        )
    except ValueError as error:
        raise RoomError(f"a message cannot be taken: {error}") from None


def checked_participant(person: Participant) -> Participant:
    """The participant with their texts whole. Raises RoomError, naming the field, for a wrong type."""
    try:
        if not isinstance(person.role, Role) or not isinstance(person.active, bool):
            raise ValueError("role, active: use a Role and a bool")
        if not isinstance(person.connected_via, tuple | list):
            raise ValueError("connected_via: use a tuple of channel ids")
        return replace(
            person,
            id=_text("id", person.id),
            display_name=_optional("display_name", person.display_name),
            connected_via=tuple(_text("connected_via", one) for one in person.connected_via),
        )
    except ValueError as error:
        raise RoomError(f"a participant cannot join: {error}") from None


def checked_answer(event: RoomEvent) -> RoomEvent:
    """What a channel made, with what it shows to nobody can name shown to nobody. Raises RoomError for what is no content."""
    scope = event.response_visibility
    try:
        return replace(
            event,
            visibility=_shown(event, event.visibility),
            response_visibility=None if scope is None else _shown(event, scope),
            content=whole_content(event.content),
            metadata=frozen(event.metadata),
            addressed_to=addressed((event.addressed_to,) if isinstance(event.addressed_to, str) else event.addressed_to),
            parent_event_id=_optional("parent_event_id", event.parent_event_id),
            responds_to=_optional("responds_to", event.responds_to),
            correlation_id=_optional("correlation_id", event.correlation_id),
        )
    except ValueError as error:
        raise RoomError(f"an answer of channel {event.source.channel_id} cannot be taken: {error}") from None


def checked_change(before: RoomEvent, after: RoomEvent) -> RoomEvent:
    """What hooks made of an event; a field that no event can have is as it was before them."""
    kept: dict[str, Any] = {}
    for name, check in (("content", whole_content), ("addressed_to", addressed), ("metadata", frozen)):
        try:
            kept[name] = check(getattr(after, name))
        except ValueError as error:
            log.error("room %s: a hook's change of event %s is left out: %s", before.room_id, before.id, error)
            kept[name] = getattr(before, name)
    return replace(after, **kept)


def addressed(value: object) -> tuple[str, ...] | None:
    """Who is asked to act. Raises ValueError for what is no sequence of texts; one text is none."""
    if value is None:
        return None
    if not isinstance(value, tuple | list) or not all(isinstance(one, str) for one in value):
        raise ValueError("addressed_to: use a tuple of channel ids, or None for everybody")
    return tuple(value)


def repaired(event: RoomEvent) -> RoomEvent:
    """An event of the room itself or of a host, as it is committed: whole, and never to change again."""
    try:
        kept = frozen(event.metadata) if event.metadata else _EMPTY
    except ValueError as error:
        log.error("room %s: the metadata of event %s is left out: %s", event.room_id, event.id, error)
        kept = _EMPTY
    content = whole_content(event.content)
    return event if content is event.content and kept is event.metadata else replace(event, content=content, metadata=kept)


def _shown(event: RoomEvent, value: object) -> str:
    try:
        _visible("visibility", value)
        return normal(str(value))
    except (ValueError, RoomError) as error:
        log.warning("room %s: channel %s: %s: shown to nobody", event.room_id, event.source.channel_id, error)
        return NONE


def _visible(name: str, value: object, *, optional: bool = False) -> None:
    if not isinstance(value, str) and not (optional and value is None):
        raise ValueError(f"{name}: use a text, not {type(value).__name__}")


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}: use a text, not {type(value).__name__}")
    return whole_text(value)


def _optional(name: str, value: object) -> str | None:
    return None if value is None else _text(name, value)
