"""Rooms kept in memory, for as long as the process lives."""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import merge
from itertools import islice

from voiceagent.errors import StoreError
from voiceagent.room.conflict import id_taken, index_taken, key_taken
from voiceagent.room.consumption.memory import MemoryConsumption
from voiceagent.room.consumption.rows import ConsumptionRows
from voiceagent.room.events import EventStatus, Participant, RoomEvent
from voiceagent.room.jobs.memory import MemoryJobs
from voiceagent.room.jobs.row import JobRows
from voiceagent.room.lines.memory import LineMemory
from voiceagent.room.pairings.memory import MemoryPairings
from voiceagent.room.pairings.pairing import PairingRows
from voiceagent.room.questions.memory import MemoryQuestions
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.register.entry import Register
from voiceagent.room.register.memory import MemoryRegister
from voiceagent.room.store import EventFilter, taken_in

_EVERYTHING = EventFilter()


class MemoryStore:
    """A Store without a file. Events are kept as they are given, so they must not be changed afterwards.

    Appending takes the same time however long a room is; listing answers to one event looks at those answers only, and
    listing by index at the asked stretch. A room that nobody wrote to costs nothing.
    """

    def __init__(self) -> None:
        self._rooms: dict[str, _Room] = {}
        self._by_id: dict[str, RoomEvent] = {}
        self._jobs = MemoryJobs()
        self._questions = MemoryQuestions()
        self.register: Register = MemoryRegister(self._erase)
        self.pairings: PairingRows = MemoryPairings()
        self._lines = LineMemory()
        self._consumption = MemoryConsumption()

    @property
    def questions(self) -> QuestionRows:
        """Where agents' questions are kept."""
        return self._questions

    @property
    def jobs(self) -> JobRows:
        """Where agents' background jobs are kept."""
        return self._jobs

    @property
    def consumption(self) -> ConsumptionRows:
        """Where it is kept what became of answers."""
        return self._consumption

    @property
    def feed_lines(self) -> LineMemory:
        """Where the lines of the rooms' feeds are kept."""
        return self._lines

    async def append(self, event: RoomEvent) -> None:
        """Keeps a committed event. Raises StoreError when its index, id or idempotency key is taken or its index missing."""
        room = self._rooms.get(event.room_id) or _Room()
        place = room.place(event)
        if event.id in self._by_id:
            raise id_taken(event)
        room.keep(event, place)
        self._by_id[event.id] = event
        self._rooms[event.room_id] = room

    async def list_events(
        self, room_id: str, *, event_filter: EventFilter | None = None, limit: int | None = None, newest: bool = False
    ) -> list[RoomEvent]:
        """Events in index order; with `newest`, the last `limit` of them, still in index order. `limit` is not negative."""
        if limit is not None and limit < 0:
            raise StoreError(f"limit must not be negative, and is {limit}")
        room = self._rooms.get(room_id)
        if room is None:
            return []
        wanted = event_filter or _EVERYTHING
        stretch = room.stretch(wanted)
        fitting = (event for event in (reversed(stretch) if newest else stretch) if _fits(event, wanted))
        found = list(islice(fitting, limit))
        if newest:
            found.reverse()
        return found

    async def get_event(self, room_id: str, event_id: str) -> RoomEvent | None:
        """One event by its id, refused ones included."""
        event = self._by_id.get(event_id)
        return event if event is not None and event.room_id == room_id else None

    async def find_key(self, room_id: str, channel_id: str, idempotency_key: str) -> RoomEvent | None:
        """The event that a channel stored under this key."""
        room = self._rooms.get(room_id)
        return room.keys.get((channel_id, idempotency_key)) if room and room.keys else None

    async def last_index(self, room_id: str) -> int | None:
        """The newest index of a room, None while it has no events."""
        room = self._rooms.get(room_id)
        return room.events[-1].index if room and room.events else None

    async def put_participant(self, room_id: str, participant: Participant) -> None:
        """Keeps or replaces a participant, who stays in their place in the order of joining."""
        room = self._rooms.setdefault(room_id, _Room())
        room.participants = {} if room.participants is None else room.participants
        room.participants[participant.id] = participant

    async def list_participants(self, room_id: str) -> list[Participant]:
        """Everybody who ever joined, in order of joining."""
        room = self._rooms.get(room_id)
        return list(room.participants.values()) if room and room.participants else []

    async def list_rooms(self) -> Sequence[str]:
        """Ids of rooms with at least one event or participant, sorted."""
        return sorted(self._rooms)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _erase(self, room_id: str) -> None:
        room = self._rooms.pop(room_id, None)
        for event in room.events if room is not None else ():
            del self._by_id[event.id]
        for kept in (self._jobs, self._questions, self._lines, self._consumption):
            kept.erase(room_id)


class _Room:
    """One room's events in index order, and who answers what; each index is made when its first entry comes."""

    __slots__ = ("answers", "events", "keys", "participants", "taken")

    def __init__(self) -> None:
        self.events: list[RoomEvent] = []
        self.answers: dict[str, list[RoomEvent]] | None = None
        self.taken: dict[str, list[RoomEvent]] | None = None
        self.keys: dict[tuple[str, str], RoomEvent] | None = None
        self.participants: dict[str, Participant] | None = None

    def place(self, event: RoomEvent) -> int:
        """Where in `events` this one belongs. Raises StoreError when its index or key is taken or its index missing."""
        place = _place(self.events, _index(event))
        if place < len(self.events) and self.events[place].index == event.index:
            raise index_taken(event)
        if event.idempotency_key is not None and (event.source.channel_id, event.idempotency_key) in (self.keys or ()):
            raise key_taken(event)
        return place

    def keep(self, event: RoomEvent, place: int) -> None:
        """Takes an event in at the place that was found for it."""
        self.events.insert(place, event)
        if event.responds_to is not None:
            self.answers = {} if self.answers is None else self.answers
            _insert(self.answers.setdefault(event.responds_to, []), event)
        for input_id in taken_in(event):
            self.taken = {} if self.taken is None else self.taken
            _insert(self.taken.setdefault(input_id, []), event)
        if event.idempotency_key is not None:
            self.keys = {} if self.keys is None else self.keys
            self.keys[event.source.channel_id, event.idempotency_key] = event

    def stretch(self, wanted: EventFilter) -> Sequence[RoomEvent]:
        """The events between the asked indices, from the shortest list that holds them all."""
        events = self.events if wanted.responds_to is None else self._answers(wanted.responds_to, wanted.taken_in)
        start = 0 if wanted.after_index is None else _place(events, wanted.after_index + 1)
        end = len(events) if wanted.before_index is None else _place(events, wanted.before_index)
        return events if (start, end) == (0, len(events)) else events[start:end]

    def _answers(self, event_id: str, taken: bool) -> list[RoomEvent]:
        """The answers to one event, with those that took it in later when they are asked for."""
        answers = (self.answers or {}).get(event_id, [])
        later = (self.taken or {}).get(event_id) if taken else None
        return answers if later is None else list(merge(answers, later, key=_index))


def _index(event: RoomEvent) -> int:
    if event.index is None:
        raise StoreError(f"event {event.id!r} has no index: only committed events are stored")
    return event.index


def _insert(events: list[RoomEvent], event: RoomEvent) -> None:
    events.insert(_place(events, _index(event)), event)


def _place(events: list[RoomEvent], index: int) -> int:
    """The position of the first event with this index or a later one."""
    if not events or _index(events[-1]) < index:
        return len(events)
    return bisect_left(events, index, key=_index)


def _fits(event: RoomEvent, wanted: EventFilter) -> bool:
    """Whether an event of the stretch fits the rest of the filter."""
    return (
        (wanted.blocked or event.status is not EventStatus.BLOCKED)
        and (wanted.types is None or event.type in wanted.types)
        and (wanted.channel_id is None or event.source.channel_id == wanted.channel_id)
        and (wanted.participant_id is None or event.source.participant_id == wanted.participant_id)
        and (wanted.correlation_id is None or event.correlation_id == wanted.correlation_id)
    )
