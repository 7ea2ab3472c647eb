"""Takes reports of what became of answers, has them stored, and tells the room's feed what has changed."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from voiceagent import clock
from voiceagent.errors import RoomError, StoreError
from voiceagent.room.consumption.rows import BATCH, ConsumptionRows
from voiceagent.room.consumption.state import Consumption, State, is_answer
from voiceagent.room.consumption.tracks import Progress, Update
from voiceagent.room.events import ChannelType, EventStatus, EventType, RoomEvent
from voiceagent.room.feed import Feed
from voiceagent.room.live import LiveRoom
from voiceagent.room.reply import Reply
from voiceagent.room.rooms import Rooms
from voiceagent.room.seat import Spawn
from voiceagent.room.store import Store
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

log = logging.getLogger(__name__)

RETRY_MS: Final = 1_000
"""How long to wait before a store that failed is tried again."""

MOST: Final = 10_000
"""How many reports may wait for a store that fails; then the oldest are lost."""

LAST_MS: Final = 1_000
"""How long a room's end waits for the store."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A report on its way to the store, and where it is told then."""

    feed: Feed
    update: Update


class ConsumptionDesk:
    """One engine's. Reports are taken at once, stored soon, and told once they are stored; one that says nothing new is not."""

    def __init__(self, rows: ConsumptionRows, rooms: Rooms, store: Store, spawn: Spawn) -> None:
        self._rows = rows
        self._rooms = rooms
        self._store = store
        self._spawn = spawn
        self._waiting: dict[tuple[str, str, str | None], _Waiting] = {}
        self._writing: asyncio.Task[None] | None = None

    # -- reports --------------------------------------------------------------------------------------------------------

    def said(self, room: LiveRoom, event: RoomEvent) -> None:
        """An event is committed; of a reply that sounds, it has come as far with everybody as the reply has."""
        if is_answer(event):
            self._keep(room, room.tracks.said(event, clock.utc()))

    def heard(self, reply: Reply, progress: Progress) -> None:
        """A channel that sounds replies has come so far with one for one person."""
        room = self._rooms.get(reply.room_id)
        if room is not None:
            self._keep(room, room.tracks.told(reply.id, progress, clock.utc()))

    def taken(self, event: RoomEvent, channel_id: str) -> None:
        """A channel that carries text has taken an event, for everybody who is there through it."""
        room = self._rooms.get(event.room_id)
        if room is None or not is_answer(event):
            return
        people = [person.id for person in room.participants if person.active and channel_id in person.connected_via]
        at = clock.utc()
        took = [Consumption(channel_id, person, "delivered", 0, 0, at) for person in people or (None,)]
        self._keep(room, [Update(event, one) for one in took])

    async def read(self, event_id: str, participant_id: str, *, channel_id: str | None, room_id: str | None) -> None:
        """Somebody has read a message. Raises RoomError when no open room has it, and StoreError."""
        room, event = await self._find(event_id, room_id)
        channel_id = channel_id or await self._read_by(room, event_id, participant_id)
        one = Consumption(channel_id, participant_id, "read", 0, 0, clock.utc())
        await self._store_and_tell([_Waiting(room.feed, Update(event, one))])

    # -- what is known --------------------------------------------------------------------------------------------------

    async def of(self, event_id: str) -> tuple[Consumption, ...]:
        """What became of one answer, by channel and person; nothing for what nobody was told. Raises StoreError."""
        found = {(one.channel_id, one.participant_id): one for one in await self._rows.of(event_id)}
        for waiting in self._waiting.values():
            one = waiting.update.consumption
            if waiting.update.event.id == event_id and one.says_more_than(found.get((one.channel_id, one.participant_id))):
                found[one.channel_id, one.participant_id] = one
        return tuple(found[place] for place in sorted(found, key=lambda place: (place[0], place[1] or "")))

    # -- the room's life ------------------------------------------------------------------------------------------------

    async def recover(self, room: LiveRoom) -> None:
        """Ends what a process that is gone has left waiting or sounding in a room that opens."""
        try:
            left = await self._rows.end_left(room.room_id, clock.utc())
            found = [(await self._store.get_event(room.room_id, row.event_id), row.consumption) for row in left]
            ended = [(event, one) for event, one in found if event is not None]
            for event, one in sorted(ended, key=lambda pair: pair[0].index or 0):
                _tell(room.feed, event, one)
        except StoreError:
            log.exception("room %s: what became of its last answers is not known", room.room_id)

    async def flush(self) -> None:
        """Returns once every report is stored and told, or after LAST_MS."""
        while self._writing is not None and not self._writing.done():
            done, _ = await asyncio.wait((self._writing,), timeout=LAST_MS / 1000)
            if not done:
                return

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _keep(self, room: LiveRoom, updates: Sequence[Update]) -> None:
        for update in updates:
            key = update.row.key
            known = self._waiting.get(key)
            if known is None or update.consumption.says_more_than(known.update.consumption):
                self._waiting[key] = _Waiting(room.feed, update)
        while len(self._waiting) > MOST:
            del self._waiting[next(iter(self._waiting))]
        if self._waiting and (self._writing is None or self._writing.done()):
            self._writing = self._spawn(self._write(), "consumption")

    async def _write(self) -> None:
        failures = 0
        while self._waiting:
            batch = dict(islice(self._waiting.items(), BATCH))
            try:
                await self._store_and_tell(list(batch.values()))
            except StoreError as error:
                failures += 1
                if failures == 1:
                    log.error("what became of answers waits for the store, tried again every second: %s", error)
                await asyncio.sleep(RETRY_MS / 1000)
                continue
            for key, one in batch.items():
                if self._waiting.get(key) is one:
                    del self._waiting[key]

    async def _store_and_tell(self, batch: Sequence[_Waiting]) -> None:
        kept = {row.key for row in await self._rows.put([one.update.row for one in batch])}
        for one in batch:
            if one.update.row.key in kept:
                _tell(one.feed, one.update.event, one.update.consumption)

    async def _find(self, event_id: str, room_id: str | None) -> tuple[LiveRoom, RoomEvent]:
        rooms = list(self._rooms) if room_id is None else [self._rooms.open(room_id)]
        for room in sorted(rooms, key=lambda room: not room.remembers(event_id)):
            event = await self._store.get_event(room.room_id, event_id)
            if event is not None and event.type is EventType.MESSAGE and event.status is not EventStatus.BLOCKED:
                return room, event
        raise RoomError(f"no open room has a message {event_id!r}: open its room first")

    async def _read_by(self, room: LiveRoom, event_id: str, participant_id: str) -> str:
        """The text channel by which somebody reads: the one that took the message for them, for whom it may concern, or the
        room's first."""
        took = [one for one in await self.of(event_id) if one.state in _TEXT]
        for person in (participant_id, None):
            if (found := next((one.channel_id for one in took if one.participant_id == person), None)) is not None:
                return found
        texts = [seat.channel_id for seat in room.bindings if seat.channel_type is ChannelType.TEXT]
        return texts[0] if texts else ""


_TEXT: Final[tuple[State, ...]] = ("delivered", "read")


def _tell(feed: Feed, event: RoomEvent, one: Consumption) -> None:
    """A line names no generation: it may come long after the end of that."""
    data: dict[str, JSON] = {
        "event_id": event.id,
        "channel_id": one.channel_id,
        "participant_id": one.participant_id,
        "state": one.state,
        "heard_chars": one.heard_chars,
        "played_ms": one.played_ms,
    }
    if one.word is not None:
        data["word"] = one.word
    feed.publish(
        "consumption.updated",
        data,
        channel_id=event.source.channel_id,
        responds_to=event.responds_to,
        audience="all" if event.visibility in (ALL, "transport") else "host",
    )
