"""Keeps the rooms of this process in step with what other processes commit to the same database."""

import logging
from collections.abc import Callable
from typing import Final

from voiceagent.errors import StoreError
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.live import LiveRoom
from voiceagent.room.rooms import Rooms
from voiceagent.room.store import EventFilter, Store, shared

log = logging.getLogger(__name__)

_PAGE: Final = 200


class Sharing:
    """Gives events their places, alone or among others.

    With a plain Store this process is the only one, and counts by itself. With a SharedStore the store counts: an event may come
    later than the room expected, and then those in between, committed by other processes, are taken in before it. So every
    process sees the same timeline in the same order. They are taken in, too, when the store has news of them.

    What another process committed is told to every channel here, but no agent is asked about it and no AFTER_BROADCAST hook runs:
    that is done where the event came in. Sound, partial words and instructions stay in their process.
    """

    def __init__(self, store: Store, tell: Callable[[LiveRoom, RoomEvent], None]) -> None:
        """`tell` passes an event of another process on to the channels of a room."""
        self._store = store
        self._shared = shared(store)
        self._tell = tell

    @property
    def is_shared(self) -> bool:
        """Whether others may write to the same rooms."""
        return self._shared is not None

    async def commit(self, room: LiveRoom, event: RoomEvent) -> RoomEvent:
        """Stores an event as the room's next and returns it as it stands; the caller holds the room's lock. Raises StoreError."""
        if self._shared is None:
            await self._store.append(event)
            return event
        kept = await self._shared.append_next(event)
        index = kept.index or 0
        if index > room.next_index:
            try:
                await self._take_in(room, index)
            except StoreError as error:
                # The event is committed: its own way must go on, even though this process has missed others.
                log.error("room %s: events %s to %s are missing here: %s", room.room_id, room.next_index, index - 1, error)
        return kept

    async def catch_up(self, room: LiveRoom) -> None:
        """Takes in what others have committed since the room's newest event. Raises StoreError."""
        if self._shared is None:
            return
        async with room.lock:
            if not room.closed:
                await self._take_in(room, None)

    async def follow(self, rooms: Rooms) -> None:
        """Catches up wherever the store has news, until it is cancelled; returns at once when the store is not shared."""
        if self._shared is None:
            return
        async for room_id in self._shared.news():
            named = None if room_id is None else rooms.get(room_id)
            for room in rooms if room_id is None else (named,):
                if room is None:
                    continue
                room.feed.refresh()
                try:
                    await self.catch_up(room)
                except StoreError as error:
                    log.warning("room %s: events of other processes come with the next one: %s", room.room_id, error)

    async def _take_in(self, room: LiveRoom, before: int | None) -> None:
        """Takes in the events from the room's next index on, up to but without `before`."""
        more = True
        while more:
            wanted = EventFilter(after_index=room.next_index - 1, before_index=before, blocked=True)
            events = await self._store.list_events(room.room_id, event_filter=wanted, limit=_PAGE)
            more = len(events) == _PAGE
            if any(_brings_people(event, room) for event in events):
                for person in await self._store.list_participants(room.room_id):
                    room.put_person(person)
            for event in events:
                room.remember(event)
                room.feed.commit(event)
                self._tell(room, event)


def _brings_people(event: RoomEvent, room: LiveRoom) -> bool:
    """Whether an event says that somebody came or went, or is by somebody who is not known here."""
    sender = event.source.participant_id
    return event.type is EventType.SYSTEM or (sender is not None and room.person(sender) is None)
