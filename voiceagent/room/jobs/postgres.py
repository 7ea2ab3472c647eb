"""Jobs kept in a Postgres database, in the table that tables.py makes."""

from collections.abc import Collection, Sequence
from typing import Final

import asyncpg

from voiceagent.errors import StoreError
from voiceagent.room.codec import escape
from voiceagent.room.database import Database
from voiceagent.room.jobs.row import JobRow, call_taken, decode_job, encode_job

_PUT: Final = (
    "INSERT INTO jobs (job_id, room_id, channel_id, generation_id, call_id, told, job)"
    " VALUES ($1, $2, $3, $4, $5, $6::text::boolean, $7)"
    " ON CONFLICT (job_id) DO UPDATE SET told = excluded.told, job = excluded.job"
)
_OF_CALL: Final = "SELECT job FROM jobs WHERE room_id = $1 AND channel_id = $2 AND generation_id = $3 AND call_id = $4"
_UNTOLD: Final = "SELECT job FROM jobs WHERE room_id = $1 AND NOT told ORDER BY place"
_LIVING: Final = "SELECT DISTINCT application_name FROM pg_stat_activity WHERE application_name = ANY($1::text[])"


class PostgresJobs:
    """JobRows in a database that several processes share; each of them is known by the name of its connections."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def keeper(self) -> str:
        """The name of this process's connections."""
        return self._database.application

    async def put(self, row: JobRow) -> None:
        """Keeps a job, or replaces what is known of it; returns after its commit. Raises StoreError."""
        call = (escape(value) for value in (row.job_id, row.room_id, row.channel_id, row.generation_id, row.call_id))
        try:
            await self._database.fetch(_PUT, *call, "true" if row.told else "false", encode_job(row))
        except StoreError as error:
            if isinstance(error.__cause__, asyncpg.UniqueViolationError):
                raise call_taken(row) from error
            raise

    async def of_call(self, room_id: str, channel_id: str, generation_id: str, call_id: str) -> JobRow | None:
        """The job that a call began."""
        call = (escape(value) for value in (room_id, channel_id, generation_id, call_id))
        rows = await self._database.fetch(_OF_CALL, *call)
        return decode_job(rows[0]["job"]) if rows else None

    async def untold(self, room_id: str) -> Sequence[JobRow]:
        """The jobs of a room that are not told, in the order in which they were begun."""
        return [decode_job(row["job"]) for row in await self._database.fetch(_UNTOLD, escape(room_id))]

    async def living(self, keepers: Collection[str]) -> Collection[str]:
        """Those that have a connection open. A process that was killed has none."""
        if not keepers:
            return ()
        return [row["application_name"] for row in await self._database.fetch(_LIVING, list(keepers))]
