"""What two paired hosts say to each other, as JSON: what is not understood is let go by, so that versions may differ."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from voiceagent.room.pairings.pairing import Level
from voiceagent.room.questions.question import Speak, Urgency
from voiceagent.web.body import Body
from voiceagent.web.command import AnswerQuestion, DismissQuestion
from voiceagent.web.schema.inbox import QuestionEntry

JOIN = "/v1/paired/join"
QUESTIONS = "/v1/paired/questions"
COMMANDS = "/v1/paired/commands"
ASKED = "/v1/paired/asked"
END = "/v1/paired"

Name = Annotated[str, Field(min_length=1, max_length=200)]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{32,128}$")]


class Joining(Body):
    """A host that has a code: who it is, the key that is to be shown to it, and what may be done there."""

    code: str = Field(min_length=1, max_length=64)
    name: Name
    address: str = Field(min_length=1, max_length=500)
    key: Key
    level: Level


class Joined(BaseModel):
    """The answer: who this host is, the key that is to be shown to it, and what may be done here."""

    model_config = ConfigDict(frozen=True)

    pairing_id: str = Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")
    name: Name
    key: Key
    level: Level


class Forwarded(Body):
    """What a person did on the other host, and how they are called there."""

    command: Annotated[AnswerQuestion | DismissQuestion, Field(discriminator="type")]
    person: Name | None = None


class Asked(Body):
    """What an agent of the other host asks about a room here, under the id that it has there."""

    question_id: str = Field(pattern=r"^[!-.0-~]{1,128}$")
    room: str = Field(min_length=1, max_length=128)
    channel_id: Name
    generation_id: Name
    question: str
    options: list[str] = Field(default_factory=list, max_length=100)
    recommendation: str | None = None
    detail: str | None = None
    urgency: Urgency = "normal"
    speak: Speak = "auto"


class Kept(BaseModel):
    """How it stands."""

    model_config = ConfigDict(frozen=True)

    question: QuestionEntry


class Told(BaseModel):
    """The questions that a host shows a paired one."""

    model_config = ConfigDict(frozen=True)

    questions: list[QuestionEntry] = Field(max_length=2_000)


def entries(value: object) -> tuple[QuestionEntry, ...] | None:
    """The questions in what a host has sent; None when they cannot be read."""
    try:
        return tuple(_TOLD.validate_python(value).questions)
    except ValidationError:
        return None


def kept(value: object) -> QuestionEntry | None:
    """How a question stands, in what a host has sent; None when that cannot be read."""
    try:
        return _KEPT.validate_python(value).question
    except ValidationError:
        return None


_KEPT: TypeAdapter[Kept] = TypeAdapter(Kept)
_TOLD: TypeAdapter[Told] = TypeAdapter(Told)
