"""What agents' background jobs need of the room: rows that outlive the process, lines in the feed, a result's way back."""

import logging
import secrets
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, cast

from voiceagent.errors import StoreError
from voiceagent.room.events import InboundResult
from voiceagent.room.handing import Handing
from voiceagent.room.jobs.memory import MemoryJobs
from voiceagent.room.jobs.row import JobRow, JobRows
from voiceagent.room.live import LiveRoom
from voiceagent.room.origin import Origin
from voiceagent.room.rooms import Rooms
from voiceagent.room.store import Store
from voiceagent.values import JSON

log = logging.getLogger(__name__)

INTERRUPTED: Final = "the program stopped while the job ran"


def rows_of(store: Store) -> JobRows:
    """Where a store keeps jobs; in memory when its class has no `jobs`."""
    return cast(JobRows, getattr(store, "jobs")) if hasattr(type(store), "jobs") else MemoryJobs()  # noqa: B009


class JobDesk:
    """The JobKeeping of one engine's rooms. A job that another run of the program has begun has lost its worker."""

    def __init__(self, rows: JobRows, rooms: Rooms, handing: Handing) -> None:
        self.rows = rows
        self.owner = f"{rows.keeper} {secrets.token_hex(8)}"
        self._rooms = rooms
        self._handing = handing
        self._left: dict[str, dict[str, JobRow]] = {}

    def publish(self, row: JobRow, what: str, data: dict[str, JSON] | None = None, *, durable: bool = True) -> None:
        """Adds `job.<what>` to the feed of the job's room; nothing when the room is closed."""
        room = self._rooms.get(row.room_id)
        if room is None:
            return
        named: dict[str, JSON] = {"job_id": row.job_id, "call_id": row.call_id, "tool": row.tool, "label": row.label}
        room.feed.publish(
            f"job.{what}",
            named | (data or {}),
            durable=durable,
            channel_id=row.channel_id,
            generation_id=row.generation_id,
            responds_to=row.responds_to,
            audience=row.audience,
        )

    async def hand_back(self, row: JobRow, text: str) -> InboundResult:
        """Has the agent that began a job read what came of it, as an instruction that answers nobody and approves nothing.

        What is said of it reaches no further than what the agent was answering. A refusal says why in `reason`: `LATER`, or for
        good.
        """
        origin = Origin(row.room_id, row.channel_id, row.response_visibility, row.parent_event_id, row.chain_depth)
        return await self._handing.back(origin, text, {"job_id": row.job_id})

    async def recover(self, room: LiveRoom) -> None:
        """Reports what the end of an earlier run has broken off, when a room opens; nothing of it is run again.

        What was left untold waits for its agent. A store that fails costs the report, not the room.
        """
        try:
            async with room.lock:
                for orphan in await self._orphans(room.room_id):
                    row = replace(orphan, owner=self.owner)
                    if orphan.state == "running":
                        row = replace(row, state="interrupted", result=INTERRUPTED)
                    await self.rows.put(row)
                    if orphan.state == "running":
                        self.publish(row, "recovered", {"outcome": "unconfirmed", "effects": "not_rolled_back"})
                    self.leave(row)
        except StoreError:
            log.exception("room %s: what became of its jobs is not known", room.room_id)

    def cancel(self, room: LiveRoom, job_id: str) -> bool:
        """Asks a job to stop, whichever agent runs it; one that is not active is refused in the feed."""
        if any(seat.channel.cancel_job(room.room_id, job_id) for seat in room.seats):
            return True
        refused: dict[str, JSON] = {"command": "job.cancel", "job_id": job_id, "reason": "not_active"}
        room.feed.publish("command.rejected", refused, audience="host")
        return False

    def leave(self, row: JobRow) -> None:
        """Keeps what a job came to until its agent sits in the room again; that of a closed room is in the store alone."""
        if row.room_id in self._rooms:
            self._left.setdefault(row.room_id, {})[row.job_id] = row

    def take_left(self, room_id: str, channel_id: str) -> Sequence[JobRow]:
        """What waits for an agent that has just sat down; it is that agent's from now on."""
        waiting = self._left.get(room_id)
        if waiting is None:
            return ()
        taken = [row for row in waiting.values() if row.channel_id == channel_id]
        for row in taken:
            del waiting[row.job_id]
        if not waiting:
            del self._left[room_id]
        return taken

    def forget(self, room_id: str) -> None:
        """Lets go of a room that closes; the rows stay."""
        self._left.pop(room_id, None)

    async def _orphans(self, room_id: str) -> Sequence[JobRow]:
        """Untold jobs that nobody looks after: of engines that are gone, or left by an earlier opening of the room."""
        untold = await self.rows.untold(room_id)
        others = {_keeper(row) for row in untold} - {self.rows.keeper}
        living = await self.rows.living(others)
        return [row for row in untold if self._is_left(row, living)]

    def _is_left(self, row: JobRow, living: Collection[str]) -> bool:
        if row.owner == self.owner:
            return row.state != "running"  # one that runs is saved in a moment
        return _keeper(row) not in living


def _keeper(row: JobRow) -> str:
    return row.owner.split(" ", 1)[0]
