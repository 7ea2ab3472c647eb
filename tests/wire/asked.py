"""An agent that asks people questions behind the web app, and readers of the inbox over HTTP."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from tests.wire.door import door
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Asking, Kind, Question
from voiceagent.web.settings import WebSettings

Object = dict[str, Any]


class Agent(Channel):
    """Sits in rooms, asks, and writes down what it is told of the answers."""

    def __init__(self) -> None:
        super().__init__("nova", ChannelType.AI)
        self.told: list[Question] = []

    def on_question_ended(self, question: Question) -> bool:
        self.told.append(question)
        return True


class Asked:
    """A server with rooms in which an agent asks."""

    def __init__(self, url: str, engine: RoomEngine) -> None:
        self.url = url
        self.engine = engine
        self.agent = Agent()
        engine.register_channel(self.agent)

    async def room(self, room: str) -> None:
        """Opens a room with the agent in it."""
        await self.engine.create_room(room)
        await self.engine.attach_channel(room, "nova")

    async def ask(self, room: str, question: str, *options: str, kind: Kind = "question", **more: Any) -> Question:
        """Has the agent ask there; a `private` question comes of something that only hosts may know."""
        visibility = "internal" if more.pop("private", False) else None
        asking = Asking(question, options, **more)
        return await self.engine.questions.ask(Origin(room, "nova", visibility), "g1", asking, kind=kind)


@contextlib.asynccontextmanager
async def asked(settings: WebSettings | None = None, *rooms: str) -> AsyncIterator[Asked]:
    """The app, served, with the agent in these rooms."""
    async with door(settings) as (url, _, engine):
        there = Asked(url, engine)
        for room in rooms or ("den",):
            await there.room(room)
        yield there


class Device:
    """A reader of the inbox."""

    def __init__(self, client: httpx.AsyncClient, response: httpx.Response) -> None:
        self._client = client
        self._lines = response.aiter_lines()
        self._sent = 0

    async def next(self) -> Object:
        """The next object of the stream."""
        async with asyncio.timeout(10):
            async for line in self._lines:
                if line.startswith("data: "):
                    return dict(json.loads(line.removeprefix("data: ")))
        raise AssertionError("the stream has ended")

    async def do(self, type: str, id: str | None = None, **data: Any) -> Object:
        """Gives a command; its acknowledgement."""
        self._sent += 1
        command = {"type": type, "id": id or f"command-{id_of(self)}-{self._sent}", "data": data}
        response = await self._client.post("v1/inbox/commands", json=command)
        assert response.status_code == 200, response.text
        return dict(response.json())


def id_of(value: object) -> str:
    """A name that no other living object has."""
    return f"{id(value):x}"


@contextlib.asynccontextmanager
async def device(url: str, *, key: str | None = None, token: str | None = None) -> AsyncIterator[Device]:
    """A device on which the inbox is open; its first object is how everything stands."""
    headers = {"participant-key": key} if key else {}
    if token:
        headers["authorization"] = f"Bearer {token}"
    async with (
        httpx.AsyncClient(base_url=url, headers=headers) as client,
        client.stream("GET", "v1/inbox/events") as response,
    ):
        assert response.status_code == 200
        yield Device(client, response)


def questions(snapshot: Object) -> list[Object]:
    """The questions of this host in a snapshot."""
    (here,) = [host for host in snapshot["data"]["hosts"] if host["host"] is None]
    return list(here["questions"])
