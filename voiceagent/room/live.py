"""One open room: its order, its seats, its people, and the newest of its events."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from voiceagent import clock
from voiceagent.room.consumption.tracks import Tracks
from voiceagent.room.events import ChannelBinding, ChannelType, Participant, RoomEvent
from voiceagent.room.feed import Feed
from voiceagent.room.leash import Leash
from voiceagent.room.ledger import Disposition, Ledger
from voiceagent.room.questions.aloud import Aloud
from voiceagent.room.register.entry import Starter
from voiceagent.room.roster import Roster, Speaker
from voiceagent.room.seat import Seat
from voiceagent.room.turns import Turns
from voiceagent.room.watch import Watch

WINDOW: Final = 200
"""How many events a room keeps at hand for those that read history."""


class LiveRoom:
    """A room while it is open; what channels and hooks see of it is the RoomContext protocol."""

    __slots__ = (
        "_order",
        "_people",
        "_recent",
        "_roster",
        "_said_by",
        "_seats",
        "aloud",
        "closed",
        "feed",
        "leash",
        "ledger",
        "lock",
        "next_index",
        "reserved",
        "room_id",
        "started_by",
        "tracks",
        "turns",
    )

    def __init__(self, room_id: str, feed: Feed | None = None, turns: Turns | None = None) -> None:
        """`turns` measures what `feed` publishes; both are the room's own by default."""
        self.room_id = room_id
        self.turns = turns if turns is not None else Turns(room_id)
        self.lock = asyncio.Lock()
        self.feed = feed if feed is not None else Feed(room_id, watch=Watch(self.turns.read))
        self.ledger = Ledger(self.feed)
        self.leash: Leash | None = None
        self.aloud: Aloud | None = None
        self.tracks = Tracks()
        self.next_index = 0
        self.closed = False
        self.started_by: Starter | None = None
        self.reserved: set[str] | None = None
        self._seats: dict[str, Seat] = {}
        self._people: dict[str, Participant] | None = None
        self._recent: deque[RoomEvent] | None = None
        self._roster: Roster | None = None
        self._said_by: dict[str, Speaker | None] | None = None
        self._order: dict[str, asyncio.Lock] | None = None

    def end(self, reason: str) -> None:
        """The room ends: what is open in it is settled, what was measured is told, and nothing follows in its feed."""
        self.ledger.close(reason)
        self.turns.close(clock.now())
        self.feed.close()

    @property
    def participants(self) -> Sequence[Participant]:
        """Everybody who ever joined, in order of joining."""
        return tuple(self._people.values()) if self._people else ()

    @property
    def bindings(self) -> Sequence[ChannelBinding]:
        """The channels in the room, in order of attachment."""
        return tuple(seat.binding for seat in self._seats.values())

    @property
    def recent_events(self) -> Sequence[RoomEvent]:
        """The newest committed events, oldest first."""
        return tuple(self._recent) if self._recent else ()

    def remembers(self, event_id: str) -> bool:
        """Whether an event is among the newest ones."""
        return self._said_by is not None and event_id in self._said_by

    @property
    def unanswered(self) -> Mapping[str, Disposition]:
        """Messages that nobody answers by itself, by id: the agent was gone, or whoever wrote one has withdrawn it."""
        return self.ledger.unanswered

    @property
    def seats(self) -> Sequence[Seat]:
        """The occupied seats, in order of attachment."""
        return tuple(self._seats.values())

    def seat(self, channel_id: str) -> Seat | None:
        """A channel's seat, None when it is not bound."""
        return self._seats.get(channel_id)

    def channel_types(self) -> dict[str, ChannelType]:
        """The type of every bound channel by its id."""
        return {channel_id: seat.binding.channel_type for channel_id, seat in self._seats.items()}

    def take_seat(self, seat: Seat) -> None:
        """Binds a channel, or replaces its binding."""
        self._seats[seat.binding.channel_id] = seat

    def leave_seat(self, channel_id: str) -> Seat | None:
        """Unbinds a channel."""
        return self._seats.pop(channel_id, None)

    def person(self, participant_id: str) -> Participant | None:
        """A participant by id, whether active or not."""
        return self._people.get(participant_id) if self._people else None

    def put_person(self, person: Participant) -> Participant:
        """Adds a participant or joins what is new with what was known: channels add up, the first is the primary."""
        if self._people is None:
            self._people = {}
        known = self._people.get(person.id)
        if known is not None:
            channels = tuple(dict.fromkeys((*known.connected_via, *person.connected_via)))
            person = replace(person, connected_via=channels, display_name=person.display_name or known.display_name)
        self._people[person.id] = person
        return person

    def speaker(self, event: RoomEvent) -> Speaker | None:
        """Who said a message: a label kept since the first time they were met, and kept with each message of the window."""
        if self._said_by is not None and (known := self._said_by.get(event.id)) is not None:
            return known
        return self._met(event)

    def _met(self, event: RoomEvent) -> Speaker | None:
        if self._roster is None:
            self._roster = Roster()
        return self._roster.speaker(event, self.person(event.source.participant_id or ""))

    def order_of(self, source: str) -> asyncio.Lock:
        """Keeps one source's events in their order while hooks look at them."""
        if self._order is None:
            self._order = {}
        return self._order.setdefault(source, asyncio.Lock())

    def remember(self, event: RoomEvent, *, answers: bool = False) -> None:
        """Takes a committed event into the window; the next index comes first, whatever may fail behind it. What seems to be the
        `answers` to a question gives agents no more turns."""
        self.next_index = (event.index or 0) + 1
        if self._recent is None or self._said_by is None:
            self._recent, self._said_by = deque(maxlen=WINDOW), {}
        if len(self._recent) == WINDOW:
            self._said_by.pop(self._recent[0].id, None)
        self._recent.append(event)
        self._said_by[event.id] = self._met(event)
        if self.leash is not None and not answers:
            self.leash.heard(event)
