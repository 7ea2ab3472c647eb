"""An agent's conversation in a room, and how the room's records tell where its latest successor begins.

A conversation is one agent in one room; its successor is the same agent in the same room, reading a summary in place of what came
before. So calls, people, seats and the feed stay where they are, and only what the agent reads begins anew. The summary is an
internal record of the room, whose id names the successor; a room's first conversation is named by the room's id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from voiceagent.room.events import EventType, RoomEvent, SystemContent
from voiceagent.room.visibility import INTERNAL

SUMMARY: Final = "summary"
"""The code of the record that begins a successor."""

COMPACTED_UNTIL: Final = "compacted_until"
"""The record's metadata: the index of the newest event that the summary tells of."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where an agent's conversation stands: its name, what it begins with, and the index of the newest event told of in that."""

    id: str
    summary: str = ""
    until: int = -1


class Compacting(Protocol):
    """What an agent that compacts needs of the room."""

    async def succeed(self, room_id: str, channel_id: str, summary: str, until: int) -> str:
        """Begins an agent's next conversation; returns its id. Raises RoomError when the room does not take it, StoreError."""
        ...


def standing(channel_id: str, room_id: str, events: Sequence[RoomEvent]) -> Conversation:
    """An agent's conversation as the newest of these events tell of it."""
    for event in reversed(events):
        if event.type is not EventType.SYSTEM or event.visibility != INTERNAL or event.source.channel_id != channel_id:
            continue
        until = event.metadata.get(COMPACTED_UNTIL)
        if isinstance(event.content, SystemContent) and event.content.code == SUMMARY and isinstance(until, int):
            return Conversation(event.id, event.content.body, until)
    return Conversation(room_id)
