"""What scenarios of background jobs are made of: a room whose agent has a tool that hands work over, and its feed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from tests.scenario.rooms import ROOM, Door, ids
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.job import Job
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType
from voiceagent.room.feed import FeedEvent
from voiceagent.room.store import EventFilter, Store

CALL = ToolCall("c1", "fetch", '{"what": "maps"}')


def job_after(ms: int, result: object = "42 km", **options: object) -> Callable[[], Job]:
    """Makes a job that takes its time and then returns, or raises, what it is told to."""

    async def work() -> object:
        await asyncio.sleep(ms / 1000)
        if isinstance(result, BaseException):
            raise result
        return result

    return lambda: Job(work, **options)  # type: ignore[arg-type]


class House:
    """A room with an agent whose tool `fetch` hands over what `make` makes, and all that its feed says."""

    def __init__(self, kit: RoomEngine, model: ScriptedModel, make: Callable[[], Job]) -> None:
        self.kit = kit
        self.model = model
        self.door = Door()
        self.begun = 0

        async def fetch(what: str) -> Job:
            """Fetches something."""
            self.begun += 1
            return make()

        self.agent = AIChannel("assistant", provider=model, tools=[fetch])
        self.lines: list[FeedEvent] = []

    async def open(self) -> None:
        await self.kit.create_room(ROOM)
        self.feed = self.kit.feed(ROOM).subscribe(after=0)
        for channel in (self.door, self.agent):
            self.kit.register_channel(channel)
            await self.kit.attach_channel(ROOM, channel.channel_id)

    async def read(self, *kinds: str) -> list[FeedEvent]:
        """The lines so far of these kinds; the reader is left after it."""
        self.feed.close()
        async for line in self.feed.events():
            self.lines.append(line)
        return [line for line in self.lines if not kinds or line.type.startswith(kinds)]

    def active(self) -> list[str]:
        """Ids of the jobs that run, as a snapshot shows them."""
        jobs = self.agent.snapshot(ROOM)["jobs"]
        assert isinstance(jobs, list)
        return [str(one["job_id"]) for one in jobs if isinstance(one, dict)]

    async def types(self, *kinds: str) -> list[str]:
        return [line.type for line in await self.read(*kinds)]

    def told(self, call: int) -> str:
        """The last message that the model read in one of its calls."""
        return self.model.prompts[call].messages[-1].content


@asynccontextmanager
async def house(store: Store, make: Callable[[], Job], *turns: str | Sequence[Step], fresh: bool = True) -> AsyncIterator[House]:
    kit_ids = ids() if fresh else None
    async with RoomEngine(store=store, ids=kit_ids) as kit:
        made = House(kit, ScriptedModel(turns), make)
        await made.open()
        yield made


async def words(kit: RoomEngine) -> list[str]:
    found = await kit.store.list_events(ROOM, event_filter=EventFilter(types=(EventType.MESSAGE,)))
    return [event.content.body for event in found]


def data(line: FeedEvent, *names: str) -> tuple[object, ...]:
    return tuple(line.data.get(name) for name in names)
