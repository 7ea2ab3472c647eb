"""Tools: a plain async function with type hints becomes something that a model may call."""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from voiceagent.agent.job import Job
from voiceagent.llm.model import ToolCall, ToolSpec
from voiceagent.room.bounded import TooLateError, bounded
from voiceagent.room.frozen import whole_text
from voiceagent.values import JSON

LONGEST_RESULT = 20_000


Function = Callable[..., Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call, what the model is told of it, and the shape of its arguments.

    `approval`: a person has to allow every call before it runs; a text is what they are asked then.
    """

    spec: ToolSpec
    function: Function
    arguments: type[BaseModel]
    approval: bool | str = False


@dataclass(frozen=True, slots=True)
class Step:
    """A call that a person has to allow: the tool, what they are asked, the arguments as they would be used, and what runs it."""

    tool: str
    question: str
    arguments: str
    take: Callable[[], Awaitable["ToolOutcome"]]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call came to: text for the model, or why it failed; or work that the tool hands over to go on behind the turn; or
    the step that was not taken, because a person has to allow it."""

    result: str | None = None
    error: str | None = None
    job: Job | None = None
    step: Step | None = None

    @property
    def text(self) -> str:
        """What the model reads."""
        return self.result if self.result is not None else f"error: {self.error}"


@overload
def tool(function: Function, *, approval: bool | str = False) -> Tool: ...


@overload
def tool(*, approval: bool | str = False) -> Callable[[Function], Tool]: ...


def tool(function: Function | None = None, *, approval: bool | str = False) -> Tool | Callable[[Function], Tool]:
    """Makes a tool of an async function: its name, docstring and type hints are what the model sees.

    `@tool(approval=True)`, or with a question of your own: each call waits until a person has allowed it. Raises TypeError,
    naming the parameter, when the function is not async or a parameter has no type hint.
    """
    if function is None:
        return lambda function: _made(function, approval)
    return _made(function, approval)


def _made(function: Function, approval: bool | str) -> Tool:
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
    return Tool(ToolSpec(name, inspect.getdoc(function) or name, schema), function, shape, approval)


class Tools(Protocol):
    """What an answer may call."""

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told."""
        ...

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Runs one call; never raises for what the tool or the model did wrong."""
        ...


class Toolbox:
    """An agent's tools by name. A tool that fails costs its call: the model reads why."""

    def __init__(self, tools: Iterable[Tool | Function], timeout_ms: int) -> None:
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
        """Runs one call, within its time, or says what a person has to allow before; never raises for what the tool or the model
        did wrong."""
        known = self._tools.get(call.name)
        if known is None:
            return ToolOutcome(error=f"there is no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}")
        try:
            arguments = known.arguments.model_validate_json(call.arguments or "{}")
        except ValidationError as error:
            return ToolOutcome(error=complaints(error))
        if known.approval is False:
            return await self._take(known, arguments)
        question = known.approval if isinstance(known.approval, str) else f"May {call.name} be run?"
        step = Step(call.name, question, arguments.model_dump_json(fallback=repr), lambda: self._take(known, arguments))
        return ToolOutcome(error="not run: a person has to allow it, and nobody was asked", step=step)

    async def _take(self, known: Tool, arguments: BaseModel) -> ToolOutcome:
        try:
            given = {name: getattr(arguments, name) for name in type(arguments).model_fields}
            made = await bounded(known.function(**given), self._timeout_ms)
            if isinstance(made, Job):
                return ToolOutcome(job=made)
            result = as_text(made)
        except TooLateError:
            return ToolOutcome(error=f"{known.spec.name} took longer than {self._timeout_ms} ms")
        except Exception as error:  # noqa: BLE001 - a tool's failure is the model's to read
            return ToolOutcome(error=whole_text(f"{type(error).__name__}: {error}"[:LONGEST_RESULT]))
        return ToolOutcome(result=whole_text(result))


class Several:
    """Tools of several owners as one; of those with the same name the first runs."""

    def __init__(self, *owners: Tools) -> None:
        self._owners = owners

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told, each name once."""
        return joined(*(owner.specs for owner in self._owners))

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Has its owner run it; a name that none has is the last one's to refuse."""
        knows = (owner for owner in self._owners if any(spec.name == call.name for spec in owner.specs))
        return await next(knows, self._owners[-1]).run(call)


def joined(*several: Sequence[ToolSpec]) -> list[ToolSpec]:
    """What a model is told of tools of several owners: each name once, the first of those with the same."""
    named: dict[str, ToolSpec] = {}
    for spec in (spec for specs in several for spec in specs):
        named.setdefault(spec.name, spec)
    return list(named.values())


def complaints(error: ValidationError) -> str:
    """What is wrong with a call's arguments, for the model that wrote them."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in error.errors())


def as_text(result: object) -> str:
    """What a function returned, as a model reads it; at most 20,000 characters."""
    if isinstance(result, str):
        return result[:LONGEST_RESULT]
    if isinstance(result, BaseModel):
        return result.model_dump_json()[:LONGEST_RESULT]
    try:
        return json.dumps(result, default=str, ensure_ascii=False)[:LONGEST_RESULT]
    except (TypeError, ValueError, RecursionError):
        return repr(result)[:LONGEST_RESULT]
