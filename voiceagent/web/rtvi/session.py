"""One RTVI client on its line: the handshake, then what happens in the room one way and what the person wants the other."""

import asyncio
import logging
from collections.abc import Mapping
from itertools import count
from typing import Final

from voiceagent.errors import WebError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import Subscription
from voiceagent.values import JSON
from voiceagent.web.lines import Line
from voiceagent.web.rtvi.adapter import Adapter
from voiceagent.web.rtvi.commands import ClientCommands
from voiceagent.web.rtvi.messages import (
    MICROPHONE,
    VERSION,
    Envelope,
    Message,
    Signal,
    bot_ready,
    error,
    error_response,
    read,
    server_message,
    version_of,
)
from voiceagent.web.view import View, Wishes

log = logging.getLogger(__name__)

TEXTS: Final = 32
"""Messages that may wait for those before them."""


class Session:
    """Lives as long as the line. What happened between the line's beginning and the client's `client-ready` is told behind it."""

    def __init__(self, line: Line, engine: RoomEngine, commands: ClientCommands, about: Mapping[str, JSON]) -> None:
        """`about` is what the bot says of itself."""
        assert line.beside is not None
        self._line = line
        self._chat = line.beside.chat
        self._engine = engine
        self._commands = commands
        self._about = about
        self._view = View(line.standing, Wishes())
        self._adapter = Adapter(line.participant.id)
        self._ready = asyncio.Event()
        self._asked: asyncio.Queue[Envelope] = asyncio.Queue(TEXTS)
        self._numbers = count(1)
        self._muted = False

    async def run(self) -> None:
        """Serves the client until the line is over."""
        subscription = self._engine.feed(self._line.room).subscribe()
        try:
            async with asyncio.TaskGroup() as tasks:
                jobs = [tasks.create_task(self._tell(subscription)), tasks.create_task(self._answer())]
                async for text in self._chat.messages():
                    await self._take(text)
                for job in jobs:
                    job.cancel()
        finally:
            subscription.close()
            self._line.call.end()

    async def _tell(self, subscription: Subscription) -> None:
        await self._ready.wait()
        await self._send(server_message(self._snapshot()))
        async for line in subscription.events():
            if self._view.shows(line):
                for message in self._adapter.take(line):
                    await self._send(message)
        if subscription.lagged:
            log.warning("line %s: its client takes too little of what it is told", self._line.call.session_id)
            await self._send(error("you take too little of what you are told: connect again", fatal=True))
            self._line.call.end()

    def _snapshot(self) -> dict[str, JSON]:
        """The room as it stands, in the shape in which its event stream says so."""
        room = self._line.room
        data = self._view.snapshot(self._engine.snapshot(room))
        return {"v": 1, "after": data["seq"], "type": "stream.snapshot", "room_id": room, "data": data}

    async def _take(self, text: str) -> None:
        try:
            message = read(text)
        except WebError as problem:
            await self._send(error(str(problem), fatal=False))
            return
        match message:
            case Signal():
                if message.message.receiver_index == MICROPHONE:
                    self._mute(muted=not message.message.enabled)
            case Envelope(type="client-ready"):
                await self._welcome(message)
            case Envelope(type="disconnect-bot"):
                self._line.call.end()
            case Envelope() if self._asked.full():
                await self._send(error_response(message.id, f"{TEXTS} messages wait already: send it again later"))
            case Envelope():
                self._asked.put_nowait(message)

    async def _answer(self) -> None:
        """One after the other, while what comes goes on being read."""
        while True:
            asked = await self._asked.get()
            answer = await self._commands.answer(asked, self._line.call.session_id)
            if answer is not None:
                await self._send(answer)

    async def _welcome(self, message: Envelope) -> None:
        version = version_of(message)
        if version.partition(".")[0] != VERSION.partition(".")[0]:
            spoken = f"RTVI {VERSION} is spoken here, and {version or 'no version'} by you: some of it may not be understood"
            await self._send(error_response(message.id, spoken))
        await self._send(bot_ready(message.id, self._about))
        self._ready.set()

    def _mute(self, *, muted: bool) -> None:
        """Tells the room that the person's microphone is off or on."""
        if muted != self._muted:
            self._muted = muted
            data: dict[str, JSON] = {"participant_id": self._line.participant.id, "muted": muted}
            self._engine.feed(self._line.room).publish("participant.muted", data)

    async def _send(self, message: Message) -> None:
        await self._chat.send(message.text(next(self._numbers)))
