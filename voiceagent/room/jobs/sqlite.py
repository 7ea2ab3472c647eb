"""Jobs kept in an SQLite file, in the table that schema.py makes."""

import sqlite3
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final

from voiceagent.errors import StoreError
from voiceagent.room.jobs.row import JobRow, call_taken, decode_job, encode_job

Run = Callable[[str, tuple[str | int | None, ...]], Awaitable[list[sqlite3.Row]]]

_PUT: Final = (
    "INSERT INTO jobs (job_id, room_id, channel_id, generation_id, call_id, told, job) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (job_id) DO UPDATE SET told = excluded.told, job = excluded.job"
)
_OF_CALL: Final = "SELECT job FROM jobs WHERE room_id = ? AND channel_id = ? AND generation_id = ? AND call_id = ?"
_UNTOLD: Final = "SELECT job FROM jobs WHERE room_id = ? AND told = 0 ORDER BY place"


class SqliteJobs:
    """JobRows in a file that one engine writes to; `run` is the store's way to run one statement and its commit."""

    keeper = "here"

    def __init__(self, run: Run) -> None:
        self._run = run

    async def put(self, row: JobRow) -> None:
        """Keeps a job, or replaces what is known of it; returns after its commit. Raises StoreError."""
        call = (row.room_id, row.channel_id, row.generation_id, row.call_id)
        try:
            await self._run(_PUT, (row.job_id, *call, int(row.told), encode_job(row)))
        except StoreError as error:
            if isinstance(error.__cause__, sqlite3.IntegrityError):
                raise call_taken(row) from error
            raise

    async def of_call(self, room_id: str, channel_id: str, generation_id: str, call_id: str) -> JobRow | None:
        """The job that a call began."""
        rows = await self._run(_OF_CALL, (room_id, channel_id, generation_id, call_id))
        return decode_job(rows[0][0]) if rows else None

    async def untold(self, room_id: str) -> Sequence[JobRow]:
        """The jobs of a room that are not told, in the order in which they were begun."""
        return [decode_job(row[0]) for row in await self._run(_UNTOLD, (room_id,))]

    async def living(self, keepers: Collection[str]) -> Collection[str]:
        """None: one engine writes to a file."""
        return ()
