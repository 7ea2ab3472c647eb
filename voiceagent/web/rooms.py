"""The rooms that browsers use: opened when first asked for, bounded in number, closed when nobody needs them."""

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from voiceagent.errors import RoomArchivedError, RoomError
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.web.refusal import Refused

TEXT_CHANNEL = "web"

OpenRoom = Callable[[str], Awaitable[object]]


@dataclass(slots=True, eq=False)
class _Place:
    """A room in use, or lately in use; whoever opens or closes it holds the lock."""

    users: int = 0
    epoch: str = ""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Rooms:
    """Opens rooms with the web's text channel in them, and counts who uses each (lines and streams)."""

    def __init__(self, engine: RoomEngine, most: int, open_room: OpenRoom | None = None) -> None:
        self._engine = engine
        self._most = most
        self._open_room = open_room or engine.create_room
        self._places: dict[str, _Place] = {}
        engine.register_channel(Channel(TEXT_CHANNEL, ChannelType.TEXT))

    async def enter(self, room: str, by: str | None = None) -> None:
        """Opens the room if it is not open, and counts one more user; who comes while it is being opened waits for that. A room
        that nobody has opened before is started by the participant `by`.

        Raises Refused 503 when too many are in use, 410 when the room is closed for good.
        """
        place = self._places.setdefault(room, _Place())
        place.users += 1
        try:
            async with place.lock:
                if not self._is_open(room):
                    await self._make_place()
                    await self._open(room, by)
                    place.epoch = secrets.token_hex(6)
        except BaseException as error:
            place.users -= 1
            if not place.users:
                del self._places[room]
            if isinstance(error, RoomArchivedError):
                raise Refused(410, "this room is archived: nothing more happens in it") from error
            raise

    async def _open(self, room: str, by: str | None) -> None:
        """Opens the room with everybody in it; where one of them cannot come, it is closed again, for the next to try."""
        await self._engine.create_room(room, started_by=by)
        try:
            await self._open_room(room)
            await self._engine.attach_channel(room, TEXT_CHANNEL)
        except BaseException:
            await self._engine.close_room(room)
            raise

    def leave(self, room: str) -> None:
        """Counts one user less; the room stays open until its place is needed."""
        self._places[room].users -= 1

    def epoch(self, room: str) -> str:
        """Names this opening of the room; its feed's numbers mean nothing in another."""
        return self._places[room].epoch

    def _is_open(self, room: str) -> bool:
        """Whether it is open with the text channel in it; the host may have closed it."""
        try:
            return any(binding.channel_id == TEXT_CHANNEL for binding in self._engine.context(room).bindings)
        except RoomError:
            return False

    async def _make_place(self) -> None:
        while len(self._places) > self._most:
            unused = next((room for room, place in self._places.items() if not place.users), None)
            if unused is None:
                raise Refused(503, f"all {self._most} rooms are in use: try again later")
            await self._close(unused, self._places[unused])

    async def _close(self, room: str, place: _Place) -> None:
        """Closes a room that nobody uses; whoever comes meanwhile opens it again."""
        async with place.lock:
            with contextlib.suppress(RoomError):  # the host has closed it
                await self._engine.close_room(room)
            if not place.users and self._places.get(room) is place:
                del self._places[room]
