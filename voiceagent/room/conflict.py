"""What a store says when an event would stand where another one stands."""

from voiceagent.errors import StoreError
from voiceagent.room.events import RoomEvent


def index_taken(event: RoomEvent) -> StoreError:
    """Two writers gave out the same index."""
    return StoreError(
        f"room {event.room_id!r} already has an event with index {event.index}: "
        "another engine or process writes to this room; let only one do so, or keep the rooms in a Postgres database"
    )


def id_taken(event: RoomEvent) -> StoreError:
    """Ids are unique over all rooms of a store."""
    return StoreError(f"an event with the id {event.id!r} is already stored; give each event an id of its own")


def key_taken(event: RoomEvent) -> StoreError:
    """A channel uses an idempotency key once a room."""
    return StoreError(
        f"channel {event.source.channel_id!r} already stored an event under the idempotency key "
        f"{event.idempotency_key!r} in room {event.room_id!r}; find_key returns it"
    )
