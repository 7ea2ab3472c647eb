"""OpenAI's Python client on our door, with scripted engines: its turns, responses, cuts, functions and mistakes."""

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.wire.realtime_hall import HELLO, Hall, Told, client, hall, level
from voiceagent.audio.convert import decode_alaw, decode_mulaw, encode_alaw, encode_mulaw
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import Pause
from voiceagent.room.sqlite import SqliteStore

SECRET = "s" * 40

SENTENCE = "The parcel is on its way to you now."
LONG = "It goes on and on, and on and on it goes, until somebody says that it is enough of it."


async def test_speech_is_heard_and_answered_aloud_in_the_protocols_order() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.until("session.created")
        await person.append(level(600))
        done = await person.until("response.done")
        names = [event["type"] for event in person.told if not event["type"].endswith("delta")]
        assert names[:2] == ["session.created", "conversation.created"]
        response = done["response"]
        assert response["status"] == "completed" and response["status_details"]["type"] == "completed"
        assert response["metadata"]["generation_id"]
        assert response["output"][0]["content"][0]["transcript"] == SENTENCE
        assert names[2:] == [
            "input_audio_buffer.speech_started",
            "input_audio_buffer.speech_stopped",
            "input_audio_buffer.committed",
            "conversation.item.added",
            "conversation.item.done",
            "conversation.item.input_audio_transcription.completed",
            "response.created",
            "response.output_item.added",
            "conversation.item.added",
            "response.content_part.added",
            "response.output_audio.done",
            "response.output_audio_transcript.done",
            "response.content_part.done",
            "response.output_item.done",
            "conversation.item.done",
            "response.done",
        ]
        assert (await person.until("conversation.item.input_audio_transcription.completed"))["transcript"] == "hello"
        said = "".join(event["delta"] for event in person.all("response.output_audio_transcript.delta"))
        assert said == SENTENCE
        sound = person.sound()
        assert abs(sound.size / 24 - len(SENTENCE) * 20) < 60
        assert abs(int(sound[sound.size // 2]) - 5_000) < 100


async def test_sound_is_sent_at_the_pace_of_sound() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.write("hello")
        await person.until("response.done")
        at = [when for event, when in zip(person.told, person.at, strict=True) if event["type"] == "response.output_audio.delta"]
        ahead = max(20 * n - (when - at[0]) * 1000 for n, when in enumerate(at))
        assert ahead < 150, "the listener is sent more than it can have played"


async def test_speech_over_an_answer_cuts_it_and_the_rest_is_told_as_unheard() -> None:
    async with hall([LONG, "Yes?"], ms_a_letter=50) as there, client(there.url) as person:
        await person.write("hello")
        await person.until("response.output_audio.delta", count=25)
        await person.speak(level(700))
        cut = await person.until("response.done")
        assert cut["response"]["status"] == "cancelled"
        assert cut["response"]["status_details"]["reason"] == "turn_detected"
        item = cut["response"]["output"][0]
        heard = item["content"][0]["transcript"]
        assert LONG.startswith(heard) and 0 < len(heard) < len(LONG) // 2
        names = [event["type"] for event in person.told]
        assert names.index("input_audio_buffer.speech_started") < names.index("response.done")
        truncated = await person.until("conversation.item.truncated")
        assert abs(truncated["audio_end_ms"] - person.sound(item["id"]).size / 24) < 40
        again = await person.until("response.done", count=2)
        assert again["response"]["output"][0]["content"][0]["transcript"] == "Yes?"
        record = [event for event in there.engine.context(_room(there)).recent_events if event.metadata.get("interrupted")]
        assert len(record) == 1


async def test_a_cough_neither_cuts_nor_is_announced() -> None:
    async with hall([LONG]) as there, client(there.url) as person:
        await person.write("hello")
        await person.until("response.output_audio.delta", count=10)
        await person.speak(level(160, 700))
        done = await person.until("response.done")
        assert done["response"]["status"] == "completed"
        assert not person.all("input_audio_buffer.speech_started")


async def test_a_client_that_truncates_what_sounds_has_stopped_it() -> None:
    async with hall([LONG], ms_a_letter=50) as there, client(there.url) as person:
        await person.write("hello")
        item_id = (await person.until("response.output_audio.delta", count=20))["item_id"]
        await person.connection.conversation.item.truncate(item_id=item_id, content_index=0, audio_end_ms=200)
        done = await person.until("response.done")
        assert done["response"]["status_details"]["reason"] == "client_cancelled"
        assert person.sound().size / 24 < 1_000
        assert person.all("conversation.item.truncated")
        await person.connection.conversation.item.truncate(item_id=item_id, content_index=0, audio_end_ms=999_999)
        assert (await person.until("error"))["error"]["param"] == "audio_end_ms"


async def test_a_response_is_cancelled_while_it_is_made_and_while_it_only_sounds() -> None:
    thinking = ("Wait. ", Pause(20_000), "Never.")
    async with hall([thinking, LONG], ms_a_letter=50) as there, client(there.url) as person:
        for number in (1, 2):
            await person.write("hello")
            await person.until("response.created", count=number)
            if number == 2:
                await person.until("response.output_audio.delta", count=30)
            await person.connection.response.cancel()
            done = await person.until("response.done", count=number)
            assert done["response"]["status_details"] == {
                "type": "cancelled", "reason": "client_cancelled", "error": None,
            }  # fmt: skip
        await person.connection.response.cancel()
        assert (await person.until("error"))["error"]["code"] == "response_cancel_not_active"


async def test_one_response_at_a_time() -> None:
    async with hall([LONG], ms_a_letter=50) as there, client(there.url) as person:
        await person.write("hello")
        await person.until("response.created")
        await person.write("and again")
        error = (await person.until("error"))["error"]
        assert error["code"] == "conversation_already_has_active_response"


async def test_a_function_of_the_clients_is_called_and_its_result_goes_on_in_a_response_of_its_own() -> None:
    turns: Any = [("One moment. ", ToolCall("1", "weather", '{"city": "Graz"}')), "It rains in Graz."]
    async with hall(turns) as there, client(there.url) as person:
        tool: Any = {"type": "function", "name": "weather", "description": "Tells the weather", "parameters": {"type": "object"}}
        await person.connection.session.update(session={"type": "realtime", "tools": [tool], "instructions": "Be brief."})
        assert (await person.until("session.updated"))["session"]["tools"][0]["name"] == "weather"
        await person.write("how is the weather in Graz?")
        call = await person.until("response.function_call_arguments.done")
        assert (call["name"], call["arguments"]) == ("weather", '{"city": "Graz"}')
        first = (await person.until("response.done"))["response"]
        assert [item["type"] for item in first["output"]] == ["message", "function_call"]
        assert first["status"] == "completed"
        result: Any = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"sky": "rain"}'}
        await person.connection.conversation.item.create(item=result)
        await person.connection.response.create(response={"metadata": {"topic": "weather"}})
        second = (await person.until("response.done", count=2))["response"]
        assert second["output"][0]["content"][0]["transcript"] == "It rains in Graz."
        assert second["metadata"]["topic"] == "weather"
        assert second["metadata"]["generation_id"] == first["metadata"]["generation_id"]
        prompt = there.model.prompts[-1]
        assert prompt.messages[0].content == "Be brief."
        assert prompt.messages[-1].content == '{"sky": "rain"}'
        assert "weather" in [tool.name for tool in there.model.prompts[0].tools]
        heard = person.sound(first["output"][0]["id"]).size / 24
        assert abs(heard - len("One moment.") * 20) < 60, "what was said before the call belongs to its own item"


async def test_without_turn_detection_nothing_is_answered_unasked() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.connection.session.update(session={"type": "realtime", "audio": {"input": {"turn_detection": None}}})
        await person.until("session.updated")
        await person.append(level(600))
        await person.connection.input_audio_buffer.commit()
        words = await person.until("conversation.item.input_audio_transcription.completed")
        assert words["transcript"] == "hello"
        assert not person.all("response.created", "input_audio_buffer.speech_started")
        await person.connection.response.create()
        done = await person.until("response.done")
        assert done["response"]["output"][0]["content"][0]["transcript"] == SENTENCE
        assert there.model.prompts[0].messages[-1].content == "hello"
        await person.connection.input_audio_buffer.commit()
        assert (await person.until("error"))["error"]["code"] == "input_audio_buffer_commit_empty"


async def test_turns_that_are_not_to_be_answered_wait_for_the_clients_wish() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        turns: Any = {"type": "server_vad", "create_response": False}
        await person.connection.session.update(session={"type": "realtime", "audio": {"input": {"turn_detection": turns}}})
        await person.until("session.updated")
        await person.append(level(600))
        assert (await person.until("conversation.item.input_audio_transcription.completed"))["transcript"] == "hello"
        assert not person.all("response.created")
        await person.connection.response.create()
        await person.until("response.done")
        assert there.model.prompts[0].messages[-1].content == "hello"


async def test_what_was_written_before_is_read_too_though_it_was_not_to_be_answered() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.write("My name is Ann.", respond=False)
        await person.write("Who am I?")
        await person.until("response.done")
        assert [message.content for message in there.model.prompts[0].messages][-2:] == ["My name is Ann.", "Who am I?"]
        assert len(there.model.prompts) == 1


async def test_a_client_that_wants_text_gets_no_sound() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.connection.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        await person.write("hello")
        done = await person.until("response.done")
        assert done["response"]["output"][0]["content"][0] == {
            "type": "output_text", "text": SENTENCE, "audio": None, "transcript": None,
        }  # fmt: skip
        assert not person.all("response.output_audio.delta")


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
async def test_g711_in_and_out(kind: Any) -> None:
    encode, decode = (encode_mulaw, decode_mulaw) if kind == "audio/pcmu" else (encode_alaw, decode_alaw)
    async with hall([SENTENCE]) as there, client(there.url) as person:
        form: Any = {"type": kind}
        await person.connection.session.update(
            session={"type": "realtime", "audio": {"input": {"format": form}, "output": {"format": form}}}
        )
        await person.until("session.updated")
        sound = base64.b64encode(encode(level(300, HELLO))).decode()  # 300 ms at 16 kHz are 600 at 8
        await person.connection.input_audio_buffer.append(audio=sound)
        await person.until("response.done")
        data = b"".join(base64.b64decode(event["delta"]) for event in person.all("response.output_audio.delta"))
        assert abs(len(data) / 8 - len(SENTENCE) * 20) < 60
        assert abs(int(decode(data)[len(data) // 2]) - 5_000) < 200


def _room(there: Hall) -> str:
    rooms = [room.room_id for room in there.engine.host._rooms]
    assert len(rooms) == 1
    return rooms[0]


async def test_a_failing_brain_is_a_failed_response_and_the_next_one_works() -> None:
    async with hall([(RuntimeError("no"),), SENTENCE]) as there, client(there.url) as person:
        await person.write("hello")
        failed = (await person.until("response.done"))["response"]
        assert failed["status"] == "failed" and failed["status_details"]["error"]["code"] == "internal"
        await person.write("again")
        assert (await person.until("response.done", count=2))["response"]["status"] == "completed"


async def test_the_order_holds_where_lines_are_told_once_they_are_stored(tmp_path: Path) -> None:
    turns: Any = [("One moment. ", ToolCall("1", "weather", "{}")), "It rains."]
    store = await SqliteStore.open(tmp_path / "rooms.db")
    try:
        async with hall(turns, store=store) as there, client(there.url) as person:
            tool: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}}
            await person.connection.session.update(session={"type": "realtime", "tools": [tool]})
            await person.until("session.updated")
            await person.append(level(600))
            call = await person.until("response.function_call_arguments.done")
            result: Any = {"type": "function_call_output", "call_id": call["call_id"], "output": "rain"}
            await person.connection.conversation.item.create(item=result)
            await person.connection.response.create()
            second = (await person.until("response.done", count=2))["response"]
            assert second["output"][0]["content"][0]["transcript"] == "It rains."
            first = person.all("response.done")[0]["response"]["output"][0]
            assert abs(person.sound(first["id"]).size / 24 - len("One moment.") * 20) < 60
            assert abs(person.sound().size / 24 - len("One moment.It rains.") * 20) < 100
            assert_well_ordered(person.told)
    finally:
        await store.close()


def assert_well_ordered(told: list[Told]) -> None:
    """Everything of a response lies between its beginning and its end, and of two in the conversation one ends first."""
    open_: list[str] = []
    for event in told:
        match event["type"]:
            case "response.created":
                assert not open_
                open_.append(event["response"]["id"])
            case "response.done":
                open_.remove(event["response"]["id"])
            case name if name.startswith("response."):
                assert event["response_id"] in open_, name


async def test_an_instruction_and_an_empty_room_are_answered_when_asked() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.connection.response.create(response={"instructions": "Greet the person.", "metadata": {"topic": "greeting"}})
        done = (await person.until("response.done"))["response"]
        assert done["status"] == "completed" and done["metadata"]["topic"] == "greeting"
        assert there.model.prompts[0].messages[-1].content == "Greet the person."


async def test_items_are_retrieved_and_deleted() -> None:
    async with hall([SENTENCE]) as there, client(there.url) as person:
        await person.write("hello", respond=False)
        item_id = (await person.until("conversation.item.added"))["item"]["id"]
        await person.connection.conversation.item.retrieve(item_id=item_id)
        assert (await person.until("conversation.item.retrieved"))["item"]["content"][0]["text"] == "hello"
        await person.connection.conversation.item.delete(item_id=item_id)
        await person.until("conversation.item.deleted")
        await person.connection.conversation.item.retrieve(item_id=item_id)
        assert (await person.until("error"))["error"]["code"] == "item_not_found"
        await person.write("good morning")
        await person.until("response.done")
        assert [message.content for message in there.model.prompts[0].messages if message.role == "user"] == ["good morning"]
