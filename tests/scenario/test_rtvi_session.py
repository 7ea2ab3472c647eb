"""An RTVI client's talk with a room, without a browser: what it missed, what it is too slow for, and how both sides end."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from starlette.requests import HTTPConnection

from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.feed import QUEUE
from voiceagent.transport.chat import HIGH_BYTES, Chat
from voiceagent.transport.webrtc import WebRtcCall
from voiceagent.web.commands import Commands, Sender
from voiceagent.web.door import Door
from voiceagent.web.lines import Beside, Line
from voiceagent.web.rooms import Rooms
from voiceagent.web.rtvi.commands import ClientCommands
from voiceagent.web.rtvi.session import Session
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

READY = {"label": "rtvi-ai", "type": "client-ready", "id": "r1", "data": {"version": "2.1.0"}}


class Client:
    """The far end of the data channel, and the line under it."""

    def __init__(self) -> None:
        self.label = "chat"
        self.readyState = "open"
        self.bufferedAmount = 0
        self.bufferedAmountLowThreshold = 0
        self.session_id = "call-1"
        self.over = asyncio.Event()
        self.told: list[dict[str, Any]] = []
        self._handlers: dict[str, Callable[..., None]] = {}

    def on(self, event: str, handler: Callable[..., None]) -> None:
        self._handlers[event] = handler

    def send(self, text: str) -> None:
        self.told.append(json.loads(text))

    def end(self) -> None:
        self.over.set()

    def write(self, message: dict[str, Any]) -> None:
        self._handlers["message"](json.dumps(message))

    def drain(self) -> None:
        self.bufferedAmount = 0
        self._handlers["bufferedamountlow"]()

    def leave(self) -> None:
        self._handlers["close"]()

    def lines(self, type: str) -> list[dict[str, Any]]:
        """Events of ours of one type."""
        return [one["data"] for one in self.told if one["type"] == "server-message" and one["data"]["type"] == type]


async def settle() -> None:
    """Lets everything run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


@asynccontextmanager
async def session() -> AsyncIterator[tuple[Client, RoomEngine, "asyncio.Task[None]"]]:
    """A session in a room, whose client has not said that it is ready."""
    async with RoomEngine() as engine:
        door, chat, client = Door(WebSettings()), Chat(), Client()
        rooms = Rooms(engine, 10)
        await rooms.enter("lobby")
        asked = HTTPConnection({"type": "http", "client": ("127.0.0.1", 1), "headers": []})
        standing = Standing(host=False)
        commands = ClientCommands(door, Commands(door, rooms, engine), engine, Sender("lobby", standing, "web-anna"), asked)

        async def unused(line: Line) -> None:
            raise AssertionError

        call = cast(WebRtcCall, client)
        line = Line("lobby", Participant("web-anna", "Anna"), call, standing, beside=Beside(chat, unused))
        task = asyncio.create_task(Session(line, engine, commands, {"library": "voiceagent"}).run())
        chat.take_channel(cast(Any, client))
        await settle()
        try:
            yield client, engine, task
        finally:
            client.leave()
            await task


async def test_what_happened_before_the_client_was_ready_is_told_behind_its_welcome() -> None:
    async with session() as (client, engine, _):
        engine.feed("lobby").publish("agent.state", {"state": "speaking"})
        await settle()
        assert client.told == []
        client.write(READY)
        await settle()
        assert [one["type"] for one in client.told] == ["bot-ready", "server-message", "server-message"]
        assert client.told[0]["id"] == "r1"
        assert [one["data"]["type"] for one in client.told[1:]] == ["stream.snapshot", "agent.state"]
        assert client.told[1]["data"]["after"] == client.told[2]["data"]["seq"]


async def test_a_client_of_another_version_is_warned_and_welcome() -> None:
    async with session() as (client, _, _):
        client.write({**READY, "data": {"version": "1.2.0"}})
        await settle()
        assert [one["type"] for one in client.told[:2]] == ["error-response", "bot-ready"]
        assert "1.2.0" in client.told[0]["data"]["error"]


async def test_a_client_that_takes_nothing_loses_droppable_lines_first_and_then_the_line() -> None:
    async with session() as (client, engine, _):
        client.write(READY)
        await settle()
        client.bufferedAmount = HIGH_BYTES + 1
        for number in range(QUEUE):
            engine.feed("lobby").publish("level", {"n": number}, durable=False)
            engine.feed("lobby").publish("thing.happened", {"n": number})
        await settle()
        assert not client.over.is_set()
        for _ in range(QUEUE):
            engine.feed("lobby").publish("thing.happened", {})
        client.drain()
        for _ in range(QUEUE):
            await settle()
            if client.over.is_set():
                break
        assert client.over.is_set()
        assert client.told[-1]["type"] == "error"
        assert client.told[-1]["data"]["fatal"] is True
        numbers = [line["seq"] for line in client.lines("thing.happened")]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len(client.lines("level")) <= 1


async def test_a_room_that_closes_ends_what_is_told_and_a_client_that_leaves_ends_the_session() -> None:
    async with session() as (client, engine, task):
        client.write(READY)
        await settle()
        await engine.close_room("lobby")
        await settle()
        assert not task.done()
        client.leave()
        await task
        assert client.over.is_set()


async def test_more_than_a_few_messages_at_once_are_refused_one_by_one() -> None:
    async with session() as (client, _, _):
        client.write(READY)
        for number in range(100):
            client.write({"label": "rtvi-ai", "type": "dance", "id": f"d{number}"})
        await settle()
        answers = [one for one in client.told if one["type"] == "error-response"]
        assert sorted(one["id"] for one in answers) == sorted(f"d{number}" for number in range(100))
        assert any("wait already" in one["data"]["error"] for one in answers)
