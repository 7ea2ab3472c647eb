"""One agent's background jobs in one room: begun by tools, bounded, saved before they are told of, never run twice."""

import asyncio
import json
import logging
from dataclasses import dataclass, field, replace
from typing import Final

from voiceagent import clock
from voiceagent.agent.job import Job
from voiceagent.agent.results import Results
from voiceagent.agent.tools import LONGEST_RESULT, ToolOutcome, Tools, as_text
from voiceagent.errors import StoreError
from voiceagent.llm.model import ToolCall, ToolSpec
from voiceagent.room.bounded import contained
from voiceagent.room.channel import Host
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.fence import fence
from voiceagent.room.frozen import whole_text
from voiceagent.room.jobs.row import JobRow, JobState
from voiceagent.room.reply import Reply
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

log = logging.getLogger(__name__)

RETRY_MS: Final = 1_000
"""How long to wait before a result that the store refused is saved again."""

_LABEL: Final = 200
_ANSWERS: Final = 256

_EFFECTS: Final[dict[str, JSON]] = {"effects": "not_rolled_back"}
_ENDS: Final[dict[JobState, tuple[str, dict[str, JSON]]]] = {
    "returned": ("returned", {"outcome": "ok"}),
    "failed": ("failed", {"outcome": "error", **_EFFECTS}),
    "cancelled": ("cancelled", {"outcome": "unconfirmed", **_EFFECTS}),
}


@dataclass(frozen=True, slots=True)
class Errand:
    """One call of a tool, the answer that it is made for, and what that answers."""

    call: ToolCall
    reply: Reply
    trigger: RoomEvent


@dataclass(slots=True)
class _Running:
    """A job that has not ended: what is kept of it, and how it is being let go."""

    row: JobRow
    job: Job
    task: asyncio.Task[None] | None = None
    begun: bool = False
    stopping: bool = False
    closed: bool = False
    ended: bool = False
    waited_for: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Jobs:
    """Runs what tools hand over, at most `most` at once. A result comes back as an instruction to the agent."""

    __slots__ = ("_answers", "_channel_id", "_closed", "_desk", "_host", "_most", "_room_id", "_running", "_spoken", "results")

    def __init__(self, host: Host, room_id: str, channel_id: str, most: int) -> None:
        self._host = host
        self._desk = host.jobs
        self._room_id = room_id
        self._channel_id = channel_id
        self._most = most
        self._running: dict[str, _Running] = {}
        self._answers: dict[str, None] = {}
        self.results = Results(host, channel_id)
        self._spoken: asyncio.Event | None = None
        self._closed = False

    @property
    def active_ids(self) -> list[str]:
        """Ids of the jobs that still run, in the order in which they were begun."""
        return [job_id for job_id, running in self._running.items() if not running.ended]

    @property
    def active(self) -> list[JSON]:
        """The jobs that still run, as hosts read them."""
        return [dict(running.row.summary()) for running in self._running.values() if not running.ended]

    async def notes(self) -> list[str]:
        """What the model should know of its jobs at the beginning of a turn."""
        notes = []
        if self._running:
            labels = "\n".join(running.row.label for running in self._running.values())
            notes.append(f"These jobs of yours still run; their results will come by themselves.\n{fence('jobs', labels)}")
        stopped = await self.results.note()
        return notes if stopped is None else [*notes, stopped]

    def tools(self, tools: Tools, reply: Reply, trigger: RoomEvent) -> "JobTools":
        """An agent's tools as one answer uses them."""
        return JobTools(self, tools, reply, trigger)

    # -- beginning ------------------------------------------------------------------------------------------------------

    async def run(self, tools: Tools, errand: Errand) -> ToolOutcome:
        """Runs a call of a tool; when the tool hands over a job, begins it and returns the receipt.

        A call that has begun a job is not run again: the same one gets the receipt or the result, another one of its id is
        refused. Never raises for what the tool or the job did wrong.
        """
        if errand.reply.id in self._answers and (known := await self._of_call(errand)) is not None:
            return known
        outcome = await tools.run(errand.call)
        return outcome if outcome.job is None else await self._begin(outcome.job, errand)

    async def _of_call(self, errand: Errand) -> ToolOutcome | None:
        call = errand.call
        try:
            row = await self._desk.rows.of_call(self._room_id, self._channel_id, errand.reply.id, call.id)
        except StoreError:
            log.exception("room %s: whether call %s has begun a job is not known", self._room_id, call.id)
            return ToolOutcome(error="not run: whether this call has been made before cannot be found out now")
        if row is None:
            return None
        if row.tool != call.name or not _same(row.arguments, call.arguments):
            return ToolOutcome(error=f"not run: call id {call.id} has begun {row.label} ({row.job_id}); use a new id")
        if row.state == "running":
            return ToolOutcome(result=_receipt(row))
        return _outcome(row) if row.result is not None else ToolOutcome(error=f"job {row.job_id} was cancelled")

    async def _begin(self, job: Job, errand: Errand) -> ToolOutcome:
        refused = self._refusal()
        if refused is not None:
            job.drop()
            return ToolOutcome(error=refused)
        running = _Running(self._row(job, errand), job, waited_for=job.wait_ms > 0)
        row = running.row
        self._running[row.job_id] = running
        try:
            await self._desk.rows.put(row)
        except BaseException as error:
            del self._running[row.job_id]
            job.drop()
            if not isinstance(error, StoreError):
                raise
            log.exception("room %s: a job of %s is not begun", self._room_id, self._channel_id)
            return ToolOutcome(error="not started: it could not be written down")
        self._remember(errand.reply.id)
        self._desk.publish(row, "queued")
        if running.closed:
            return await self._not_begun(running)
        running.task = self._host.spawn(self._work(running), f"job {row.job_id}")
        if running.waited_for and await self._came(running, errand.reply):
            return _outcome(running.row)
        return ToolOutcome(result=_receipt(row))

    async def _not_begun(self, running: _Running) -> ToolOutcome:
        """The agent has left the room while the job was being written down."""
        running.job.drop()
        del self._running[running.row.job_id]
        self._desk.publish(running.row, *_ENDS["cancelled"])
        await self._keep(replace(running.row, state="cancelled"))
        return ToolOutcome(error="not started: the agent has left the room")

    def _refusal(self) -> str | None:
        if self._closed:
            return "not started: the agent has left the room"
        active = [running.row.label for running in self._running.values()]
        if len(active) < self._most:
            return None
        return f"not started: {len(active)} jobs run already ({', '.join(active)}); call again when one of them has ended"

    def _row(self, job: Job, errand: Errand) -> JobRow:
        call, trigger = errand.call, errand.trigger
        return JobRow(
            self._host.new_id(),
            self._room_id,
            self._channel_id,
            generation_id=errand.reply.id,
            call_id=call.id,
            tool=call.name,
            arguments=call.arguments,
            label=whole_text(" ".join(job.label.split())[:_LABEL]) or call.name,
            owner=self._desk.owner,
            created_at=clock.utc(),
            responds_to=trigger.id,
            response_visibility=None if errand.reply.visibility == ALL else errand.reply.visibility,
            parent_event_id=trigger.parent_event_id,
            chain_depth=trigger.chain_depth + 1,
        )

    def _remember(self, generation_id: str) -> None:
        self._answers[generation_id] = None
        if len(self._answers) > _ANSWERS:
            del self._answers[next(iter(self._answers))]

    # -- waiting for a quick one ------------------------------------------------------------------------------------------

    def heard(self, event: RoomEvent) -> None:
        """Ends every wait for a job when a person has said something: they come first."""
        if event.type is EventType.MESSAGE and event.source.participant_id is not None:
            self._wake()

    def _wake(self) -> None:
        if self._spoken is not None:
            self._spoken.set()
            self._spoken = None

    async def _came(self, running: _Running, reply: Reply) -> bool:
        """Waits for a job as long as it may; whether its result is there, which is then the caller's to tell."""
        if self._spoken is None:
            self._spoken = asyncio.Event()
        ways = [asyncio.ensure_future(way) for way in (running.over.wait(), self._spoken.wait(), reply.until_ended())]
        try:
            await asyncio.wait(ways, timeout=running.job.wait_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
        finally:
            running.waited_for = False
            for way in ways:
                way.cancel()
        if not running.ended or running.row.state == "cancelled":
            return False
        await self.results.told(running.row)
        self._desk.publish(running.row, "reply", {"status": "completed", "generation_id": reply.id})
        return True

    # -- ending ---------------------------------------------------------------------------------------------------------

    def cancel(self, job_id: str) -> bool:
        """Asks a job to stop; False when it is not active. What it has done is not undone."""
        running = self._running.get(job_id)
        if running is None or running.ended or running.task is None:
            return False
        self._desk.publish(running.row, "cancel_requested")
        self._stop(running)
        return True

    def close(self) -> None:
        """Leaves the room: what runs is cancelled and reported at once, what was not told waits for the next time."""
        self._closed = True
        self._wake()
        for running in tuple(self._running.values()):
            if not running.ended and not running.closed:
                running.closed = True
                self._stop(running)
                if running.task is not None:
                    self._desk.publish(running.row, *_ENDS["cancelled"])
        self.results.close()

    def _stop(self, running: _Running) -> None:
        """Cancels the work; work that has not begun never does."""
        running.stopping = True
        if running.begun and running.task is not None:
            running.task.cancel()

    async def _work(self, running: _Running) -> None:
        running.begun = True
        state, result = await self._end_of(running)
        if running.closed:
            state, result = "cancelled", None
        running.row = replace(running.row, state=state, result=result)
        try:
            await self._keep(running.row)
        finally:
            running.ended = True
            del self._running[running.row.job_id]
            running.over.set()
        if running.closed:
            self._desk.leave(running.row)
            return
        self._desk.publish(running.row, *_ENDS[state])
        if state == "cancelled":
            self.results.drop(running.row)
        elif not running.waited_for:
            await self.results.bring(running.row)

    async def _end_of(self, running: _Running) -> tuple[JobState, str | None]:
        """What the work comes to, whatever it does."""

        def update(text: str) -> None:
            if not running.ended and not running.closed:
                self._desk.publish(running.row, "updated", {"text": whole_text(str(text))[:_LABEL]}, durable=False)

        if running.stopping:
            running.job.drop()
            return "cancelled", None
        try:
            with contained():
                return "returned", whole_text(as_text(await running.job.begin(update)))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                return "failed", "the job gave itself up"
            task.uncancel()
            return "cancelled", None
        except Exception as error:  # noqa: BLE001 - a job's failure is the agent's to read
            return "failed", whole_text(f"{type(error).__name__}: {error}"[:LONGEST_RESULT])

    async def _keep(self, row: JobRow) -> None:
        """Saves what a job came to; a store that refuses is asked again, for nothing is told that is not saved."""
        while True:
            try:
                await self._desk.rows.put(row)
            except StoreError:
                log.exception("room %s: the end of job %s is not saved yet", self._room_id, row.job_id)
                await asyncio.sleep(RETRY_MS / 1000)
            else:
                return


class JobTools:
    """An agent's tools for one answer; what a tool hands over becomes a job."""

    def __init__(self, jobs: Jobs, tools: Tools, reply: Reply, trigger: RoomEvent) -> None:
        self._jobs = jobs
        self._tools = tools
        self._reply = reply
        self._trigger = trigger

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is told."""
        return self._tools.specs

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Runs one call; never raises for what the tool, the job or the model did wrong."""
        return await self._jobs.run(self._tools, Errand(call, self._reply, self._trigger))


def _receipt(row: JobRow) -> str:
    return f"job {row.job_id} runs ({row.label}); its result will follow by itself: go on, and do not call again for it"


def _outcome(row: JobRow) -> ToolOutcome:
    if row.state == "returned":
        return ToolOutcome(result=row.result)
    return ToolOutcome(error=row.result or row.state)


def _same(one: str, other: str) -> bool:
    """Whether two texts of arguments mean the same."""
    try:
        return bool(json.loads(one or "{}") == json.loads(other or "{}"))
    except ValueError:
        return one == other
