"""Opens rooms with what the store knows of them, and brings their feeds up to what is stored."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from voiceagent.room.endings import endings
from voiceagent.room.feed import Feed
from voiceagent.room.journal import Journal
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.keeper import Keeper
from voiceagent.room.lines.memory import LineMemory
from voiceagent.room.lines.store import KEPT, NOTHING, LineStore, kept_lines
from voiceagent.room.live import WINDOW, LiveRoom
from voiceagent.room.store import EventFilter, Store
from voiceagent.room.turns import Turns
from voiceagent.room.watch import Watch
from voiceagent.trace.witness import NOBODY, Witness

log = logging.getLogger(__name__)

_PAGE: Final = 200
LOOK_BACK: Final = 1_000
"""Lines in which a room that opens looks for what was left unanswered."""


class Opening:
    """Opens one engine's rooms; the journal in which their feeds are kept is its own.

    A room's feed goes on where the store has it. Events that a crash has left without a line get it, and what a process that is
    gone has begun and not ended, generations and inputs, is ended.
    """

    def __init__(self, store: Store, witness: Witness = NOBODY, on_line: Callable[[FeedEvent], None] = lambda _: None) -> None:
        """`witness` is told what is measured in all rooms, `on_line` of every durable line once it is stored."""
        self._store = store
        self._witness = witness
        self._on_line = on_line
        self._stored, self._dropped = self._tell_of_line, witness.dropped  # one of each for all rooms
        self._lines = kept_lines(store)
        journals = self._lines is not None and not isinstance(self._lines, LineMemory)
        self._journal = Journal(self._lines, witness.dropped) if self._lines is not None and journals else None

    @property
    def waiting(self) -> int:
        """How many lines wait to be stored."""
        return self._journal.waiting if self._journal is not None else 0

    async def room(self, room_id: str) -> LiveRoom:
        """A room as it was left: what an earlier feed of it still has to store comes first. Raises StoreError."""
        if self._journal is not None:
            await self._journal.written(room_id)
        end = await self._lines.end(room_id) if self._lines is not None else NOTHING
        turns = Turns(room_id, self._witness)
        watch = Watch(turns.read, self._stored, self._dropped)
        room = LiveRoom(room_id, Feed(room_id, self._keeper(), end, watch), turns)
        for person in await self._store.list_participants(room_id):
            room.put_person(replace(person, active=False))
        last = await self._store.last_index(room_id)
        if last is not None:
            for event in await self._store.list_events(room_id, limit=WINDOW, newest=True):
                room.remember(event)
            room.next_index = max(room.next_index, last + 1)
        if self._lines is not None:
            await self._tell(room, end.told, -1 if last is None else last)
            if end.seq:
                for line in await self._lines.after(room_id, max(0, end.seq - LOOK_BACK), LOOK_BACK):
                    room.ledger.recall(line.type, line.data)
                await self._end(room, self._lines)
        return room

    async def is_new(self, room_id: str) -> bool:
        """Whether the store has neither events nor people of a room. Raises StoreError."""
        return await self._store.last_index(room_id) is None and not await self._store.list_participants(room_id)

    async def flush(self) -> None:
        """Returns once everything that was published is stored, or the store has failed for too long."""
        if self._journal is not None:
            await self._journal.flush()

    async def close(self) -> None:
        """Stores what is left; nothing may be published afterwards."""
        if self._journal is not None:
            await self._journal.close()

    def _tell_of_line(self, line: FeedEvent) -> None:
        try:
            self._on_line(line)
        except Exception:
            log.exception("room %s: somebody was not told of line %s", line.room_id, line.seq)

    def _keeper(self) -> Keeper | None:
        return self._lines if isinstance(self._lines, LineMemory) else self._journal

    async def _tell(self, room: LiveRoom, told: int, last: int) -> None:
        """Adds the lines of events that have none; of more than a feed keeps, the newest."""
        told = max(told, last - KEPT)
        while told < last:
            wanted = EventFilter(after_index=told, blocked=True)
            page = await self._store.list_events(room.room_id, event_filter=wanted, limit=_PAGE)
            for event in page:
                room.feed.commit(event)
            told = page[-1].index or last if page else last

    async def _end(self, room: LiveRoom, lines: LineStore) -> None:
        """Ends what nobody else will."""
        opened = await lines.claim(room.room_id)
        if not opened:
            return
        since: list[FeedEvent] = []
        seq, more = (opened[0].seq or 1) - 1, True
        while more:
            page = await lines.after(room.room_id, seq, _PAGE)
            since += page
            seq, more = (page[-1].seq or seq if page else seq), len(page) == _PAGE
        for one in endings(opened, since):
            room.ledger.recall(one.type, one.data)
            room.feed.publish(
                one.type,
                one.data,
                channel_id=one.channel_id,
                session_id=one.session_id,
                generation_id=one.generation_id,
                responds_to=one.responds_to,
                audience=one.audience,
            )
