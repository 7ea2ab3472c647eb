"""A room over a WebSocket: the same objects as the event stream, and commands the other way."""

import asyncio
from typing import Final

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from voiceagent.web.command import Ack, Command, SteerGeneration, Submit, parse
from voiceagent.web.commands import Commands, Sender
from voiceagent.web.door import PROTOCOL, Door
from voiceagent.web.lifeline import End
from voiceagent.web.reader import Reader
from voiceagent.web.readers import Readers
from voiceagent.web.refusal import Refused, deny

WAITING: Final = 32
"""Texts of one socket that wait for those before them."""

_CLOSE: Final[dict[End, int]] = {
    "room_closed": 1001,
    "lagging": 1013,
    "token_expired": 1008,
    "store_failed": 1011,
}


class Sockets:
    """Serves WebSockets, each with a reader of its own."""

    def __init__(self, door: Door, readers: Readers, commands: Commands) -> None:
        self._door = door
        self._readers = readers
        self._commands = commands

    async def serve(self, socket: WebSocket) -> None:
        """One WebSocket from its opening to its end; who may not enter is told so by a plain answer instead."""
        try:
            async with self._readers.reading(socket) as admitted:
                sender = self._commands.sender(socket)
                await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)

                reader, opening = admitted.begin(lambda text, _: _write(socket, text))
                client = _Client(socket, reader, sender, self._door, self._commands)
                end = await reader.run(opening, client.listen())
                if end != "gone" and socket.application_state is WebSocketState.CONNECTED:
                    await socket.close(_CLOSE[end], end)
        except Refused as refused:
            await deny(socket, refused)
        except WebSocketDisconnect:
            pass


class _Client:
    """What comes from one socket: texts one after the other, everything else at once."""

    def __init__(self, socket: WebSocket, reader: Reader, sender: Sender, door: Door, commands: Commands) -> None:
        self._socket = socket
        self._reader = reader
        self._sender = sender
        self._door = door
        self._commands = commands
        self._texts: asyncio.Queue[Command] = asyncio.Queue(WAITING)

    async def listen(self) -> None:
        """Returns when the client has left, or sent what no client sends."""
        try:
            async with asyncio.TaskGroup() as tasks:
                speaking = tasks.create_task(self._speak())
                await self._hear()
                speaking.cancel()
        except* (TimeoutError, OSError):
            pass  # nobody takes the acknowledgement

    async def _hear(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            frame = message.get("text")
            if not isinstance(frame, str):
                await self._socket.close(1003, "send text, not bytes")
                return
            if len(frame) > self._door.settings.max_body_bytes:
                await self._socket.close(1009, "too large")
                return
            await self._take(frame)

    async def _take(self, frame: str) -> None:
        try:
            self._door.spend_command(self._socket)
        except Refused as refused:
            await self._ack(Ack.refusal(parse(frame).id, "too_many", str(refused)))
            return
        command = parse(frame)
        if isinstance(command, Ack):
            await self._ack(command)
        elif not isinstance(command, Submit | SteerGeneration):
            await self._do(command)
        elif self._texts.full():
            await self._ack(Ack.refusal(command.id, "too_many", f"{WAITING} texts wait already: send it again later"))
        else:
            self._texts.put_nowait(command)

    async def _speak(self) -> None:
        while True:
            await self._do(await self._texts.get())

    async def _do(self, command: Command) -> None:
        await self._ack(await self._commands.do(self._socket, self._sender, command))

    async def _ack(self, ack: Ack) -> None:
        await self._reader.write("ack", ack.as_json())


async def _write(socket: WebSocket, text: str) -> None:
    """Sends an object. Raises OSError once either side has closed."""
    if socket.application_state is not WebSocketState.CONNECTED:
        raise ConnectionResetError("closed")
    try:
        await socket.send_text(text)
    except (WebSocketDisconnect, RuntimeError) as gone:  # the server below has closed it, after a frame that breaks the protocol
        raise ConnectionResetError("gone") from gone
