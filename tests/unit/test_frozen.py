"""Metadata and contents as a committed event holds them."""

import copy
import json
import pickle
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest

from voiceagent.room.codec import decode_event, encode_event, event_json
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent, ToolCallContent
from voiceagent.room.frozen import DEEPEST, frozen, thawed, whole_content, whole_text


class Colour(StrEnum):
    RED = "red"


GIVEN: dict[str, Any] = {"a": [1, (2.5, True), None], "b": {"c": {"d": "e"}}, "f": Colour.RED, "g": float("nan")}
STANDS = {"a": [1, [2.5, True], None], "b": {"c": {"d": "e"}}, "f": "red", "g": None}
EVENT = RoomEvent("e", "r", EventSource("text", ChannelType.TEXT), TextContent("x"), datetime(2026, 1, 1, tzinfo=UTC))


def test_what_is_frozen_is_equal_and_reads_as_json() -> None:
    made = frozen(GIVEN)
    assert made == STANDS
    assert json.loads(json.dumps(made)) == STANDS
    event = replace(EVENT, metadata=made)
    assert event_json(event)["metadata"] == STANDS
    assert decode_event(encode_event(event)).metadata == STANDS


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value)), thawed])
def test_a_copy_may_be_changed(copied: Any) -> None:
    made = frozen(GIVEN)
    other = copied(made)
    other["a"] = 1
    assert made == STANDS


def test_a_deep_copy_may_be_changed_within() -> None:
    other = thawed(frozen(GIVEN))
    assert isinstance(other, dict)
    other["b"]["c"]["d"] = "changed"  # type: ignore[index,call-overload]
    other["a"].append(1)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.pop("a"),
        lambda d: d.update(a=1),
        lambda d: d.setdefault("z", 1),
        lambda d: d.clear(),
        lambda d: d["a"].append(1),
        lambda d: d["a"].__setitem__(0, 1),
        lambda d: d["a"].__iadd__([1]),
        lambda d: d["a"][1].sort(),
        lambda d: d["b"]["c"].__delitem__("d"),
    ],
)
def test_nothing_in_it_can_be_changed(change: Any) -> None:
    made = frozen(GIVEN)
    with pytest.raises(TypeError, match="cannot be changed"):
        change(made)
    assert made == STANDS


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["again"] = value
    return value


@pytest.mark.parametrize("value", [None, [], "text", {1: 2}, {"a": 1j}, {"a": [b"x"]}, {"a": {1}}, endless()], ids=repr)
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="metadata"):
        frozen(value)


def test_how_deep_it_may_go() -> None:
    value: Any = "x"
    for _ in range(DEEPEST - 1):
        value = [value]
    frozen({"a": value})
    with pytest.raises(ValueError, match="nested deeper"):
        frozen({"a": [value]})


@pytest.mark.parametrize(
    ("text", "whole"),
    [("plain", "plain"), ("é\0😀", "é\0😀"), ("\ud83d\ude00", "😀"), ("a\ud83d", "a\ufffd"), ("\ude00\ud83d", "\ufffd\ufffd")],
    ids=ascii,
)
def test_halves_of_characters_are_joined_or_replaced(text: str, whole: str) -> None:
    assert whole_text(text) == whole


def test_contents_are_made_whole_or_refused() -> None:
    assert whole_content(ToolCallContent("c", "t", result="\ud800")) == ToolCallContent("c", "t", result="\ufffd")
    wrong: list[Any] = [None, "text", TextContent(None), TextContent("x", "tool_call"), ToolCallContent("c", "t", error=5)]  # type: ignore[arg-type]
    for content in wrong:
        with pytest.raises(ValueError, match="content"):
            whole_content(content)
