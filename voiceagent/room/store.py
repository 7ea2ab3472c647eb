"""What keeps a room's facts: the protocol, its filter, and the one that lives in memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from voiceagent.room.events import EventType, Participant, RoomEvent


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list; every field given must fit. `blocked` False leaves refused events out, as a timeline does.

    `taken_in` widens `responds_to`: also the answers that took that event in later, by the `input_ids` of their metadata.
    """

    responds_to: str | None = None
    types: tuple[EventType, ...] | None = None
    channel_id: str | None = None
    participant_id: str | None = None
    correlation_id: str | None = None
    after_index: int | None = None
    before_index: int | None = None
    blocked: bool = False
    taken_in: bool = False


def taken_in(event: RoomEvent) -> tuple[str, ...]:
    """Ids of the events that an answer took in besides the one that it responds to: the `input_ids` of its metadata."""
    ids = event.metadata.get("input_ids")
    if not isinstance(ids, list | tuple):
        return ()
    return tuple(dict.fromkeys(one for one in ids if isinstance(one, str) and one != event.responds_to))


class Store(Protocol):
    """Durable memory of rooms. An event whose `append` has returned survives the process."""

    async def append(self, event: RoomEvent) -> None:
        """Keeps a committed event; (room, index), id, and (room, channel, idempotency key) are unique. Raises StoreError."""
        ...

    async def list_events(
        self, room_id: str, *, event_filter: EventFilter | None = None, limit: int | None = None, newest: bool = False
    ) -> list[RoomEvent]:
        """Events in index order; with `newest`, the last `limit` of them, still in index order."""
        ...

    async def get_event(self, room_id: str, event_id: str) -> RoomEvent | None:
        """One event by its id, refused ones included."""
        ...

    async def find_key(self, room_id: str, channel_id: str, idempotency_key: str) -> RoomEvent | None:
        """The event that a channel stored under this key."""
        ...

    async def last_index(self, room_id: str) -> int | None:
        """The newest index of a room, None while it has no events."""
        ...

    async def put_participant(self, room_id: str, participant: Participant) -> None:
        """Keeps or replaces a participant."""
        ...

    async def list_participants(self, room_id: str) -> list[Participant]:
        """Everybody who ever joined, in order of joining."""
        ...

    async def list_rooms(self) -> Sequence[str]:
        """Ids of rooms with at least one event or participant."""
        ...

    async def close(self) -> None:
        """Lets go of the file; what was appended stays."""
        ...


class SharedStore(Protocol):
    """What a Store offers besides when several processes may write to its rooms: sharing.py says how a room uses it."""

    async def append_next(self, event: RoomEvent) -> RoomEvent:
        """Keeps an event at the room's next index and returns it with that; indices stay gapless over all processes.

        An index that the event carries is left aside. Raises StoreError, also when its id or idempotency key is taken.
        """
        ...

    def news(self) -> AsyncIterator[str | None]:
        """Ids of rooms that another process has just written to; None when any room may have been. Never ends by itself."""
        ...


def shared(store: Store) -> SharedStore | None:
    """The store as one that several processes write to, None when its class does not offer that."""
    return cast(SharedStore, store) if hasattr(type(store), "append_next") else None
