"""How jobs end: failed, cancelled, broken off by a crash, with their room; and results that nobody can be told."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.scenario.jobs import CALL, data, house, job_after, words
from tests.scenario.rooms import ROOM, Door, say, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.job import Job
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Prompt, TextDelta, ToolCall
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType, InboundMessage, RoomEvent, TextContent
from voiceagent.room.fence import fence
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.jobs.row import JobRow
from voiceagent.room.store import Store


async def test_g55_a_job_that_a_crash_broke_off_is_reported_and_not_run_again(store: Store) -> None:
    async with house(store, job_after(5_000), [CALL], "I am on it.") as here:
        await say(here.kit, "how far?")
        await settled(100)
        rows = here.kit.host.jobs.rows
        (left,) = await rows.untold(ROOM)

        async def lost(row: JobRow) -> None:
            return None  # the process dies here: nothing more is written

        rows.put, put = lost, rows.put  # type: ignore[method-assign]
    rows.put = put  # type: ignore[method-assign]
    assert left.state == "running"
    async with house(store, job_after(5_000), "Hello again.", "Fine.", fresh=False) as here:
        await settled()
        assert here.model.prompts == []  # nobody is spoken to unasked
        await say(here.kit, "and?")
        await settled()
        await say(here.kit, "well")
        await settled()
        recovered = (await here.read("job."))[-1]
        assert await here.kit.host.jobs.rows.untold(ROOM) == []
    assert recovered.type == "job.recovered"
    assert data(recovered, "job_id", "outcome", "effects") == (left.job_id, "unconfirmed", "not_rolled_back")
    assert here.begun == 0
    first, second = here.model.prompts
    assert "fetch: the program stopped while the job ran" in first.messages[-1].notes[0]
    assert second.messages[-1].notes == ()


async def test_a_result_that_a_crash_left_untold_comes_back_when_the_room_opens(store: Store) -> None:
    async with house(store, job_after(1_000), [CALL], "I am on it.", [Pause(60_000), "It is 42 km."]) as here:
        await say(here.kit, "how far?")
        await settled(10_000)
    async with house(store, job_after(0), "It was 42 km.", fresh=False) as here:
        await settled()
        assert [line.data.get("status") for line in await here.read("job.")][-2:] == ["scheduled", "completed"]
        assert await here.kit.host.jobs.rows.untold(ROOM) == []
        assert (await words(here.kit))[-1] == "It was 42 km."
    assert fence("job", "fetch\n\n42 km") in here.told(0)


async def test_g09_a_job_that_is_not_active_cannot_be_cancelled(store: Store) -> None:
    async with house(store, job_after(10), "Hi.") as here:
        assert here.kit.cancel_job(ROOM, "nothing") is False
        await settled(10)
        (rejected,) = await here.read("command.rejected")
    assert data(rejected, "command", "job_id", "reason") == ("job.cancel", "nothing", "not_active")


async def test_a_cancelled_job_is_reported_and_comes_back_no_more(store: Store) -> None:
    async with house(store, job_after(5_000), [CALL], "I am on it.", "Well.") as here:
        await say(here.kit, "how far?")
        await settled(1_000)
        (job_id,) = here.active()
        assert here.kit.cancel_job(ROOM, job_id) is True
        await settled()
        assert here.kit.cancel_job(ROOM, job_id) is False
        await say(here.kit, "and?")
        await settled()
        lines = await here.read("job.", "command.")
        assert await here.kit.host.jobs.rows.untold(ROOM) == []
    assert [line.type for line in lines] == ["job.queued", "job.cancel_requested", "job.cancelled", "command.rejected"]
    assert data(lines[2], "outcome", "effects") == ("unconfirmed", "not_rolled_back")
    assert "fetch: cancelled" in here.model.prompts[2].messages[-1].notes[0]


async def test_a_job_that_ends_all_the_same_has_a_result(store: Store) -> None:
    async def stubborn() -> str:
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        return "42 km"

    async with house(store, lambda: Job(stubborn), [CALL], "I am on it.", "It is 42 km.") as here:
        await say(here.kit, "how far?")
        await settled(1_000)
        (queued,) = [line.data["job_id"] for line in await here.read("job.queued")]
        assert isinstance(queued, str)
        assert here.kit.cancel_job(ROOM, queued)
        await settled()
        assert (await words(here.kit))[-1] == "It is 42 km."


class PanicException(BaseException):
    """As a library in another language raises it."""


@pytest.mark.parametrize("fault", [RuntimeError("no road"), PanicException("boom"), asyncio.CancelledError()])
async def test_a_job_that_fails_comes_back_as_failed(store: Store, fault: BaseException) -> None:
    async with house(store, job_after(100, fault), [CALL], "I am on it.", "It failed.") as here:
        await say(here.kit, "how far?")
        await settled()
        (failed,) = await here.read("job.failed")
        assert (await words(here.kit))[-1] == "It failed."
    assert data(failed, "outcome", "effects") == ("error", "not_rolled_back")
    assert "has failed" in here.told(2)


@pytest.mark.parametrize("end", ["room", "agent", "engine"])
async def test_the_end_of_a_room_cancels_what_runs_and_reports_it(store: Store, end: str) -> None:
    cancelled: list[str] = []

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append("work")
        return ""

    async with house(store, lambda: Job(work), [CALL], "I am on it.") as here:
        await say(here.kit, "how far?")
        await settled(1_000)
        if end == "room":
            await here.kit.close_room(ROOM)
        elif end == "agent":
            await here.kit.detach_channel(ROOM, "assistant")
        if end != "engine":
            await settled()
            assert cancelled == ["work"]
        if end == "room":
            assert here.kit.host.jobs.take_left(ROOM, "assistant") == ()  # what is closed costs no memory
    assert cancelled == ["work"]
    async for line in here.feed.events():
        here.lines.append(line)
    lines = [line for line in here.lines if line.type.startswith("job.")]
    assert [line.type for line in lines] == ["job.queued", "job.cancelled"]
    (row,) = await store.jobs.untold(ROOM)  # type: ignore[attr-defined]
    assert (row.state, row.result) == ("cancelled", None)


async def test_a_room_that_opens_again_says_what_was_stopped(store: Store) -> None:
    async with house(store, job_after(60_000), [CALL], "I am on it.", "Well.") as here:
        await say(here.kit, "how far?")
        await settled(1_000)
        await here.kit.close_room(ROOM)
        await settled()
        await here.kit.create_room(ROOM)
        for channel in ("text", "assistant"):
            await here.kit.attach_channel(ROOM, channel)
        await say(here.kit, "and?")
        await settled()
    assert "fetch: cancelled" in here.model.prompts[-1].messages[-1].notes[0]


async def test_a_private_questions_result_stays_private(store: Store) -> None:
    async with house(store, job_after(1_000), [CALL], "I am on it.", "It is 42 km.") as here:
        other = Door("other")
        here.kit.register_channel(other)
        await here.kit.attach_channel(ROOM, "other")
        private = InboundMessage("text", TextContent("how far?"), "ana", visibility="text,assistant", response_visibility="text")
        await here.kit.process_inbound(private, room_id=ROOM)
        await settled()
        assert (await words(here.kit))[-1] == "It is 42 km."
        lines = await here.read("job.")
    assert other.texts == []
    assert [reply.text for reply in other.replies] == []
    assert {line.audience for line in lines} == {"host"}


async def test_a_job_whose_result_begins_a_job_comes_to_an_end(store: Store) -> None:
    class Insists:
        name = "insists"

        def __init__(self) -> None:
            self.calls = 0

        async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
            self.calls += 1
            await asyncio.sleep(0)
            last = prompt.messages[-1]
            yield TextDelta("again") if last.role == "tool" else ToolCall(f"c{self.calls}", "fetch", "{}")

    async with RoomEngine(store=store) as kit:

        async def fetch() -> Job:
            """Fetches."""
            return job_after(10)()

        await kit.create_room(ROOM)
        for channel in (Door(), AIChannel("assistant", provider=(model := Insists()), tools=[fetch])):
            kit.register_channel(channel)
            await kit.attach_channel(ROOM, channel.channel_id)
        feed = kit.feed(ROOM).subscribe()
        await say(kit, "go")
        await settled()
        feed.close()
        skipped = [line async for line in feed.events() if line.data.get("status") == "skipped"]
    assert model.calls < 20
    assert [line.data["reason"] for line in skipped] == ["event_chain_depth_limit"]


@pytest.mark.parametrize("who", ["hook on the instruction", "hook on the generation"])
async def test_a_result_that_a_hook_refuses_is_skipped_and_told_no_more(store: Store, who: str) -> None:
    async with house(store, job_after(10), [CALL], "I am on it.") as here:

        @here.kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def refuse(event: RoomEvent) -> HookResult[RoomEvent]:
            block = event.type is EventType.INSTRUCTION and who == "hook on the instruction"
            return HookResult.block("no") if block else HookResult.allow()

        @here.kit.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def refuse_generation(event: object) -> HookResult[object]:
            block = getattr(event, "trigger").type is EventType.INSTRUCTION and who != "hook on the instruction"  # noqa: B009
            return HookResult.block("no") if block else HookResult.allow()

        await say(here.kit, "go")
        await settled()
        statuses = [line.data["status"] for line in await here.read("job.reply")]
        assert await here.kit.host.jobs.rows.untold(ROOM) == []
    assert statuses[-1] == "skipped"


async def test_a_model_that_fails_at_a_result_is_asked_again_the_next_time(store: Store) -> None:
    async with house(store, job_after(10), [CALL], "On it.", [LanguageModelError("down")]) as here:
        await say(here.kit, "go")
        await settled()
        statuses = [line.data["status"] for line in await here.read("job.reply")]
        assert statuses == ["scheduled", "interrupted"]
        assert [row.state for row in await here.kit.host.jobs.rows.untold(ROOM)] == ["returned"]
