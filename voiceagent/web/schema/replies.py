"""What plain requests are answered with."""

from typing import Literal

from pydantic import ConfigDict

from voiceagent.web.schema.data import Data


class Error(Data):
    """A request that is not served, and what to change."""

    error: str


class Health(Data):
    """The server lives."""

    ok: Literal[True]


class Status(Data):
    """Who speaks here."""

    version: str
    agent: str
    """The name that the agent's words are shown under."""
    brain: str
    advice: str
    models: dict[str, str]
    token_required: bool


class Answer(Data):
    """A line's answer, with all candidates."""

    model_config = ConfigDict(title="OfferAnswer")

    sdp: str
    type: Literal["answer"]
    session: str
    participant: str
    """The public id of the key's holder."""
    name: str
    epoch: str


class Taken(Data):
    """A typed message is in the timeline."""

    event_id: str
    duplicate: bool


class PushKey(Data):
    """What a browser subscribes to notifications with."""

    key: str | None
    """Base64url; null where nothing is pushed."""
