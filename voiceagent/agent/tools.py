"""Tools: a plain async function with type hints becomes something that a model may call."""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from voiceagent.llm.model import ToolCall, ToolSpec
from voiceagent.room.bounded import TooLateError, bounded
from voiceagent.room.frozen import whole_text
from voiceagent.values import JSON

LONGEST_RESULT = 20_000


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call, what the model is told of it, and the shape of its arguments."""

    spec: ToolSpec
    function: Callable[..., Awaitable[object]]
    arguments: type[BaseModel]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to: text for the model, or why it failed."""

    result: str | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """What the model reads."""
        return self.result if self.result is not None else f"error: {self.error}"


def tool(function: Callable[..., Awaitable[object]]) -> Tool:
    """Makes a tool of an async function: its name, docstring and type hints are what the model sees.

    Raises TypeError, naming the parameter, when the function is not async or a parameter has no type hint.
    """
    name = getattr(function, "__name__", "tool")
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"tool {name}: make it an async function")
    hints = get_type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"tool {name}: *{parameter.name} cannot be described to a model; name each parameter")
        if parameter.name not in hints:
            raise TypeError(f"tool {name}: give parameter {parameter.name!r} a type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    shape = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    schema: dict[str, JSON] = shape.model_json_schema()
    schema.pop("title", None)
    return Tool(ToolSpec(name, inspect.getdoc(function) or name, schema), function, shape)


class Toolbox:
    """An agent's tools by name. A tool that fails costs its call: the model reads why."""

    def __init__(self, tools: Iterable[Tool | Callable[..., Awaitable[object]]], timeout_ms: int) -> None:
        made = [t if isinstance(t, Tool) else tool(t) for t in tools]
        self._tools: Mapping[str, Tool] = {t.spec.name: t for t in made}
        if len(self._tools) != len(made):
            raise ValueError("two tools have the same name: rename one")
        self._timeout_ms = timeout_ms

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told."""
        return [t.spec for t in self._tools.values()]

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Runs one call, within its time; never raises for what the tool or the model did wrong."""
        known = self._tools.get(call.name)
        if known is None:
            return ToolOutcome(error=f"there is no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
        try:
            arguments = known.arguments.model_validate_json(call.arguments or "{}")
        except ValidationError as error:
            return ToolOutcome(error=_complaints(error))
        try:
            given = {name: getattr(arguments, name) for name in type(arguments).model_fields}
            result = _as_text(await bounded(known.function(**given), self._timeout_ms))
        except TooLateError:
            return ToolOutcome(error=f"{call.name} took longer than {self._timeout_ms} ms")
        except Exception as error:  # noqa: BLE001 - a tool's failure is the model's to read
            return ToolOutcome(error=whole_text(f"{type(error).__name__}: {error}"[:LONGEST_RESULT]))
        return ToolOutcome(result=whole_text(result))


def _complaints(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors())


def _as_text(result: object) -> str:
    if isinstance(result, str):
        return result[:LONGEST_RESULT]
    if isinstance(result, BaseModel):
        return result.model_dump_json()[:LONGEST_RESULT]
    try:
        return json.dumps(result, default=str, ensure_ascii=False)[:LONGEST_RESULT]
    except (TypeError, ValueError, RecursionError):
        return repr(result)[:LONGEST_RESULT]
