"""The rooms that are open."""

from collections.abc import Iterator, Sequence

from voiceagent.errors import RoomError
from voiceagent.room.live import LiveRoom


class Rooms:
    """Open rooms by their ids."""

    def __init__(self) -> None:
        self._rooms: dict[str, LiveRoom] = {}

    def __contains__(self, room_id: str) -> bool:
        return room_id in self._rooms

    def __iter__(self) -> Iterator[LiveRoom]:
        return iter(tuple(self._rooms.values()))

    def get(self, room_id: str) -> LiveRoom | None:
        """A room, None when it is not open."""
        return self._rooms.get(room_id)

    def open(self, room_id: str) -> LiveRoom:
        """A room. Raises RoomError when it is not open."""
        room = self._rooms.get(room_id)
        if room is None:
            raise RoomError(f"room {room_id!r} is not open: call kit.create_room first")
        return room

    def add(self, room: LiveRoom) -> None:
        """Opens a room, unless somebody else has opened one with its id meanwhile."""
        self._rooms.setdefault(room.room_id, room)

    def remove(self, room_id: str) -> None:
        """Closes a room; nothing when it is not open."""
        self._rooms.pop(room_id, None)

    def clear(self) -> Sequence[LiveRoom]:
        """No room is open any more; returns those that were."""
        rooms, self._rooms = tuple(self._rooms.values()), {}
        return rooms
