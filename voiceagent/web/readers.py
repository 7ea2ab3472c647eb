"""Everybody who reads rooms: so many at once, each in a room that is open as long as they read."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from starlette.requests import HTTPConnection

from voiceagent.room.engine import RoomEngine
from voiceagent.values import JSON
from voiceagent.web.door import Door
from voiceagent.web.lifeline import Send
from voiceagent.web.reader import Opening, Reader
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import Rooms
from voiceagent.web.standing import Standing
from voiceagent.web.view import View, Wishes


class Readers:
    """Lets readers in, over whatever carries their lines."""

    def __init__(self, door: Door, rooms: Rooms, engine: RoomEngine) -> None:
        self._door = door
        self._rooms = rooms
        self._engine = engine
        self._open = 0

    @property
    def open(self) -> int:
        """How many read."""
        return self._open

    @asynccontextmanager
    async def reading(self, connection: HTTPConnection) -> AsyncIterator["Admitted"]:
        """A place for one more reader, who may enter the room and has asked for something sensible. Raises Refused."""
        room, standing = self._door.room_and_standing(connection)
        wishes, after = Wishes.of(connection.query_params, standing), _after(connection)
        with self.place():
            await self._rooms.enter(room, self._door.holder(connection))
            try:
                same = connection.query_params.get("epoch", self._rooms.epoch(room)) == self._rooms.epoch(room)
                durable = self._engine.feed(room).durable
                yield Admitted(self, room, standing, wishes, after if after is None or same or durable else 0)
            finally:
                self._rooms.leave(room)

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for one more reader, of whatever. Raises Refused 503."""
        if self._open >= self._door.settings.max_streams:
            raise Refused(503, "too many event streams are open: try again later")
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

    def begin(self, admitted: "Admitted", send: Send) -> tuple[Reader, Opening]:
        """Subscribes and takes the snapshot in one step, so that nothing falls between them."""
        room, standing = admitted.room, admitted.standing
        subscription = self._engine.feed(room).subscribe(admitted.after)
        snapshot = self._engine.snapshot(room)
        start = admitted.after if subscription.gap is None else subscription.gap[1]
        reader = Reader(room, subscription, View(standing, admitted.wishes), standing, send)
        return reader, Opening(start, self._ready(room, standing), snapshot)

    def _ready(self, room: str, standing: Standing) -> dict[str, JSON]:
        people = [person for person in self._engine.context(room).participants if person.active]
        return {
            "epoch": self._rooms.epoch(room),
            "host": standing.host,
            "people": [{"participant_id": person.id, "name": person.display_name} for person in people],
        }


class Admitted:
    """A reader who has been let in, before the first word goes to them."""

    __slots__ = ("_readers", "after", "room", "standing", "wishes")

    def __init__(self, readers: Readers, room: str, standing: Standing, wishes: Wishes, after: int | None) -> None:
        self._readers = readers
        self.room = room
        self.standing = standing
        self.wishes = wishes
        self.after = after

    def begin(self, send: Send) -> tuple[Reader, Opening]:
        """The reader, and how it opens; from now on no line is missed."""
        return self._readers.begin(self, send)


def _after(connection: HTTPConnection) -> int | None:
    text = connection.headers.get("last-event-id") or connection.query_params.get("after")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise Refused(400, "Last-Event-ID and after are whole numbers")
    return int(text)
