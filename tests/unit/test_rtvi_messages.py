"""RTVI's envelope: what is read, what is refused, what is written."""

import json

import pytest

from voiceagent.errors import WebError
from voiceagent.web.rtvi.messages import LARGEST, Envelope, Message, Signal, bot_ready, read, version_of


def test_a_message_is_read_with_fields_that_are_not_known() -> None:
    message = read('{"label":"rtvi-ai","type":"client-ready","id":"a","data":{"version":"2.1.0","about":{}},"more":1}')
    assert isinstance(message, Envelope)
    assert version_of(message) == "2.1.0"


@pytest.mark.parametrize("data", ["null", '{"version":5}', "{}"])
def test_a_client_without_a_version_names_none(data: str) -> None:
    message = read(f'{{"label":"rtvi-ai","type":"client-ready","id":"a","data":{data}}}')
    assert isinstance(message, Envelope)
    assert version_of(message) == ""


def test_a_track_that_is_off_is_a_signal_and_a_ping_is_nothing() -> None:
    signal = read('{"type":"signalling","message":{"type":"trackStatus","receiver_index":0,"enabled":false}}')
    assert isinstance(signal, Signal)
    assert not signal.message.enabled
    assert read("ping: 1796040000000") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "5",
        '"text"',
        '{"label":"other","type":"a","id":"b"}',
        '{"label":"rtvi-ai","type":"a"}',
        '{"label":"rtvi-ai","type":"a","id":5}',
        '{"label":"rtvi-ai","type":"a","id":"b","data":[]}',
        '{"label":"rtvi-ai","type":"a","id":""}',
        "[" * 100_000,
        '{"a":' * 10_000,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(WebError, match="no message of RTVI"):
        read(text)


def test_an_answer_carries_its_questions_id_and_anything_else_a_number() -> None:
    assert json.loads(bot_ready("q7", {"library": "voiceagent"}).text(3)) == {
        "label": "rtvi-ai",
        "type": "bot-ready",
        "id": "q7",
        "data": {"version": "2.1.0", "about": {"library": "voiceagent"}},
    }
    assert json.loads(Message("bot-llm-started").text(3)) == {"label": "rtvi-ai", "type": "bot-llm-started", "id": "s3"}


def test_half_a_character_is_no_reason_to_send_nothing() -> None:
    assert json.loads(Message("bot-llm-text", {"text": "\ud83d"}).text(1))["data"]["text"] == "?"


def test_what_is_too_large_for_a_browser_goes_without_its_data() -> None:
    line = Message("server-message", {"v": 1, "seq": 7, "type": "room.event", "data": {"event": "ü" * LARGEST}}).text(1)
    assert len(line.encode()) < 1_000
    assert json.loads(line)["data"] == {"v": 1, "seq": 7, "type": "room.event", "too_large": True}
