"""What a client may ask of a room, as JSON, and how it is acknowledged."""

import hashlib
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, JsonValue, TypeAdapter, ValidationError, model_validator
from pydantic_core import from_json

from voiceagent.room.ledger import Disposition
from voiceagent.room.questions.question import LONGEST_ANSWER, MOST_OPTIONS
from voiceagent.room.receipt import ReceiptDisposition
from voiceagent.values import JSON
from voiceagent.web.body import Body
from voiceagent.web.body import told as told_of
from voiceagent.web.refusal import Refused

LONGEST_TEXT: Final = 16_000

CommandId = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_.:-]{8,64}$",
        description="Made by the client, such as a UUID; the same id with the same content is done once, however often sent.",
    ),
]
Id = Annotated[str, Field(pattern=r"^[!-~]{1,128}$")]
Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
HostName = Annotated[str, Field(min_length=1, max_length=128)]


class Submission(Body):
    """What somebody says to the room by typing it."""

    text: Text


class Cancellation(Body):
    """Which answer is to stop."""

    generation_id: Id


class Withdrawal(Body):
    """Which message is to be taken back, while it waits."""

    input_id: Id


class Steering(Body):
    """What an agent should know while it works. With `generation_id`: for that answer alone, or refused."""

    text: Text
    generation_id: Id | None = None


class JobCancellation(Body):
    """Which background job is to stop; what it has done is not undone."""

    job_id: Id


class Reading(Body):
    """Which message a person has seen."""

    event_id: Id


class QuestionAnswer(Body):
    """What a person answers: one option, several where the question takes several, or words of their own."""

    question_id: Id
    host: HostName | None = Field(None, description="The paired host that keeps the question; left out: this one.")
    option: int | None = Field(None, ge=0, lt=MOST_OPTIONS, description="Its place among the options, from 0.")
    options: list[Annotated[int, Field(ge=0, lt=MOST_OPTIONS)]] | None = Field(None, min_length=1, max_length=MOST_OPTIONS)
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_ANSWER)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(value is not None for value in (self.option, self.options, self.text)) != 1:
            raise ValueError("give one of option, options and text")
        return self

    @property
    def places(self) -> tuple[int, ...]:
        """The chosen options."""
        return (self.option,) if self.option is not None else tuple(dict.fromkeys(self.options or ()))


class QuestionDismissal(Body):
    """Which question a person does not answer."""

    question_id: Id
    host: HostName | None = Field(None, description="The paired host that keeps the question; left out: this one.")


class Keys(Body):
    """Keys as on a telephone."""

    digits: Annotated[str, Field(pattern=r"^[0-9*#]{1,20}$")]


class Submit(Body):
    """Says something; who says it is the holder of the participant key."""

    type: Literal["input.submit"]
    id: CommandId
    data: Submission


class CancelGeneration(Body):
    """Stops an answer that is being made."""

    type: Literal["generation.cancel"]
    id: CommandId
    data: Cancellation


class WithdrawInput(Body):
    """Takes back a message that no answer has taken in yet; for whoever wrote it, and for hosts."""

    type: Literal["input.withdraw"]
    id: CommandId
    data: Withdrawal


class SteerGeneration(Body):
    """Adds to what an agent works on, before it ends."""

    type: Literal["generation.steer"]
    id: CommandId
    data: Steering


class CancelJob(Body):
    """Asks a background job to stop; for hosts."""

    type: Literal["job.cancel"]
    id: CommandId
    data: JobCancellation


class MarkRead(Body):
    """Says that the holder of the participant key has seen a message."""

    type: Literal["message.read"]
    id: CommandId
    data: Reading


class AnswerQuestion(Body):
    """Answers a question that an agent has asked, as the holder of the participant key or as a host; the first answer ends it."""

    type: Literal["question.answer"]
    id: CommandId
    data: QuestionAnswer


class DismissQuestion(Body):
    """Ends a question without an answer, of which its agent is told."""

    type: Literal["question.dismiss"]
    id: CommandId
    data: QuestionDismissal


class PressKeys(Body):
    """Presses keys, as the holder of the participant key: digit n picks option n of the question that was said aloud last."""

    type: Literal["keypad.press"]
    id: CommandId
    data: Keys


QuestionCommand = AnswerQuestion | DismissQuestion
TextCommand = Submit | WithdrawInput | SteerGeneration
Command = TextCommand | CancelGeneration | CancelJob | MarkRead | QuestionCommand | PressKeys

Code = Literal[
    "already_ended",
    "bad_command",
    "id_reused",
    "not_active",
    "not_allowed",
    "not_found",
    "not_here",
    "not_stored",
    "refused",
    "too_many",
    "unknown_command",
    "unreachable",
]


class Problem(Body):
    """Why a command was not accepted: `code` for programs, `message` for people."""

    code: Code
    message: str


class Ack(Body):
    """A command's one answer. `disposition`: how far what it asked for has come, and of a settled text how; sending the
    command again asks anew. `duplicate`: it had been accepted before, and was not done again."""

    id: str | None = Field(description="The command's id; null when it had none that can be read.")
    accepted: bool
    duplicate: bool = False
    disposition: ReceiptDisposition | Disposition | Literal["requested", "read", "dismissed"]
    input_id: str | None = None
    generation_id: str | None = None
    question: dict[str, JsonValue] | None = Field(None, description="Of a question: how it stands now, as the inbox tells it.")
    error: Problem | None = None

    def as_json(self) -> dict[str, JSON]:
        """As it is sent: without what it has nothing to say of."""
        return {"id": self.id, **self.model_dump(exclude_none=True)}

    @classmethod
    def refusal(cls, id: str | None, code: Code, message: str) -> "Ack":
        """A command that did nothing."""
        return cls(id=id, accepted=False, disposition="refused", error=Problem(code=code, message=message))


_COMMAND: Final[TypeAdapter[Command]] = TypeAdapter(Annotated[Command, Field(discriminator="type")])


def parse(text: str | bytes) -> Command | Ack:
    """The command in JSON text; for what is none, the acknowledgement that says why."""
    id: str | None = None
    try:
        value: Any = from_json(text)
        id = _id_of(value)
        return _COMMAND.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        if first["type"] == "union_tag_invalid":
            known = ", ".join(sorted(_names()))
            return Ack.refusal(id, "unknown_command", f"there is no such command; known are {known}")
        return Ack.refusal(id, "bad_command", told_of(error))
    except ValueError:
        return Ack.refusal(None, "bad_command", "a command is one JSON object with type, id and data")


def parsed(text: bytes) -> Command:
    """The same for who answers by a status. Raises Refused 400."""
    command = parse(text)
    if isinstance(command, Ack):
        raise Refused(400, command.error.message if command.error is not None else "no command")
    return command


def digest(command: Command) -> str:
    """What a command asks for, to tell whether an id was used for something else; 32 characters."""
    return hashlib.sha256(f"{command.type} {command.data.model_dump_json()}".encode()).hexdigest()[:32]


def _id_of(value: object) -> str | None:
    id = value.get("id") if isinstance(value, dict) else None
    return id if isinstance(id, str) and len(id) <= 64 else None


def _names() -> set[str]:
    return {str(kind.model_fields["type"].annotation.__args__[0]) for kind in Command.__args__}
