"""Jobs kept in memory, for as long as the process lives."""

from collections.abc import Collection, Sequence

from voiceagent.room.jobs.row import JobRow, call_taken


class MemoryJobs:
    """JobRows without a file."""

    keeper = "here"

    def __init__(self) -> None:
        self._rows: dict[str, JobRow] = {}
        self._calls: dict[tuple[str, str, str, str], str] = {}
        self._untold: dict[str, dict[str, None]] = {}

    async def put(self, row: JobRow) -> None:
        """Keeps a job, or replaces what is known of it. Raises StoreError when another job has its call."""
        call = (row.room_id, row.channel_id, row.generation_id, row.call_id)
        if self._calls.setdefault(call, row.job_id) != row.job_id:
            raise call_taken(row)
        self._rows[row.job_id] = row
        if not row.told:
            self._untold.setdefault(row.room_id, {}).setdefault(row.job_id)
        elif (untold := self._untold.get(row.room_id)) is not None:
            untold.pop(row.job_id, None)
            if not untold:
                del self._untold[row.room_id]

    async def of_call(self, room_id: str, channel_id: str, generation_id: str, call_id: str) -> JobRow | None:
        """The job that a call began."""
        job_id = self._calls.get((room_id, channel_id, generation_id, call_id))
        return self._rows[job_id] if job_id is not None else None

    async def untold(self, room_id: str) -> Sequence[JobRow]:
        """The jobs of a room that are not told, in the order in which they were begun."""
        return [self._rows[job_id] for job_id in self._untold.get(room_id, ())]

    def erase(self, room_id: str) -> None:
        """Removes the jobs of a room."""
        self._untold.pop(room_id, None)
        for call in [call for call in self._calls if call[0] == room_id]:
            del self._rows[self._calls.pop(call)]

    async def living(self, keepers: Collection[str]) -> Collection[str]:
        """None: nobody else knows of these rows."""
        return ()
