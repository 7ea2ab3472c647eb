"""What a language model must offer, and the values that pass through it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from voiceagent.values import JSON


Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to run a tool; `arguments` is the JSON text it wrote, not yet checked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of what a model reads. `name` labels who speaks in a room of several people."""

    role: Role
    content: str
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


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


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The model has finished this call; `usage` counts tokens by kind where the model says."""

    reason: Literal["stop", "length", "tool_calls", "filtered"] = "stop"
    usage: Mapping[str, int] = field(default_factory=dict)


Chunk = TextDelta | ToolCall | Done


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
