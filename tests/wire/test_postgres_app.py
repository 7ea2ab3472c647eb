"""The app keeps its rooms in the database that the settings name, and the database's time is none of the virtual clock's."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.wire.cluster import Cluster
from voiceagent import clock
from voiceagent.app import App, Choices
from voiceagent.clock import VirtualLoop
from voiceagent.config import load
from voiceagent.errors import ConfigError, StoreError
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, EventSource, InboundMessage, RoomEvent, TextContent
from voiceagent.room.postgres import PostgresStore

_ROOT = Path(__file__).resolve().parents[2]
_SOURCE = EventSource("voice", ChannelType.VOICE)


def _app(address: str) -> App:
    return App(load(None, {}, {"llm.brain": "echo", "room.database": address}), Choices(sound=False))


async def test_rooms_are_kept_where_the_settings_say(cluster: Cluster) -> None:
    address = await cluster.fresh()
    async with _app(address) as voice:
        await voice.open_room("hall")
        voice.engine.register_channel(Channel("chat", ChannelType.TEXT))
        await voice.engine.attach_channel("hall", "chat")
        await voice.engine.process_inbound(InboundMessage("chat", TextContent("hello")), room_id="hall")
    async with _app(address) as voice:
        await voice.open_room("hall")
        assert voice.engine.context("hall").recent_events[0].content.body == "hello"


async def test_a_database_that_does_not_answer_stops_the_start() -> None:
    with pytest.raises(StoreError, match="check that the server runs"):
        async with _app("postgresql://ana:secret@127.0.0.1:1/rooms"):
            pass


async def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "voiceagent.room.postgres")
    monkeypatch.delitem(sys.modules, "voiceagent.room.database")
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(ConfigError, match=r"asyncpg is not installed; run: pip install 'voiceagent\[postgres\]'"):
        async with _app("postgresql://host/rooms"):
            pass


def test_the_client_is_loaded_only_when_a_database_is_chosen() -> None:
    code = "import sys; import voiceagent.app, voiceagent.room.engine; sys.exit('asyncpg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=_ROOT, check=False).returncode == 0


def test_time_stands_still_while_the_server_works(cluster: Cluster) -> None:
    async def use(address: str) -> None:
        store = PostgresStore(address)
        timer = asyncio.create_task(asyncio.sleep(0.001))
        began = clock.now()
        await store.init()
        for index in range(10):
            at = datetime(2026, 1, 1, tzinfo=UTC)
            await store.append_next(RoomEvent(f"e{index}", "r", _SOURCE, TextContent("words"), at))
        assert len(await store.list_events("r")) == 10
        await store.close()
        assert clock.now() == began
        assert not timer.done()
        await timer
        assert clock.now() == began + 1

    async def hours(address: str) -> None:
        store = PostgresStore(address)
        await store.init()
        async with RoomEngine(store=store) as kit:
            await kit.create_room("r")
            await asyncio.sleep(3600)  # the line that listens is asked now and then whether it is still there
        await store.close()

    address = asyncio.run(cluster.fresh())
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(use(address))
        runner.run(hours(address))
