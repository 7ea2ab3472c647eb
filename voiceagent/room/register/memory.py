"""The register of rooms kept in memory, for as long as the process lives."""

from collections.abc import Callable, Sequence

from voiceagent.errors import StoreError
from voiceagent.room.register.entry import Register, RoomEntry
from voiceagent.room.store import Store


class MemoryRegister:
    """A Register without a file."""

    def __init__(self, erase: Callable[[str], None] | None = None) -> None:
        """`erase` removes what a store keeps of a room; without it, rooms cannot be erased."""
        self._entries: dict[str, RoomEntry] = {}
        self._erase = erase

    async def put(self, entry: RoomEntry) -> None:
        """Keeps or replaces what is known of a room."""
        self._entries[entry.room_id] = entry

    async def get(self, room_id: str) -> RoomEntry | None:
        """One room."""
        return self._entries.get(room_id)

    async def listed(self) -> Sequence[RoomEntry]:
        """Every room of which something is known, by id."""
        return [self._entries[room_id] for room_id in sorted(self._entries)]

    async def erase(self, room_id: str) -> None:
        """Removes a room with everything of it."""
        if self._erase is None:
            raise StoreError("this store cannot delete rooms: archive them, or give the store a `register`")
        self._erase(room_id)
        self._entries.pop(room_id, None)


def register_of(store: Store) -> Register:
    """Where a store keeps what is known of rooms; in memory when it has no `register`."""
    kept: Register | None = vars(store).get("register")
    return MemoryRegister() if kept is None else kept
