"""What one agent has in mind in one room: its thought, made by one call at a time, from the newest of what was heard."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from voiceagent import clock
from voiceagent.judgment.thinker import Heard, Thinker
from voiceagent.judgment.thought import Thought
from voiceagent.room.bounded import bounded
from voiceagent.room.channel import Host
from voiceagent.room.hooks import HookTrigger

log = logging.getLogger(__name__)

LONGEST_MS: Final = 30_000
"""A thinker has a timeout of its own; one that hangs beyond this must not end all thinking in the room."""


@dataclass(slots=True)
class ThoughtEvent:
    """What ON_THOUGHT hooks see. `duration_ms` is the thinker's time; None when the agent spoke and so emptied the thought."""

    room_id: str
    channel_id: str
    thought: Thought
    previous: Thought
    duration_ms: int | None


@dataclass(frozen=True, slots=True)
class _Material:
    """What is to be thought about, when it was heard, and who waits for the thought."""

    heard: Heard
    moment: int | None
    settled: asyncio.Future[Thought | None]

    def settle(self, thought: Thought | None) -> None:
        if not self.settled.done():
            self.settled.set_result(thought)


class Mind:
    """Thinks about what is heard. A newer context takes the place of one that still waits; a failing thinker changes nothing."""

    def __init__(self, thinker: Thinker, host: Host, room_id: str, channel_id: str) -> None:
        self._thinker = thinker
        self._host = host
        self._room_id = room_id
        self._channel_id = channel_id
        self.thought = Thought()
        self._waiting: _Material | None = None
        self._newest: asyncio.Future[Thought | None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._latest = 0
        self._spoken = 0
        self._speaking = 0

    @property
    def moment(self) -> int | None:
        """How often the agent has spoken, to tell whether it has spoken since; None while a turn of it runs."""
        return None if self._speaking else self._spoken

    def is_newest(self, settled: asyncio.Future[Thought | None]) -> bool:
        """Whether nothing has been considered since what `settled` is the thought of."""
        return self._newest is settled

    def consider(self, heard: Heard, moment: int | None, arrival: int) -> asyncio.Future[Thought | None]:
        """Has the thinker think about what was heard at a `moment`; settles with the thought, or None when it failed or
        something that arrived later came, be it before this one's hooks were done."""
        settled: asyncio.Future[Thought | None] = asyncio.get_running_loop().create_future()
        if arrival < self._latest:
            settled.set_result(None)
            return settled
        self._latest = arrival
        if self._waiting is not None:
            self._waiting.settle(None)
        self._waiting = _Material(heard, moment, settled)
        self._newest = settled
        if self._task is None or self._task.done():
            self._task = self._host.spawn(self._think(), f"mind of {self._channel_id}")
        return settled

    def speaks(self) -> None:
        """A turn of the agent begins: what it wanted to say is said, or no longer to be said."""
        self._spoken += 1
        self._speaking += 1
        if self.thought.want_to_say:
            self._change(self.thought.spoken(), None)

    def spoke(self) -> None:
        """That turn has ended."""
        self._speaking -= 1

    def close(self) -> None:
        """The agent leaves the room: nothing more is thought there."""
        if self._task is not None:
            self._task.cancel()
        if self._waiting is not None:
            self._waiting.settle(None)
        self._waiting = None

    async def _think(self) -> None:
        while self._waiting is not None:
            material, self._waiting = self._waiting, None
            thought: Thought | None = None
            try:
                thought = await self._once(material)
            finally:
                material.settle(thought)

    async def _once(self, material: "_Material") -> Thought | None:
        began = clock.now()
        try:
            thought = await bounded(self._thinker.think(material.heard, self.thought), LONGEST_MS)
            if not isinstance(thought, Thought):
                raise TypeError(f"a thinker returns a Thought, not a {type(thought).__name__}")
        except Exception:
            log.exception("room %s: the thinker of %s failed; its thought stays", self._room_id, self._channel_id)
            return None
        if material.moment != self._spoken:
            thought = thought.spoken()
        self._change(thought, clock.now() - began)
        return thought

    def _change(self, thought: Thought, duration_ms: int | None) -> None:
        if thought == self.thought:
            return
        previous, self.thought = self.thought, thought
        changed = ThoughtEvent(self._room_id, self._channel_id, thought, previous, duration_ms)
        self._host.notify(HookTrigger.ON_THOUGHT, changed, self._room_id)
        self._host.feed(self._room_id).publish(
            "thought.updated",
            {
                "text": thought.text,
                "want_to_say": list(thought.want_to_say),
                "urgent": thought.urgent,
                "duration_ms": duration_ms,
            },
            channel_id=self._channel_id,
            audience="host",
        )
