"""Events and participants survive being written as JSON text, and bad text is refused."""

import json
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.errors import StoreError
from voiceagent.room.codec import (
    decode_event,
    decode_participant,
    encode_event,
    encode_participant,
    escape,
    event_json,
    unescape,
)
from voiceagent.room.events import (
    ChannelType,
    Content,
    Direction,
    EventSource,
    EventStatus,
    EventType,
    Participant,
    RecordingContent,
    Role,
    RoomEvent,
    SystemContent,
    TextContent,
    ToolCallContent,
)
from voiceagent.values import JSON

_NAMES = st.text(max_size=12)
_MAYBE = st.none() | _NAMES
_JSON: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)
_CONTENTS: st.SearchStrategy[Content] = st.one_of(
    st.builds(TextContent, _NAMES),
    st.builds(ToolCallContent, _NAMES, _NAMES, _NAMES, _MAYBE, _MAYBE),
    st.builds(SystemContent, _NAMES, _NAMES),
    st.builds(RecordingContent, _NAMES, st.integers(0, 10**9), _NAMES),
)
_EVENTS = st.builds(
    RoomEvent,
    id=_NAMES,
    room_id=_NAMES,
    source=st.builds(EventSource, _NAMES, st.sampled_from(ChannelType), st.sampled_from(Direction), _MAYBE),
    content=_CONTENTS,
    created_at=st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-3, minutes=-30))])),
    type=st.sampled_from(EventType),
    status=st.sampled_from(EventStatus),
    blocked_by=_MAYBE,
    visibility=_NAMES,
    addressed_to=st.none() | st.lists(_NAMES, max_size=3).map(tuple),
    response_visibility=_MAYBE,
    index=st.none() | st.integers(0, 2**62),
    chain_depth=st.integers(0, 99),
    parent_event_id=_MAYBE,
    responds_to=_MAYBE,
    correlation_id=_MAYBE,
    idempotency_key=_MAYBE,
    metadata=st.dictionaries(_NAMES, _JSON, max_size=3),
)


_HELLO = TextContent("hello")


def _event(content: Content = _HELLO, **metadata: JSON) -> RoomEvent:
    source = EventSource("voice", ChannelType.VOICE)
    return RoomEvent("e1", "r1", source, content, datetime(2026, 1, 1, tzinfo=UTC), index=0, metadata=metadata)


@settings(max_examples=50)
@given(_EVENTS)
def test_an_event_is_read_as_it_was_written(event: RoomEvent) -> None:
    assert decode_event(encode_event(event)) == event
    assert json.loads(encode_event(event)) == event_json(event)


@given(st.builds(Participant, _NAMES, _MAYBE, st.sampled_from(Role), st.lists(_NAMES, max_size=3).map(tuple), st.booleans()))
def test_a_participant_is_read_as_it_was_written(participant: Participant) -> None:
    assert decode_participant(encode_participant(participant)) == participant


def test_types_of_metadata_stay() -> None:
    read = decode_event(encode_event(_event(a=True, b=1, c=1.0, d="1", e=[None, {"f": False}])))
    assert [type(read.metadata[key]) for key in "abcd"] == [bool, int, float, str]
    assert read.metadata["e"] == [None, {"f": False}]


def test_a_read_only_mapping_is_metadata_too() -> None:
    source = EventSource("voice", ChannelType.VOICE)
    event = RoomEvent("e", "r", source, TextContent(""), datetime(2026, 1, 1, tzinfo=UTC), metadata=MappingProxyType({"a": 1}))
    assert decode_event(encode_event(event)).metadata == {"a": 1}


def test_fields_of_a_newer_version_are_left_out() -> None:
    value = json.loads(encode_event(_event()))
    value["mood"] = {"new": 1}
    value["source"]["device"] = "phone"
    value["content"]["language"] = "es"
    assert decode_event(json.dumps(value)) == _event()


def test_a_field_of_a_later_version_that_is_missing_reads_its_default() -> None:
    value = json.loads(encode_event(_event()))
    for name in ("responds_to", "idempotency_key", "metadata", "chain_depth"):
        del value[name]
    assert decode_event(json.dumps(value)) == _event()


def test_numbers_that_json_has_not_become_null() -> None:
    assert decode_event(encode_event(_event(level=float("nan")))).metadata == {"level": None}


@pytest.mark.parametrize("text", ["", "{", "null", "[]", "{}", "\ud800", b"\xff", '{"id": 1}'])
def test_a_bad_row_is_a_store_error(text: str | bytes) -> None:
    with pytest.raises(StoreError, match="event cannot be read"):
        decode_event(text)
    with pytest.raises(StoreError, match="participant cannot be read"):
        decode_participant(text)


def test_content_of_an_unknown_kind_is_a_store_error() -> None:
    with pytest.raises(StoreError, match="content"):
        decode_event(encode_event(_event()).replace('"kind":"text"', '"kind":"card"'))


@given(st.text(st.sampled_from("a0\\\0"), max_size=8))
def test_ids_without_nul_are_the_same_ids_again(text: str) -> None:
    assert "\0" not in escape(text)
    assert unescape(escape(text)) == text


def test_the_error_does_not_repeat_the_stored_words() -> None:
    with pytest.raises(StoreError) as caught:
        decode_event(encode_event(_event(TextContent("my secret"))).replace('"direction":"inbound"', '"direction":"secret too"'))
    assert "source.direction" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_metadata_that_is_not_json_is_a_store_error() -> None:
    with pytest.raises(StoreError, match="'e1' cannot be written"):
        encode_event(_event(a=object()))  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="'e1' cannot be written"):
        event_json(_event(a=object()))  # type: ignore[arg-type]


def test_text_that_utf8_cannot_hold_is_a_store_error() -> None:
    with pytest.raises(StoreError, match="'e1' cannot be written"):
        encode_event(_event(TextContent("\ud800")))
    with pytest.raises(StoreError, match="cannot be written"):
        encode_participant(Participant("p", "\ud800"))
