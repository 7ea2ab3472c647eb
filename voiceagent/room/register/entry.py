"""What is known of a room besides what happened in it, as JSON text, and what a store offers to keep it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from voiceagent.errors import StoreError
from voiceagent.values import JSON


@dataclass(frozen=True, slots=True)
class Starter:
    """Who started a room: a person, by participant id, or an agent, by channel id. `room_id`: the room in which that was done."""

    kind: Literal["person", "agent"]
    id: str
    room_id: str | None = None

    def told(self) -> dict[str, JSON]:
        """As hosts read it."""
        return {"kind": self.kind, "id": self.id, **({} if self.room_id is None else {"room_id": self.room_id})}


@dataclass(frozen=True, slots=True)
class RoomEntry:
    """One room. `archived_at`: since when it is closed for good."""

    room_id: str
    started_by: Starter | None = None
    archived_at: datetime | None = None

    def works_for(self, room_id: str, channel_id: str) -> bool:
        """Whether an agent, or somebody in the room where it sits, has started this one."""
        by = self.started_by
        return by is not None and (by.room_id == room_id or (by.kind, by.id) == ("agent", channel_id))


class Register(Protocol):
    """Keeps entries of rooms. What `put` returned from survives the process; all raise StoreError."""

    async def put(self, entry: RoomEntry) -> None:
        """Keeps or replaces what is known of a room."""
        ...

    async def get(self, room_id: str) -> RoomEntry | None:
        """One room; None when nothing is known of it."""
        ...

    async def listed(self) -> Sequence[RoomEntry]:
        """Every room of which something is known, by id."""
        ...

    async def erase(self, room_id: str) -> None:
        """Removes a room: its events, lines, people, jobs, questions, what became of its answers, followers' cursors, its entry.

        All or nothing. Raises StoreError, also where the store cannot do it.
        """
        ...


def encode_entry(entry: RoomEntry) -> str:
    """JSON text with every field. Raises StoreError for what UTF-8 cannot hold."""
    try:
        return _ENTRY.dump_json(entry, warnings="error").decode()
    except (PydanticSerializationError, ValueError) as error:
        raise StoreError(f"what is known of room {entry.room_id!r} cannot be written as JSON: {error}") from error


def decode_entry(text: str | bytes) -> RoomEntry:
    """The entry in JSON text; fields that this version does not know are left out. Raises StoreError for anything else."""
    try:
        return _ENTRY.validate_json(text)
    except (ValidationError, ValueError) as error:
        raise StoreError(f"what is known of a room cannot be read: {type(error).__name__}") from error


_ENTRY: TypeAdapter[RoomEntry] = TypeAdapter(RoomEntry)
