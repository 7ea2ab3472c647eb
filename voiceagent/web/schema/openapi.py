"""The OpenAPI document of the HTTP door, made of the models that check its requests."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from voiceagent.values import JSON
from voiceagent.web.command import Ack, Command, QuestionCommand
from voiceagent.web.messages import Typed
from voiceagent.web.pairing.pages import Join, NewCode
from voiceagent.web.push.subscription import Device, Endpoint
from voiceagent.web.schema import inbox, pairing, replies
from voiceagent.web.signalling import Candidate, Mute, Offer, Playout

REF: Final = "#/components/schemas/{model}"

_ROOM: Final[JSON] = {
    "name": "room",
    "in": "path",
    "required": True,
    "description": "The room's name.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
}
_KEY: Final[JSON] = {
    "name": "participant-key",
    "in": "header",
    "required": False,
    "description": "A secret that a client makes for itself, by which it is known again.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22,64}$"},
}


def query(name: str, description: str, schema: dict[str, JSON]) -> dict[str, JSON]:
    """A parameter in the address."""
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


WISHES: Final[tuple[dict[str, JSON], ...]] = (
    query("after", "Durable lines behind this number first.", {"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999}),
    query("types", "Types of lines, separated by commas; `speech.*` names a family.", {"type": "string", "maxLength": 2000}),
    query("generation", "Lines of these answers only, by their ids, separated by commas.", {"type": "string", "maxLength": 2000}),
    query(
        "purpose",
        "Of answers, only those with these purposes, separated by commas: answer, offer, greeting, handback.",
        {"type": "string", "maxLength": 200},
    ),
    query(
        "audience",
        "`host`: also what is kept from participants, such as internal records; for hosts.",
        {"type": "string", "enum": ["all", "host"]},
    ),
    query("epoch", "The `epoch` of the last `stream.ready`; where it differs the numbers began anew.", {"type": "string"}),
)


def components(models: Sequence[type[BaseModel]]) -> dict[str, JSON]:
    """The schemas of models, by name, and the command's, which is a choice of models."""
    _, document = models_json_schema([(model, "validation") for model in models], ref_template=REF)
    every = TypeAdapter(Command).json_schema(ref_template=REF)
    of_questions = TypeAdapter(QuestionCommand).json_schema(ref_template=REF)
    of_questions.pop("$defs")
    return {**document["$defs"], **every.pop("$defs"), "Command": every, "QuestionCommand": of_questions}


def openapi(version: str) -> dict[str, JSON]:
    """The whole document."""
    models: list[type[BaseModel]] = [
        Offer,
        Candidate,
        Mute,
        Playout,
        Typed,
        Ack,
        *_models(replies),
        inbox.Inbox,
        inbox.Overview,
        Device,
        Endpoint,
        *(Join, NewCode, pairing.PairingCode, pairing.PairedHost, pairing.Pairings, pairing.PairingEnd),
    ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "voiceagent",
            "version": version,
            "description": "Rooms for browsers and other programs. A room's lines are described in the AsyncAPI document.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}, {}],
        "paths": _paths(),
        "components": {
            "schemas": components(models),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A room token, where the server asks for one."}
            },
        },
    }


def ref(model: str) -> dict[str, JSON]:
    """Points at a schema."""
    return {"$ref": REF.format(model=model)}


def _models(module: object) -> list[type[BaseModel]]:
    found = (value for name, value in sorted(vars(module).items()) if not name.startswith("_") and name != "Data")
    return [value for value in found if isinstance(value, type) and issubclass(value, BaseModel)]


def _paths() -> dict[str, JSON]:
    document: dict[str, JSON] = {"type": "object"}
    return {
        "/healthz": {"get": _asked("health", "Whether the server lives.", _json("Health"))},
        "/v1/status": {"get": _asked("status", "Which brain speaks, and under which name.", _json("Status"))},
        "/v1/openapi.json": {"get": _asked("openapi", "This document.", _schema(document))},
        "/v1/asyncapi.json": {"get": _asked("asyncapi", "The lines of a room, and the WebSocket.", _schema(document))},
        **_inbox(),
        **_pairings(),
        "/v1/rooms/{room}/offer": _of_room(
            "post", _asked("offer", "Joins with sound: a WebRTC offer.", _json("Answer"), "Offer")
        ),
        "/v1/rooms/{room}/candidates": _of_room(
            "post", _asked("candidate", "One more way to reach the page.", _NOTHING, "Candidate"), _KEY
        ),
        "/v1/rooms/{room}/mute": _of_room("post", _asked("mute", "A microphone is off or on.", _NOTHING, "Mute"), _KEY),
        "/v1/rooms/{room}/playout": _of_room(
            "post", _asked("playout", "How late the page plays what it is sent.", _NOTHING, "Playout"), _KEY
        ),
        "/v1/rooms/{room}/line": _of_room(
            "delete", _asked("leave", "Leaves the line.", _NOTHING), _KEY, query("session", "Only this line.", {"type": "string"})
        ),
        "/v1/rooms/{room}/messages": _of_room(
            "post", _asked("message", "Says something by typing it.", {"202": _json("Taken")["200"]}, "Typed"), _KEY
        ),
        "/v1/rooms/{room}/commands": _of_room(
            "post",
            _asked("command", "One command; done once for its id, however often it is sent.", _json("Ack"), "Command"),
            _KEY,
        ),
        "/v1/rooms/{room}/events": _of_room(
            "get",
            _asked(
                "events", "The room's lines as server-sent events, each `data` one JSON object, its `id` the number.", _EVENTS
            ),
            *WISHES,
            {**query("last-event-id", "As `after`.", {"type": "string", "pattern": "^[0-9]{1,15}$"}), "in": "header"},
        ),
    }


def _inbox() -> dict[str, JSON]:
    """Questions of all rooms."""
    listed = _asked("inbox", "Every question that the sender may see: of all rooms, or of the token's.", _json("Inbox"))
    events = _asked("inbox_events", "The same list as server-sent events, and every change of it.", _EVENTS)
    answer = _asked("inbox_command", "Answers or dismisses a question; done once for its id.", _json("Ack"), "QuestionCommand")
    standing = _asked("overview", "How the rooms stand that the sender may see.", _json("Overview"))
    key = _asked("push_key", "The public key that a browser subscribes to notifications with.", _json("PushKey"))
    notify = _asked("notify", "Notifies a device of urgent questions that the sender may answer.", _NOTHING, "Device")
    quiet = _asked("notify_no_more", "Notifies a device no more.", _NOTHING, "Endpoint")
    return {
        "/v1/push": {"get": key},
        "/v1/push/devices": {"post": _by_key(notify), "delete": _by_key(quiet)},
        "/v1/inbox": {"get": _by_key(listed)},
        "/v1/inbox/events": {"get": _by_key(events)},
        "/v1/inbox/commands": {"post": _by_key(answer)},
        "/v1/overview": {"get": _by_key(standing)},
    }


def _pairings() -> dict[str, JSON]:
    """Other hosts; for this host's own, whose token opens every room. What hosts say to each other is theirs alone."""
    name: JSON = {
        "name": "name",
        "in": "path",
        "required": True,
        "description": "As the list has it.",
        "schema": {"type": "string"},
    }
    return {
        "/v1/pairings": {
            "get": _asked("pairings", "The hosts that this one is paired with.", _json("Pairings")),
            "post": _asked("pair", "Pairs with the host that has made a code.", _json("PairedHost"), "Join"),
        },
        "/v1/pairings/code": {"post": _asked("pairing_code", "A code for another host.", _json("PairingCode"), "NewCode")},
        "/v1/pairings/{name}": {
            "parameters": [name],
            "delete": _asked("unpair", "Ends a pairing at both hosts.", _json("PairingEnd")),
        },
    }


def _by_key(operation: dict[str, JSON]) -> dict[str, JSON]:
    return {**operation, "parameters": [_KEY]}


def _schema(schema: dict[str, JSON]) -> dict[str, JSON]:
    return {"200": {"description": "Done.", "content": {"application/json": {"schema": schema}}}}


def _json(model: str) -> dict[str, JSON]:
    return _schema(ref(model))


_NOTHING: Final[dict[str, JSON]] = {"204": {"description": "Done."}}
_EVENTS: Final[dict[str, JSON]] = {
    "200": {"description": "Lines until either side ends.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}
_REFUSED: Final[dict[str, JSON]] = {
    "description": "Not served: `error` says what to change.",
    "content": {"application/json": {"schema": ref("Error")}},
}


def _asked(name: str, summary: str, done: dict[str, JSON], body: str | None = None) -> dict[str, JSON]:
    """An operation; every refusal looks alike."""
    operation: dict[str, JSON] = {"operationId": name, "summary": summary, "responses": {**done, "default": _REFUSED}}
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": ref(body)}}}
    return operation


def _of_room(method: str, operation: dict[str, JSON], *parameters: JSON) -> dict[str, JSON]:
    return {"parameters": [_ROOM], method: {**operation, "parameters": list(parameters)}}
