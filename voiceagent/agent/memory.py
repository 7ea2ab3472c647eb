"""What an agent remembers beyond the conversation that it reads."""

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from voiceagent.room.events import EventType, RoomEvent

KEPT: Final = 1_000


class MemoryProvider(Protocol):
    """Takes in every event that the agent may know, once, and brings back what a turn may need.

    Events come one after the other, in order, behind the talk; each may take 2 seconds, and so may each recollection.
    """

    async def ingest(self, room_id: str, event: RoomEvent, speaker: str) -> None:
        """An event of the room, the agent's own included; `speaker` is the label of who said it."""
        ...

    async def recall(self, room_id: str, event: RoomEvent) -> Sequence[str]:
        """Lines that help to answer an event, most useful first; the model reads them as notes."""
        ...

    def forget_room(self, room_id: str) -> None:
        """A room with this id begins or ends."""
        ...


class RoomMemory:
    """The default: keeps what was said in each room, and brings back nothing, since the conversation itself is read."""

    def __init__(self) -> None:
        self._said: dict[str, deque[tuple[str, str]]] = {}

    async def ingest(self, room_id: str, event: RoomEvent, speaker: str) -> None:
        """Keeps the words of a message, the newest 1,000 of a room."""
        self.keep(room_id, event, speaker)

    def keep(self, room_id: str, event: RoomEvent, speaker: str) -> None:
        """What `ingest` does, at once."""
        if event.type is EventType.MESSAGE:
            self._said.setdefault(room_id, deque(maxlen=KEPT)).append((speaker, event.content.body))

    async def recall(self, room_id: str, event: RoomEvent) -> Sequence[str]:
        """Nothing."""
        return ()

    def forget_room(self, room_id: str) -> None:
        """Lets go of a room."""
        self._said.pop(room_id, None)

    def said(self, room_id: str) -> Sequence[tuple[str, str]]:
        """What was said in a room, oldest first, as (speaker, words)."""
        return tuple(self._said.get(room_id, ()))
