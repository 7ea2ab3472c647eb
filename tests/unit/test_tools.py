"""Tools: what a model is told of a function, and what becomes of its calls."""

import asyncio
import json
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from voiceagent.agent.tools import LONGEST_RESULT, Tool, Toolbox, ToolOutcome, tool
from voiceagent.clock import VirtualLoop
from voiceagent.llm.model import ToolCall


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"


class Place(BaseModel):
    city: str
    zip: int | None = None


async def order(what: str, count: int = 1, size: Size = Size.SMALL, to: Place | None = None) -> str:
    """Orders something.

    It is brought to the place.
    """
    return f"{count} {size} {what} to {to.city if to else 'here'}"


async def call(toolbox: Toolbox, name: str, arguments: str) -> ToolOutcome:
    return await toolbox.run(ToolCall("c", name, arguments))


def test_the_models_view_is_the_functions_name_docstring_and_hints() -> None:
    spec = tool(order).spec
    assert spec.name == "order"
    assert spec.description == "Orders something.\n\nIt is brought to the place."
    properties = spec.parameters["properties"]
    assert isinstance(properties, dict)
    assert spec.parameters["required"] == ["what"]
    assert spec.parameters["additionalProperties"] is False
    assert list(properties) == ["what", "count", "size", "to"]
    assert "integer" in json.dumps(properties["count"])
    assert json.loads(json.dumps(spec.parameters)) == spec.parameters


async def choose(which: Literal["a", "b"], *, many: list[int]) -> None:
    return None


def test_choices_and_lists_are_told() -> None:
    text = json.dumps(tool(choose).spec.parameters)
    assert '"enum": ["a", "b"]' in text
    assert '"items": {"type": "integer"}' in text
    assert tool(choose).spec.description == "choose"


def plain(x: int) -> int:
    return x


async def untyped(x) -> None:  # type: ignore[no-untyped-def]
    return None


async def rest(*args: int) -> None:
    return None


async def options(**more: int) -> None:
    return None


@pytest.mark.parametrize(("function", "named"), [(plain, "async"), (untyped, "'x'"), (rest, "args"), (options, "more")])
def test_what_cannot_be_described_is_refused_by_name(function: object, named: str) -> None:
    with pytest.raises(TypeError, match=named):
        tool(function)  # type: ignore[call-overload]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        Toolbox([order, tool(order)], 1000)


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ('{"what": "tea"}', "1 small tea to here"),
        ('{"what": "tea", "count": "2", "size": "large"}', "2 large tea to here"),
        ('{"what": "tea", "to": {"city": "Lyon"}}', "1 small tea to Lyon"),
    ],
)
async def test_a_call_is_checked_and_run(arguments: str, result: str) -> None:
    assert await call(Toolbox([order], 1000), "order", arguments) == ToolOutcome(result=result)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "what: "),
        ("{}", "what: "),
        ("[]", "arguments: "),
        ("not JSON", "arguments: "),
        ('{"what": "tea", "count": "many"}', "count: "),
        ('{"what": "tea", "huge": 1}', "huge: "),
        ('{"what": "tea", "to": {}}', "to.city: "),
    ],
)
async def test_a_wrong_call_is_told_what_is_wrong(arguments: str, complaint: str) -> None:
    outcome = await call(Toolbox([order], 1000), "order", arguments)
    assert outcome.result is None
    assert complaint in outcome.text
    assert outcome.text.startswith("error: ")


async def test_an_unknown_tool_is_told_which_there_are() -> None:
    assert "there are: order" in (await call(Toolbox([order], 1000), "odrer", "{}")).text
    assert "none" in (await call(Toolbox([], 1000), "x", "{}")).text


async def fails() -> None:
    raise ValueError("the shop is closed")


async def hangs() -> None:
    await asyncio.Event().wait()


async def test_a_failing_tool_costs_its_call() -> None:
    assert (await call(Toolbox([fails], 1000), "fails", "{}")).error == "ValueError: the shop is closed"


async def test_a_hanging_tool_is_given_up() -> None:
    outcome = await call(Toolbox([hangs], 5), "hangs", "{}")
    assert outcome.error == "hangs took longer than 5 ms"


class Loop(BaseModel):
    again: "Loop | None" = None


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("x" * 100_000, "x" * LONGEST_RESULT),
        (["y" * 100_000], '["' + "y" * (LONGEST_RESULT - 2)),
        (Place(city="Lyon"), '{"city":"Lyon","zip":null}'),
        ({"a": [1, None, "é"]}, '{"a": [1, null, "é"]}'),
        (None, "null"),
        (Size.LARGE, "large"),
        ({1: object}, None),
    ],
    ids=["long text", "long list", "model", "dict", "none", "enum", "odd"],
)
async def test_whatever_a_tool_returns_is_text_of_bounded_length(result: object, text: str | None) -> None:
    async def give() -> object:
        return result

    outcome = await call(Toolbox([give], 1000), "give", "{}")
    assert outcome.result is not None
    assert len(outcome.result) <= LONGEST_RESULT
    assert text is None or outcome.result == text


class Circle(list[object]):
    """Holds itself."""

    def __init__(self) -> None:
        super().__init__([self])


@pytest.mark.parametrize("odd", [Circle(), {("a", "b"): 1}, {1, 2}, b"\xff", float("nan")], ids=repr)
async def test_what_cannot_be_written_as_json_costs_the_call_at_most(odd: object) -> None:
    async def give() -> object:
        return odd

    outcome = await call(Toolbox([give], 1000), "give", "{}")
    assert outcome.text


@given(st.text(max_size=50))
def test_no_arguments_raise(arguments: str) -> None:
    loop = VirtualLoop()
    try:
        assert loop.run_until_complete(call(Toolbox([order], 1000), "order", arguments)).text
    finally:
        loop.close()


def test_a_tool_may_be_made_by_hand() -> None:
    made = tool(order)
    assert Toolbox([Tool(made.spec, made.function, made.arguments)], 1000).specs == [made.spec]


async def test_a_tool_that_needs_a_yes_is_not_run_but_says_what_would_be_and_how() -> None:
    ran: list[str] = []

    @tool(approval="Pay it?")
    async def pay(amount: int, currency: str = "EUR") -> str:
        """Pays."""
        ran.append(f"{amount} {currency}")
        return "paid"

    box = Toolbox([pay, tool(order, approval=True)], 1000)
    outcome = await call(box, "pay", '{"amount": 5, "amount": 7}')
    assert outcome.text == "error: not run: a person has to allow it, and nobody was asked"
    assert outcome.step is not None and ran == []
    assert (outcome.step.tool, outcome.step.question) == ("pay", "Pay it?")
    assert outcome.step.arguments == '{"amount":7,"currency":"EUR"}'
    assert (await outcome.step.take()).text == "paid"
    assert ran == ["7 EUR"]
    assert (await call(box, "pay", "{}")).step is None  # what is wrong is not asked for
    assert pay.spec.description == "Pays."
