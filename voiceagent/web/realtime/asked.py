"""What a client may send: the protocol's client events, each checked when it comes."""

import json
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from voiceagent.errors import WebError
from voiceagent.values import JSON
from voiceagent.web.body import told

Name = Annotated[str, Field(pattern=r"^[!-~]{1,64}$")]
Label = Annotated[str, Field(max_length=64)]
Text = Annotated[str, Field(max_length=100_000)]

M = TypeVar("M", bound=BaseModel)


class Mistake(WebError):
    """Something that a client sent cannot be done; it becomes an `error` event, and the connection stays."""

    def __init__(self, message: str, code: str = "invalid_value", param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.param = param

    def as_json(self, event_id: str | None) -> dict[str, JSON]:
        """The `error` event; `event_id` is the client's own name for what it sent."""
        error: dict[str, JSON] = {
            "type": "invalid_request_error",
            "code": self.code,
            "message": str(self),
            "param": self.param,
            "event_id": event_id,
        }
        return {"type": "error", "error": error}


class Asked(BaseModel):
    """One client event; fields that nobody here knows are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event_id: Annotated[str, Field(max_length=512)] | None = None


class UpdateSession(Asked):
    """`session` is read in terms.py."""

    type: Literal["session.update"]
    session: dict[str, JsonValue]


class Append(Asked):
    """More of the person's sound."""

    type: Literal["input_audio_buffer.append"]
    audio: str


class Commit(Asked):
    """What was appended is a message."""

    type: Literal["input_audio_buffer.commit"]


class Clear(Asked):
    """What was appended is not wanted."""

    type: Literal["input_audio_buffer.clear"]


class Content(Asked):
    """A part of a message."""

    type: Label
    text: Text | None = None
    transcript: Text | None = None
    audio: str | None = None


class Item(Asked):
    """A message, or what a function came to."""

    type: Label
    id: Name | None = None
    role: Literal["user", "system", "assistant"] = "user"
    content: Annotated[list[Content], Field(max_length=64)] = []
    call_id: Name | None = None
    output: Text = ""


class CreateItem(Asked):
    """Adds to the conversation; a response is made of it when one is asked for."""

    type: Literal["conversation.item.create"]
    item: Item


class TruncateItem(Asked):
    """The person has heard this much of an answer."""

    type: Literal["conversation.item.truncate"]
    item_id: Name
    content_index: int = 0
    audio_end_ms: Annotated[int, Field(ge=0)]


class DeleteItem(Asked):
    """Takes an item from the client's list."""

    type: Literal["conversation.item.delete"]
    item_id: Name


class RetrieveItem(Asked):
    """Asks for an item as it stands."""

    type: Literal["conversation.item.retrieve"]
    item_id: Name


class Wish(Asked):
    """What is asked of one response."""

    conversation: str = "auto"
    instructions: Text | None = None
    metadata: Annotated[dict[Label, Annotated[str, Field(max_length=512)]], Field(max_length=16)] | None = None
    input: list[JsonValue] | None = None
    max_output_tokens: int | Literal["inf"] | None = None


class CreateResponse(Asked):
    """The agent is to answer now."""

    type: Literal["response.create"]
    response: Wish | None = None


class CancelResponse(Asked):
    """The agent is to stop."""

    type: Literal["response.cancel"]
    response_id: Name | None = None


class ClearOutput(Asked):
    """The agent is to stop sounding."""

    type: Literal["output_audio_buffer.clear"]


Event = (
    UpdateSession
    | Append
    | Commit
    | Clear
    | CreateItem
    | TruncateItem
    | DeleteItem
    | RetrieveItem
    | CreateResponse
    | CancelResponse
    | ClearOutput
)

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def parse(frame: str) -> tuple[Event | Mistake, str | None]:
    """What a frame asks for, or what is wrong with it; and the client's own name for it, as far as it can be read."""
    try:
        data = json.loads(frame)
    except (ValueError, RecursionError):
        return Mistake("a client event is a JSON object", "invalid_json"), None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        return Mistake("a client event is a JSON object with a type", "missing_required_parameter", "type"), None
    event_id = data.get("event_id")
    name = event_id[:512] if isinstance(event_id, str) else None
    try:
        return _EVENT.validate_python(data), name
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "union_tag_invalid":
            return Mistake(f"there is no event {data['type'][:64]!r} that a client sends", param="type"), name
        place = ".".join(str(part)[:40] for part in first["loc"][1:])
        return Mistake(told(error), "missing_required_parameter" if first["type"] == "missing" else "invalid_value", place), name


def checked(model: type[M], data: JsonValue, param: str) -> M:
    """A part of an event against its own model. Raises Mistake."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise Mistake(told(error), param=".".join((param, *(str(part)[:40] for part in first["loc"])))) from error
