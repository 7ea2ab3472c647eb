"""One agent's memory in one room: fed in order behind the talk, and asked within a bound, so that it can hold up nobody."""

import logging
from collections import deque
from collections.abc import Sequence
from typing import Final

from voiceagent.agent.memory import MemoryProvider, RoomMemory
from voiceagent.room.bounded import bounded
from voiceagent.room.channel import Host
from voiceagent.room.events import RoomEvent

log = logging.getLogger(__name__)

PATIENCE_MS: Final = 2_000
"""How long a memory may take over one event, and over one recollection."""

MOST_WAITING: Final = 1_000


class Recollection:
    """Hands each event to the memory once. A memory that fails or is slow loses an event, never a turn.

    Its task, and the queue, live only while something waits; the default memory needs neither, for it is never late.
    """

    __slots__ = ("_channel_id", "_closed", "_default", "_host", "_memory", "_room_id", "_waiting")

    def __init__(self, memory: MemoryProvider, host: Host, room_id: str, channel_id: str) -> None:
        self._memory = memory
        self._default = memory if type(memory) is RoomMemory else None
        self._host = host
        self._room_id = room_id
        self._channel_id = channel_id
        self._waiting: deque[tuple[RoomEvent, str]] | None = None
        self._closed = False

    def take(self, event: RoomEvent, speaker: str) -> None:
        """An event for the memory, and the label of who said it; of more than 1,000 that wait the oldest are lost."""
        if self._closed:
            return
        if self._default is not None:
            self._default.keep(self._room_id, event, speaker)
        elif self._waiting is not None:
            self._waiting.append((event, speaker))
        else:
            self._waiting = deque(((event, speaker),), MOST_WAITING)
            self._host.spawn(self._take_all(), f"memory of {self._channel_id}")

    async def recall(self, trigger: RoomEvent) -> Sequence[str]:
        """Lines that help to answer; none from a memory that fails, is slow, or returns anything but texts."""
        if self._default is not None:
            return ()
        try:
            lines = await bounded(self._memory.recall(self._room_id, trigger), PATIENCE_MS)
            if isinstance(lines, str) or not all(isinstance(line, str) for line in lines):
                raise TypeError("a memory recalls a sequence of texts")
            return tuple(lines)
        except Exception:
            log.exception("room %s: the memory of %s failed; the turn goes on without it", self._room_id, self._channel_id)
            return ()

    def close(self) -> None:
        """The agent leaves the room: nothing more of it is remembered."""
        self._closed = True
        if self._waiting is not None:
            self._waiting.clear()

    async def _take_all(self) -> None:
        try:
            while self._waiting:
                event, speaker = self._waiting.popleft()
                await self._one(event, speaker)
        finally:
            self._waiting = None

    async def _one(self, event: RoomEvent, speaker: str) -> None:
        try:
            await bounded(self._memory.ingest(self._room_id, event, speaker), PATIENCE_MS)
        except Exception:
            log.exception("room %s: the memory of %s did not take in %s", self._room_id, self._channel_id, event.id)
