"""The AsyncAPI document of a room's lines and of its WebSocket, made of the models in the table."""

from typing import Final

from voiceagent.values import JSON
from voiceagent.web.command import Ack
from voiceagent.web.schema import inbox
from voiceagent.web.schema.openapi import WISHES, components, ref
from voiceagent.web.schema.table import LINES, LineType

_ENVELOPE: Final[dict[str, JSON]] = {
    "v": {"const": 1},
    "seq": {"type": "integer", "minimum": 1, "description": "Of durable lines: gapless in the room, and stored with it."},
    "after": {"type": "integer", "minimum": 0, "description": "Of other lines: the durable one that they stand behind."},
    "at_ms": {"type": "integer", "description": "Milliseconds since the room's feed began."},
    "time": {"type": "string", "format": "date-time"},
    "room_id": {"type": "string"},
    "channel_id": {"type": "string", "description": "The channel that it is about, such as the agent's."},
    "session_id": {"type": "string", "description": "The call that it is about."},
    "generation_id": {"type": "string", "description": "The answer that it is about."},
    "responds_to": {"type": "string", "description": "The message or instruction that the answer responds to."},
}


_QUESTIONS: Final = tuple(type for type in LINES if type.name.startswith("question."))
_OWN: Final = ("alive", "lagging", "closed")
_INBOX: Final = ("inbox.snapshot", "inbox.host", *(f"inbox.{name}" for name in (*(type.name for type in _QUESTIONS), *_OWN)))
"""What the inbox's stream sends, by the names that the document has for it."""


def asyncapi(version: str) -> dict[str, JSON]:
    """The whole document."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "voiceagent rooms",
            "version": version,
            "description": "What a room tells, and what it may be asked. The event stream at /v1/rooms/{room}/events sends the "
            "same objects. A browser offers the protocols `voiceagent.v1`, `bearer.<token>` and `key.<participant key>`.",
            "license": {"name": "Apache-2.0"},
        },
        "channels": {"room": _channel(), "inbox": _inbox_channel()},
        "operations": {
            "tell": {
                "action": "send",
                "channel": {"$ref": "#/channels/room"},
                "messages": _refs([*(t.name for t in LINES), "ack"]),
            },
            "list": {
                "action": "send",
                "channel": {"$ref": "#/channels/inbox"},
                "messages": [{"$ref": f"#/channels/inbox/messages/{name}"} for name in _INBOX],
            },
            "ask": {
                "action": "receive",
                "channel": {"$ref": "#/channels/room"},
                "messages": _refs(["command"]),
                "reply": {"channel": {"$ref": "#/channels/room"}, "messages": _refs(["ack"])},
            },
        },
        "components": {
            "messages": {
                **{type.name: _message(type) for type in LINES},
                "ack": _ack(),
                "command": _command(),
                **_inbox_messages(),
            },
            "schemas": components([Ack, inbox.Inbox, *{type.data: None for type in LINES}]),
        },
    }


def _channel() -> dict[str, JSON]:
    names = [*(type.name for type in LINES), "ack", "command"]
    query: dict[str, JSON] = {
        "type": "object",
        "properties": {str(wish["name"]): {"description": wish["description"], **_object(wish["schema"])} for wish in WISHES},
    }
    return {
        "address": "/v1/rooms/{room}/stream",
        "parameters": {"room": {"description": "The room's name: 1 to 64 letters, digits, _ or -."}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
        "bindings": {"ws": {"method": "GET", "query": query, "bindingVersion": "0.1.0"}},
    }


def _inbox_channel() -> dict[str, JSON]:
    return {
        "address": "/v1/inbox/events",
        "description": "Server-sent events over all rooms: how everything stands, then each change. Objects have no number.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _INBOX},
    }


def _inbox_messages() -> dict[str, JSON]:
    """The objects of the inbox's stream: its snapshot, lines of questions with the question's entry, and the stream's own."""
    entry: dict[str, JSON] = {"entry": ref("QuestionEntry")}
    around = {name: _ENVELOPE[name] for name in ("time", "room_id", "channel_id", "generation_id")}
    own = {type.name.removeprefix("stream."): type for type in LINES if type.stream}
    return {
        "inbox.snapshot": _unnumbered("inbox.snapshot", "Every question that the reader may see.", "Inbox", {}),
        "inbox.host": _unnumbered("inbox.host", "What a paired host lists has changed.", "InboxHost", {}),
        **{f"inbox.{t.name}": _unnumbered(t.name, t.says, t.data.__name__, {**around, **entry}) for t in _QUESTIONS},
        **{f"inbox.{name}": _unnumbered(own[name].name, own[name].says, own[name].data.__name__, {}) for name in _OWN},
    }


def _unnumbered(name: str, says: str, model: str, more: dict[str, JSON]) -> dict[str, JSON]:
    properties: dict[str, JSON] = {"v": {"const": 1}, "type": {"const": name}, **more, "data": ref(model)}
    return {
        "name": name,
        "summary": says,
        "payload": {"type": "object", "properties": properties, "required": list(properties)},
    }


def _refs(names: list[str]) -> list[JSON]:
    return [{"$ref": f"#/channels/room/messages/{name}"} for name in names]


def _object(schema: JSON) -> dict[str, JSON]:
    return schema if isinstance(schema, dict) else {}


def _message(type: LineType) -> dict[str, JSON]:
    """A line's whole object: the envelope around its data."""
    named = {name: _ENVELOPE[name] for name in ("v", "after", "room_id")} if type.stream else _ENVELOPE
    place = [] if type.stream else ["after" if type.droppable else "seq", "at_ms", "time"]
    notes = [type.says, "May be lost under pressure." if type.droppable else "", "For hosts." if type.hosts else ""]
    return {
        "name": type.name,
        "summary": " ".join(note for note in notes if note),
        "payload": {
            "type": "object",
            "properties": {**named, "type": {"const": type.name}, "data": ref(type.data.__name__)},
            "required": ["v", "type", "room_id", "data", *place],
        },
    }


def _ack() -> dict[str, JSON]:
    named = {name: _ENVELOPE[name] for name in ("v", "room_id")}
    return {
        "name": "ack",
        "summary": "A command's one answer.",
        "payload": {
            "type": "object",
            "properties": {**named, "type": {"const": "ack"}, "data": ref("Ack")},
            "required": ["v", "type", "room_id", "data"],
        },
    }


def _command() -> dict[str, JSON]:
    return {"name": "command", "summary": "What a client asks of the room.", "payload": ref("Command")}
