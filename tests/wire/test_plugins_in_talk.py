"""A whole conversation over plugins alone: Deepgram hears, OpenAI answers, Cartesia speaks, as the settings name them."""

from pathlib import Path

import pytest

pytest.importorskip("livekit.agents", reason="pip install 'voiceagent[livekit]'")
pytest.importorskip("livekit.plugins.cartesia", reason="pip install livekit-plugins-cartesia")
pytest.importorskip("livekit.plugins.deepgram", reason="pip install livekit-plugins-deepgram")
pytest.importorskip("livekit.plugins.openai", reason="pip install livekit-plugins-openai")

from tests.wire import chat_server, vendors
from tests.wire.vendors import WORDS
from voiceagent.app import App, Choices
from voiceagent.audio.decode import read_sound
from voiceagent.config import Settings
from voiceagent.errors import ModelError
from voiceagent.room.events import EventType, Participant, TextContent
from voiceagent.transport.file import FileCall

QUESTION = Path(__file__).resolve().parents[1] / "audio" / "spoken_opening_hours.wav"


def settings(vendors_url: str, chat_url: str, **hearing: object) -> Settings:
    return Settings.model_validate(
        {
            "hearing": {
                "stt": "livekit:deepgram",
                "options": {"deepgram": {"api_key": "none", "base_url": f"{vendors_url}/v1/listen"}},
            }
            | hearing,
            "speaking": {"tts": "livekit:cartesia", "options": {"cartesia": {"api_key": "none", "base_url": vendors_url}}},
            "llm": {
                "brain": "livekit:openai",
                "options": {"openai": {"api_key": "none", "base_url": chat_url, "model": "talking"}},
            },
            "voice": {"greeting": ""},
            "judgment": {"policy": "always"},
        }
    )


async def test_a_call_is_heard_answered_and_spoken_to_by_plugins(default_models: None) -> None:
    call = FileCall("call", read_sound(QUESTION).samples, tail_ms=3_000)
    async with vendors.serving() as there, chat_server.serving() as chat:
        async with App(settings(there.url, chat.url), Choices(memory=True)) as app:
            await app.open_room("room")
            await app.reception.receive(call, room_id="room", participant=Participant("ann", "Ann"))
            events = await app.engine.store.list_events("room", limit=100)
            status = app.status()
        asked = [event.content.body for event in events if _is_words(event.type, event.content)]
    assert status.brain == "livekit:openai talking"
    assert dict(status.models) == {"hearing": "livekit:deepgram", "speaking": "livekit:cartesia"}
    assert asked[0].split() == WORDS[: len(asked[0].split())] and asked[0]
    assert asked[1] == "Hello there."
    assert there.said[:2] == ["Hello", "there."]
    assert sum(int((abs(heard.samples) > 2_000).sum()) for heard in call.heard()) > 0
    assert all(connection.ended.is_set() for connection in there.connections)


async def test_a_key_that_is_missing_ends_the_start_with_its_name(default_models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPGRAM_API_KEY", raising=False)
    wanted = settings("http://127.0.0.1:1", "http://127.0.0.1:1/v1", options={})
    with pytest.raises(ModelError, match="DEEPGRAM_API_KEY"):
        async with App(wanted, Choices(memory=True)):
            pass


def _is_words(kind: EventType, content: object) -> bool:
    return kind is EventType.MESSAGE and isinstance(content, TextContent)
