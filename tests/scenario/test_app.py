"""The app: what it builds without sound, what it says of itself, and how it refuses."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from voiceagent import clock
from voiceagent.app import App, Choices
from voiceagent.config import load
from voiceagent.errors import ConfigError, ModelError
from voiceagent.room.channel import Channel
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.values import JSON

SILENT = Choices(sound=False)


def app(choices: Choices = SILENT, **options: JSON) -> App:
    return App(
        load(None, {}, {"llm.brain": "echo", **{key.replace("__", "."): value for key, value in options.items()}}), choices
    )


async def _until_decided(reader: Subscription) -> AsyncIterator[FeedEvent]:
    """The decision, and then no more."""
    async for event in reader.events():
        if event.type == "input.decided":
            reader.close()
            yield event


async def test_a_room_has_the_agent_in_it_and_it_answers() -> None:
    async with app(judgment__policy="always") as voice:
        await voice.open_room("hall")
        await voice.open_room("hall")
        assert [binding.channel_id for binding in voice.engine.context("hall").bindings] == ["assistant"]
        voice.engine.register_channel(Channel("chat", ChannelType.TEXT))
        await voice.engine.attach_channel("hall", "chat")
        reader = voice.engine.feed("hall").subscribe()
        await voice.engine.process_inbound(InboundMessage("chat", TextContent("hello")), room_id="hall")
        async for event in reader.events():
            if event.type == "generation.finished":
                break
        reader.close()
        assert [event.content.body for event in voice.engine.context("hall").recent_events] == ["hello", "hello"]


async def test_it_says_which_brain_speaks_and_how_to_name_a_better_one() -> None:
    async with app() as voice:
        assert (voice.status().brain, voice.status().advice) == ("echo", "")


async def test_without_sound_there_is_no_reception() -> None:
    async with app() as voice:
        with pytest.raises(RuntimeError, match="asked for"):
            _ = voice.reception


async def test_nothing_is_there_before_it_is_entered() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        _ = app().engine


async def test_rooms_are_kept_where_the_settings_say(tmp_path: Path) -> None:
    database = tmp_path / "rooms.db"
    for _ in range(2):
        with clock.outside():
            async with app(room__database=str(database)) as voice:
                await voice.open_room("hall")
    assert database.is_file()


async def test_a_run_may_keep_its_rooms_nowhere(tmp_path: Path) -> None:
    database = tmp_path / "rooms.db"
    async with app(Choices(sound=False, memory=True), room__database=str(database)) as voice:
        await voice.open_room("hall")
    assert not database.exists()


async def test_canned_answers_that_are_none_are_refused(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text("nonsense\n")
    with pytest.raises(ConfigError, match=r"answers\.jsonl, line 1"):
        async with app(llm__brain="canned", llm__canned=str(answers)):
            pytest.fail("it was entered")


async def test_notes_that_are_missing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(tmp_path))
    with pytest.raises((ConfigError, ModelError), match=r"gone\.md|models pull"):
        async with app(llm__brain="notes", llm__notes=str(tmp_path / "gone.md")):
            pytest.fail("it was entered")


async def test_models_that_are_missing_are_named_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(tmp_path))
    with pytest.raises(ModelError, match="voiceagent models pull"):
        async with app(Choices()):
            pytest.fail("it was entered")


async def test_the_agent_decides_as_the_settings_say() -> None:
    async with app(judgment__policy="always", judgment__answer_only=["Sylvain"]) as voice:
        await voice.open_room("hall")
        voice.engine.register_channel(Channel("chat", ChannelType.TEXT))
        await voice.engine.attach_channel("hall", "chat")
        reader = voice.engine.feed("hall").subscribe()
        await voice.engine.process_inbound(InboundMessage("chat", TextContent("hello")), room_id="hall")
        decided = [event.data async for event in _until_decided(reader)][-1]
        assert (decided["mode"], decided["reason"], decided["final"]) == ("silent", "only listened to", True)


async def test_without_notes_nobody_looks_things_up() -> None:
    async with app(judgment__answer_only=["Sylvain"]) as voice:
        assert voice.think_wait_ms == 0


async def test_a_brain_without_schemas_cannot_think() -> None:
    with pytest.raises(ConfigError, match=r"\[judgment\] thinker"):
        async with app(judgment__thinker="llm", judgment__policy="always", judgment__answer_only=["Sylvain"]):
            pytest.fail("it was entered")
