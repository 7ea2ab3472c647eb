"""The realtime door's values: sound in and out, what holds of a session, client events, items, a client's functions."""

import asyncio
import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.audio.convert import encode_mulaw
from voiceagent.audio.frame import Samples
from voiceagent.errors import WebError
from voiceagent.llm.model import ToolCall
from voiceagent.values import JSON
from voiceagent.web.realtime import items as made
from voiceagent.web.realtime.asked import Append, CreateResponse, Mistake, parse
from voiceagent.web.realtime.buffer import MOST_MS, Buffer
from voiceagent.web.realtime.functions import Functions
from voiceagent.web.realtime.items import MOST, Items
from voiceagent.web.realtime.sound import Format, SoundIn, SoundOut
from voiceagent.web.realtime.terms import Terms


def sine(rate: int, ms: int) -> Samples:
    return (8_000 * np.sin(2 * np.pi * 440 * np.arange(rate * ms // 1000) / rate)).astype(np.int16)


@pytest.mark.parametrize("format", list(Format))
def test_sound_goes_out_and_comes_back_as_it_was(format: Format) -> None:
    wanted, out, back = sine(16_000, 400), SoundOut(format), SoundIn(format)
    pieces = [out.piece(wanted[at : at + 320]) for at in range(0, wanted.size, 320)] + [out.rest()]
    heard = np.concatenate([*(back.read(piece) for piece in pieces), back.rest()])
    assert heard.size == wanted.size
    middle = slice(800, -800)
    spectra = [np.abs(np.fft.rfft(sound[middle] * np.hanning(heard.size - 1_600))) for sound in (heard, wanted)]
    away = np.abs(spectra[0] - spectra[1]).max() / spectra[1].max()
    assert away < (0.001 if format is Format.PCM else 0.02)
    shift = int(np.argmax(np.correlate(heard[middle].astype(float), wanted[middle][8:-8].astype(float)))) - 8
    assert abs(shift) < 8, "it is moved by half a millisecond"


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20))
def test_pieces_may_end_in_the_middle_of_a_sample(cuts: list[int]) -> None:
    data = sine(24_000, 60).tobytes()
    whole = SoundIn(Format.PCM)
    wanted = np.concatenate((whole.read(base64.b64encode(data).decode()), whole.rest()))
    split, at, heard = SoundIn(Format.PCM), 0, []
    for size in [*cuts, len(data)]:
        heard.append(split.read(base64.b64encode(data[at : at + size]).decode()))
        at += size
    assert np.array_equal(np.concatenate((*heard, split.rest())), wanted)


@pytest.mark.parametrize("text", ["%%%", "A", "AA=A", "\u00e9"])
def test_what_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(WebError):
        SoundIn(Format.PCMU).read(text)


def test_g711_is_read_by_its_table() -> None:
    codes = encode_mulaw(np.full(800, 1_000, dtype=np.int16))
    heard = SoundIn(Format.PCMU).read(base64.b64encode(codes).decode())
    assert heard.size >= 1_600 - 30 * 16, "a live line holds back 30 ms at most"
    assert abs(int(heard[heard.size // 2]) - 1_000) < 40


# -- terms ---------------------------------------------------------------------------------------------------------------


def shown(terms: Terms) -> dict[str, JSON]:
    session = terms.as_json({"id": "sess_1"})
    json.dumps(session)
    return session


def test_only_what_is_named_changes() -> None:
    tool: JSON = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
    first = Terms().updated({"type": "realtime", "instructions": "Be brief.", "tools": [tool]})
    second = first.updated({"audio": {"output": {"format": {"type": "audio/pcmu"}}}})
    assert (second.instructions, second.tools, second.input, second.output) == (
        "Be brief.",
        first.tools,
        Format.PCM,
        Format.PCMU,
    )
    assert second.updated({"tools": [], "instructions": ""}) == Terms(output=Format.PCMU)


def test_null_turns_turn_detection_and_transcripts_off() -> None:
    audio: JSON = {"input": {"turn_detection": None, "transcription": None}}
    terms = Terms().updated({"audio": audio})
    assert (terms.turns, terms.answers, terms.transcripts) == (None, False, False)
    again = terms.updated({"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}})
    assert (again.turns, again.answers, again.transcripts) == ("semantic_vad", True, False)


def test_the_session_shows_what_holds_and_not_what_was_asked() -> None:
    vad: JSON = {"type": "server_vad", "threshold": 0.9, "interrupt_response": False, "silence_duration_ms": 1}
    session = shown(Terms().updated({"audio": {"input": {"turn_detection": vad}}, "tool_choice": "required", "voice": "marin"}))
    audio = session["audio"]
    assert isinstance(audio, dict) and isinstance(audio["input"], dict)
    assert audio["input"]["turn_detection"] == {"type": "server_vad", "create_response": True, "interrupt_response": True}
    assert session["tool_choice"] == "auto"


def test_the_first_versions_names_are_understood() -> None:
    old: JSON = {
        "modalities": ["text"],
        "input_audio_format": "g711_ulaw",
        "output_audio_format": "g711_alaw",
        "turn_detection": None,
    }
    terms = Terms().updated(old)
    assert (terms.text_only, terms.input, terms.output, terms.turns) == (True, Format.PCMU, Format.PCMA, None)


@pytest.mark.parametrize(
    "session",
    [
        7,
        {"type": "transcription"},
        {"tools": [{"type": "mcp", "server_label": "x"}]},
        {"tools": [{"type": "function"}]},
        {"tools": [{"type": "function", "name": "no name"}]},
        {"audio": {"input": {"format": {"type": "audio/opus"}}}},
        {"audio": {"output": {"format": {"type": "audio/pcm", "rate": 8000}}}},
        {"max_output_tokens": 0},
    ],
)
def test_what_cannot_hold_is_a_mistake_that_names_its_place(session: JSON) -> None:
    with pytest.raises(Mistake) as mistake:
        Terms().updated(session)
    assert str(mistake.value.param).startswith("session")


# -- client events -------------------------------------------------------------------------------------------------------


def test_events_are_read_and_their_names_kept() -> None:
    assert parse('{"type":"input_audio_buffer.append","audio":"AA==","event_id":"e1","new":1}') == (
        Append(type="input_audio_buffer.append", audio="AA==", event_id="e1"),
        "e1",
    )
    asked, _ = parse('{"type":"response.create","response":{"metadata":{"a":"b"},"audio":{}}}')
    assert isinstance(asked, CreateResponse) and asked.response is not None and asked.response.metadata == {"a": "b"}


@given(
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    ).map(json.dumps)
)
def test_no_frame_raises(frame: str) -> None:
    asked, _ = parse(frame)
    assert isinstance(asked, Mistake)
    error = asked.as_json(None)
    assert error["type"] == "error"
    json.dumps(error)


# -- items ---------------------------------------------------------------------------------------------------------------


def test_items_stand_in_order_and_the_oldest_is_forgotten() -> None:
    items = Items()
    added = [items.add(made.typed(f"i{n}", "x")) for n in range(MOST + 1)]
    assert [event["previous_item_id"] for event in added[:3]] == [None, "i0", "i1"]
    assert "i0" not in items and f"i{MOST}" in items
    assert items.delete("i5") and not items.delete("i5")
    assert items.done("i5") == []
    assert items.done("i6")[0]["previous_item_id"] == "i4"


def test_an_event_that_was_made_does_not_change() -> None:
    items = Items()
    event = items.add(made.heard("i"))
    items.change("i", status="incomplete")
    assert isinstance(event["item"], dict) and event["item"]["status"] == "completed"


def test_a_buffer_is_bounded() -> None:
    buffer = Buffer()
    assert buffer.add(np.zeros(16 * MOST_MS, dtype=np.int16))
    assert not buffer.add(np.zeros(1, dtype=np.int16))
    assert buffer.take().size == 16 * MOST_MS
    assert buffer.ms == 0


# -- functions -----------------------------------------------------------------------------------------------------------


async def test_a_call_is_told_once_both_the_answer_and_its_feed_have_come_to_it() -> None:
    told: list[tuple[str, str, ToolCall]] = []
    functions = Functions(lambda generation, call_id, call: told.append((generation, call_id, call)))
    call = ToolCall("1", "weather", "{}")
    for first_seen in (True, False):
        told.clear()
        if first_seen:
            functions.seen("g", "1")
        running = asyncio.create_task(functions.run("g", call))
        await asyncio.sleep(0)
        if not first_seen:
            assert not told
            functions.seen("g", "1")
        (generation, call_id, _) = told[0]
        assert generation == "g" and call_id != call.id
        ready = [functions.ready]
        assert functions.answer(call_id, "rain") and not functions.answer(call_id, "sun")
        await asyncio.sleep(0)
        assert not running.done(), "the next response has not been asked for"
        ready.append(functions.ready)
        functions.release()
        assert [*ready, functions.ready] == [None, "g", None]
        assert (await running).result == "rain"
        assert not functions.answer(call_id, "too late")


async def test_a_client_that_leaves_leaves_no_call_waiting() -> None:
    functions = Functions(lambda *_: None)
    running = asyncio.create_task(functions.run("g", ToolCall("1", "weather", "{}")))
    await asyncio.sleep(0)
    functions.close()
    assert (await running).error
