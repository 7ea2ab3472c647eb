"""The rooms that browsers use: opened when first asked for, bounded in number, closed when nobody needs them."""

import secrets
from collections.abc import Awaitable, Callable

from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType
from voiceagent.web.refusal import Refused

TEXT_CHANNEL = "web"

OpenRoom = Callable[[str], Awaitable[object]]


class Rooms:
    """Opens rooms with the web's text channel in them, and counts who uses each (lines and streams)."""

    def __init__(self, engine: RoomEngine, most: int, open_room: OpenRoom | None = None) -> None:
        self._engine = engine
        self._most = most
        self._open_room = open_room or engine.create_room
        self._users: dict[str, int] = {}
        self._epochs: dict[str, str] = {}
        engine.register_channel(Channel(TEXT_CHANNEL, ChannelType.TEXT))

    async def enter(self, room: str) -> None:
        """Opens the room if it is not open, and counts one more user. Raises Refused 503 when too many are in use."""
        known = room in self._users
        self._users[room] = self._users.get(room, 0) + 1
        if known:
            return
        try:
            await self._make_place(room)
            await self._open_room(room)
            await self._engine.attach_channel(room, TEXT_CHANNEL)
            self._epochs[room] = secrets.token_hex(6)
        except BaseException:
            self.leave(room)
            self._users.pop(room, None)
            raise

    def leave(self, room: str) -> None:
        """Counts one user less; the room stays open until its place is needed."""
        self._users[room] = max(0, self._users.get(room, 0) - 1)

    def epoch(self, room: str) -> str:
        """Names this opening of the room; its feed's numbers mean nothing in another."""
        return self._epochs.get(room, "")

    async def _make_place(self, room: str) -> None:
        if len(self._users) <= self._most:
            return
        unused = next((other for other, users in self._users.items() if users == 0 and other != room), None)
        if unused is None:
            raise Refused(503, f"all {self._most} rooms are in use: try again later")
        del self._users[unused]
        self._epochs.pop(unused, None)
        await self._engine.close_room(unused)
