"""Jobs under chance: whatever happens to their room, each is begun once, ends once, and is told of in the end."""

import asyncio
from collections import Counter
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenario.rooms import ROOM, Door, ids, message, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.job import Job
from voiceagent.clock import VirtualLoop
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import FeedEvent
from voiceagent.room.memory import MemoryStore

Deed = Literal["say", "cancel", "seat", "close", "restart"]
ENDS = ("job.returned", "job.failed", "job.cancelled", "job.recovered")
DEEDS: st.SearchStrategy[list[tuple[Deed, int]]] = st.lists(
    st.tuples(st.sampled_from(("say", "say", "cancel", "seat", "close", "restart")), st.integers(0, 4_000)), max_size=14
)


class Days:
    """One store over several runs of an engine; every request of the person begins a job of another length."""

    def __init__(self, lengths: list[int]) -> None:
        self.store = MemoryStore()
        self.lengths = lengths
        self.begun = 0
        self.ids = ids()
        self.lines: dict[int, FeedEvent] = {}

    async def fetch(self) -> Job:
        """Fetches something."""
        ms = self.lengths[self.begun % len(self.lengths)]

        async def work() -> str:
            self.begun += 1
            await asyncio.sleep(ms / 1000)
            if ms % 5 == 4:
                raise RuntimeError("no road")
            return "42 km"

        return Job(work, wait_ms=ms % 3 * 200)

    async def run(self, deeds: list[tuple[Deed, int]]) -> list[tuple[Deed, int]]:
        """One run of the engine, until the deeds are done or it is to begin anew; returns the deeds that are left."""
        model = ScriptedModel([[ToolCall("c", "fetch", "{}")], "On it.", "Done."] * 50)
        agent = AIChannel("assistant", provider=model, tools=[self.fetch])
        async with RoomEngine(store=self.store, ids=self.ids) as kit:
            kit.register_channel(Door())
            kit.register_channel(agent)
            await self.open(kit)
            while deeds:
                deed, pause = deeds.pop(0)
                await settled(pause)
                if deed == "restart":
                    break
                await self.do(kit, agent, deed)
            else:
                await settled()
                await kit.process_inbound(message("well"), room_id=ROOM)
                await settled()
            await self.read(kit)
        return deeds

    async def do(self, kit: RoomEngine, agent: AIChannel, deed: Deed) -> None:
        match deed:
            case "say":
                await kit.process_inbound(message("how far?"), room_id=ROOM)
            case "cancel":
                jobs = agent.snapshot(ROOM).get("jobs")
                for job in jobs if isinstance(jobs, list) else ():
                    assert isinstance(job, dict)
                    assert kit.cancel_job(ROOM, str(job["job_id"]))
                    break
            case "seat":
                await kit.detach_channel(ROOM, "assistant")
                await kit.attach_channel(ROOM, "assistant")
            case "close":
                await self.read(kit)
                await kit.close_room(ROOM)
                await settled(100)
                await self.open(kit)

    async def open(self, kit: RoomEngine) -> None:
        await kit.create_room(ROOM)
        for channel in ("text", "assistant"):
            await kit.attach_channel(ROOM, channel)

    async def read(self, kit: RoomEngine) -> None:
        reader = kit.feed(ROOM).subscribe(after=0)
        reader.close()
        async for line in reader.events():
            if line.seq is not None:
                self.lines[line.seq] = line


async def check(deeds: list[tuple[Deed, int]], lengths: list[int]) -> None:
    days = Days(lengths)
    left = await days.run(list(deeds))
    while left:
        left = await days.run(left)
    await days.run([])
    queued = [line.data["job_id"] for line in days.lines.values() if line.type == "job.queued"]
    ended = Counter(line.data["job_id"] for line in days.lines.values() if line.type in ENDS)
    replies = Counter(line.data["job_id"] for line in days.lines.values() if line.data.get("status") in ("completed", "skipped"))
    assert ended == Counter(queued)
    assert days.begun <= len(queued)
    assert max(replies.values(), default=0) <= 1
    assert await days.store.jobs.untold(ROOM) == []


@settings(deadline=None, max_examples=60)
@given(DEEDS, st.lists(st.integers(0, 3_000), min_size=1, max_size=4))
def test_each_job_is_begun_once_ends_once_and_is_told_of(deeds: list[tuple[Deed, int]], lengths: list[int]) -> None:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(check(deeds, lengths))
