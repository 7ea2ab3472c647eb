"""What was measured: stretches of time of one turn, and the trace that they make together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["turn", "hear", "transcribe", "decide", "think", "generate", "chat", "tool", "speak"]
"""`turn` is the whole; `chat` (a request to the model) and `tool` are parts of `generate`, the others of the turn."""

Value = str | int | bool


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch from `start` to `end`, in milliseconds of clock.now().

    `of` is the generation that it belongs to, `first` when its first words were there, `error` the class of what ended it.
    `attributes` hold ids, names and numbers; nothing that anybody said.
    """

    stage: Stage
    start: int
    end: int
    of: str = ""
    first: int | None = None
    error: str | None = None
    attributes: Mapping[str, Value] = field(default_factory=dict)

    @property
    def ms(self) -> int:
        """How long it took."""
        return max(0, self.end - self.start)


@dataclass(frozen=True, slots=True)
class Trace:
    """A turn that is over: the whole and its parts, in the order in which they ended.

    `since_1970_ms` is what clock.now() lacks to milliseconds since 1970 UTC.
    """

    room_id: str
    root: Span
    parts: tuple[Span, ...]
    since_1970_ms: int
