"""A room's life: opened with what the store knows of it, closed, archived for good, deleted with everything of it."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from voiceagent import clock
from voiceagent.errors import RoomArchivedError
from voiceagent.room.desks import Desks
from voiceagent.room.opening import Opening
from voiceagent.room.register.entry import Register, RoomEntry, Starter
from voiceagent.room.rooms import Rooms
from voiceagent.room.sharing import Sharing


class Lifecycle:
    """The lives of one engine's rooms. Processes that share a store close a room before one of them ends it for good."""

    def __init__(self, rooms: Rooms, opening: Opening, sharing: Sharing, desks: Desks, register: Register) -> None:
        self._rooms = rooms
        self._opening = opening
        self._sharing = sharing
        self._desks = desks
        self._register = register
        self._ending: set[str] = set()

    async def open(self, room_id: str, started_by: Starter | None) -> None:
        """Opens a room; who started it is kept the first time. Raises RoomArchivedError when it is closed for good."""
        if room_id in self._ending:
            raise RoomArchivedError(f"room {room_id!r} is being closed for good")
        if room_id in self._rooms:
            return
        entry = await self._register.get(room_id)
        if entry is not None and entry.archived_at is not None:
            raise RoomArchivedError(f"room {room_id!r} is archived: it can be read in the store, and nothing more happens in it")
        if started_by is not None and entry is None and await self._opening.is_new(room_id):
            entry = RoomEntry(room_id, started_by)
            await self._register.put(entry)
        room = await self._opening.room(room_id)
        room.started_by = entry.started_by if entry is not None else None
        self._rooms.add(room)
        room = self._rooms.open(room_id)
        await self._sharing.catch_up(room)
        await self._desks.jobs.recover(room)
        await self._desks.questions.recover(room)
        await self._desks.consumption.recover(room)

    async def close(self, room_id: str, detach: Callable[[str, str], Awaitable[None]]) -> None:
        """Closes an open room: its channels leave by `detach`, its feed ends, nothing more is taken. What is stored stays."""
        room = self._rooms.open(room_id)
        room.ledger.stop("room_closed")
        async with room.lock:
            if room.closed:
                return
            room.closed = True
        if room.leash is not None:
            room.leash.end()
        try:
            for binding in room.bindings:
                await detach(room_id, binding.channel_id)
        finally:
            self._desks.jobs.forget(room_id)
            self._desks.questions.forget(room_id)
            await self._desks.consumption.flush()
            room.end("room_closed")
            self._rooms.remove(room_id)

    async def archive(self, room_id: str, detach: Callable[[str, str], Awaitable[None]]) -> None:
        """Closes a room for good, open or not: its questions end, nobody is told, and what is stored can be read."""
        entry = await self._register.get(room_id) or RoomEntry(room_id)
        self._ending.add(room_id)
        try:
            await self._desks.questions.end_room(room_id)
            if room_id in self._rooms:
                await self.close(room_id, detach)
                await self._desks.questions.end_room(room_id)  # what was asked while it closed
            if entry.archived_at is None:
                await self._register.put(replace(entry, archived_at=clock.utc()))
        finally:
            self._ending.discard(room_id)

    async def delete(self, room_id: str, detach: Callable[[str, str], Awaitable[None]]) -> None:
        """Archives a room and removes everything of it from the store; its id may be used anew. Raises StoreError."""
        await self.archive(room_id, detach)
        await self._opening.flush()
        await self._desks.consumption.flush()
        await self._register.erase(room_id)
