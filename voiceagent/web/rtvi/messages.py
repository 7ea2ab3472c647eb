"""RTVI's envelope: what a client writes, checked, and what it is sent, as JSON text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from voiceagent.errors import WebError
from voiceagent.values import JSON

LABEL: Final = "rtvi-ai"
VERSION: Final = "2.1.0"
"""Of the protocol, as the bot names it; any client of the same major version understands it."""

PEER_LEFT: Final = json.dumps({"type": "signalling", "message": {"type": "peerLeft"}})
"""Tells a client that this side ends the line, so that it does not dial again."""

MICROPHONE: Final = 0
"""The number of the sound's track among a client's tracks."""

LARGEST: Final = 200_000
"""Bytes of one message: browsers close a channel over which more than 262,144 come at once."""

Name = Annotated[str, Field(min_length=1, max_length=64)]
Id = Annotated[str, Field(min_length=1, max_length=128)]


class _Read(BaseModel):
    """What a client sends: fields that are not known are passed over, since the protocol grows."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Envelope(_Read):
    """One message of a client."""

    label: Literal["rtvi-ai"]
    type: Name
    id: Id
    data: dict[str, JsonValue] | None = None


class TrackStatus(_Read):
    """Whether one of a client's tracks sends anything."""

    type: Literal["trackStatus"]
    receiver_index: int
    enabled: bool


class Signal(_Read):
    """A message about the line itself, outside of RTVI's own envelope."""

    type: Literal["signalling"]
    message: TrackStatus


class ClientMessage(_Read):
    """A command: `t` names it, `d` is what it needs."""

    t: Name
    d: JsonValue = None


class SendTextOptions(_Read):
    """`run_immediately` False: the text is kept, and asks for no answer."""

    run_immediately: bool = True
    audio_response: bool = True


class SendText(_Read):
    """Something typed."""

    content: Annotated[str, Field(max_length=65_536)]
    options: SendTextOptions | None = None


class CancelJobGroup(_Read):
    """A person no longer wants a job."""

    job_id: Id


_Incoming: Final[TypeAdapter[Envelope | Signal]] = TypeAdapter(Envelope | Signal)


@dataclass(frozen=True, slots=True)
class Message:
    """What a client is sent; `id` is its question's where it is an answer."""

    type: str
    data: Mapping[str, JSON] | None = None
    id: str | None = None

    def text(self, number: int) -> str:
        """As JSON text that UTF-8 can hold; `number` names what answers nothing. What is too large goes without its data."""
        head: dict[str, JSON] = {"label": LABEL, "type": self.type, "id": self.id or f"s{number}"}
        text = _json(head if self.data is None else {**head, "data": dict(self.data)})
        if len(text.encode()) <= LARGEST:
            return text
        kept = {key: value for key, value in (self.data or {}).items() if key != "data" and not _is_long(value)}
        return _json({**head, "data": {**kept, "too_large": True}})


def read(text: str) -> Envelope | Signal | None:
    """A client's message; None for a sign of life. Raises WebError for what is neither."""
    if text.startswith("ping"):
        return None
    try:
        return _Incoming.validate_json(text)
    except ValidationError as error:
        raise WebError(f"no message of RTVI: {complaint(error)}") from None


def version_of(ready: Envelope) -> str:
    """The version of the protocol that a client-ready names; empty when it names none."""
    version = (ready.data or {}).get("version")
    return version[:32] if isinstance(version, str) else ""


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong, in a few words."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:40] for part in first["loc"]) or "message"
    return f"{place}: {first['msg']}"


def server_message(data: Mapping[str, JSON]) -> Message:
    """An object of ours, for a client that knows what it is."""
    return Message("server-message", data)


def bot_ready(id: str, about: Mapping[str, JSON]) -> Message:
    """The answer to client-ready."""
    return Message("bot-ready", {"version": VERSION, "about": dict(about)}, id)


def server_response(id: str, command: str, result: JSON) -> Message:
    """A command's answer."""
    return Message("server-response", {"t": command, "d": result}, id)


def error_response(id: str, error: str) -> Message:
    """Why a message was not taken."""
    return Message("error-response", {"error": error}, id)


def error(what: str, *, fatal: bool) -> Message:
    """Something went wrong that answers no message; a client leaves when it is `fatal`."""
    return Message("error", {"error": what, "message": what, "fatal": fatal})


def _json(data: Mapping[str, JSON]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode(errors="replace").decode()


def _is_long(value: JSON) -> bool:
    return isinstance(value, (dict, list)) or (isinstance(value, str) and len(value) > 1_000)
