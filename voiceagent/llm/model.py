"""What a language model must offer, and the values that pass through it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

from voiceagent.llm.marks import Marks
from voiceagent.values import JSON

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool; `arguments` is the JSON text it wrote, not yet checked."""

    id: str
    name: str
    arguments: str


NOTE_MARK: Final = "[Note from the application, not from the person]"
INSTRUCTION_MARK: Final = "[Instruction from the application]"
CUT_MARK: Final = "[You were interrupted while saying this: the person may not have heard the end of it.]"

_MARKS: Final = Marks((NOTE_MARK, INSTRUCTION_MARK, CUT_MARK))
_INDENT: Final = "\n    "


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of what a model reads.

    `content` is what was said, as it was said. `name` labels who speaks in a room of several people. `notes` are the host's own
    words about this turn. Models that take one text a message send `rendered()`.
    """

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    notes: tuple[str, ...] = ()
    instruction: bool = False

    def rendered(self) -> str:
        """Label, words and notes as one text, in which nobody's words can pass for the application's or for another person's.

        The later lines of what is said under a label are indented.
        """
        text = self.content if self.role in ("system", "assistant") else _MARKS.taken_out(self.content)
        if self.name is not None:
            text = f"{_MARKS.taken_out(' '.join(self.name.split()))}: {_INDENT.join(text.splitlines())}"
        if self.instruction:
            text = f"{INSTRUCTION_MARK}\n{text}"
        return "\n\n".join((text, *(f"{NOTE_MARK}\n{note}" for note in self.notes)))


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything one model call reads. `schema`, when given, asks for JSON that fits it."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    schema: Mapping[str, JSON] | None = None
    reasoning_effort: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The model has finished this call; `usage` counts tokens by kind where the model says."""

    reason: Literal["stop", "length", "tool_calls", "filtered"] = "stop"
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Steered:
    """What a model that takes input while it answers knows of such an input: accepted into its conversation, while the response
    `response_id` ran; applied, by the response `response_id` that now begins; or failed."""

    input_id: str
    state: Literal["accepted", "applied", "failed"]
    response_id: str = ""


Chunk = TextDelta | ToolCall | Done | Steered


class LanguageModel(Protocol):
    """A stream of text and tool calls from a prompt."""

    @property
    def name(self) -> str:
        """What the page and the logs call it, such as `notes` or `gpt-4o-mini`."""
        ...

    def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields deltas and whole tool calls, and Done last. Closing the iterator stops the model.

        Raises LanguageModelError, whose text holds no prompt, key or body.
        """
        ...


@runtime_checkable
class KeepsPlace(Protocol):
    """A model to which each request is one step further in what it says has such an attribute, and is never asked ahead."""

    @property
    def keeps_place(self) -> bool:
        """Whether a request that is thrown away changes what the next one brings."""
        ...


@runtime_checkable
class FollowsSchemas(Protocol):
    """A model that can be held to a JSON schema says so."""

    @property
    def schemas(self) -> bool:
        """Whether `Prompt.schema` binds what the model writes."""
        ...


def follows_schemas(model: LanguageModel) -> bool:
    """Whether a model can be held to a JSON schema."""
    return isinstance(model, FollowsSchemas) and model.schemas
