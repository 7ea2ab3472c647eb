"""What is left of an answer that is stopped: at its start, in its words, under a tool, and after its end."""

import asyncio
import weakref
from typing import Literal

import pytest

from tests.scenario.rooms import ROOM, Door, agent, rows, say, seat, settled
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.channel import RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventStatus, EventType, RoomEvent, ToolCallContent
from voiceagent.room.feed import Subscription
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.reply import Reply

CALL = ToolCall("c1", "open_gate", "{}")
OTHER = ToolCall("c2", "open_gate", "{}")


async def ended(reader: Subscription) -> list[str]:
    """How generations ended."""
    reader.close()
    return [line.type for line in [line async for line in reader.events()] if line.type.startswith("generation.")]


async def pieces(reply: Reply) -> list[str]:
    return [piece async for piece in reply.pieces()]


async def test_words_so_far_are_kept_as_cancelled(kit: RoomEngine) -> None:
    model = ScriptedModel([["One, ", Pause(1_000), "two, ", Pause(1_000), "three."]])
    await seat(kit, door := Door(), other := Door("other"), AIChannel("assistant", provider=model))
    reader = kit.feed(ROOM).subscribe()
    question = await say(kit, "count")
    await asyncio.sleep(1.5)
    (reply,) = door.replies
    assert reply.cancel("interrupted")
    assert not reply.cancel("again")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.content.body, answer.responds_to, answer.status) == ("One, two,", question.id, EventStatus.DELIVERED)
    assert dict(answer.metadata) == {"cancelled": True, "cancellation_reason": "interrupted"}
    assert answer.correlation_id == reply.id
    assert (model.closed, reply.ended, await pieces(reply)) == (1, True, [])
    assert await ended(reader) == ["generation.started", "generation.detached"]
    assert other.texts == ["count", "One, two,"]


async def test_a_reader_in_the_middle_of_the_words_ends_at_once(kit: RoomEngine) -> None:
    await seat(kit, door := Door(), agent(["One, ", Pause(60_000), "two."]))
    await say(kit, "count")
    await asyncio.sleep(0.5)
    reading = asyncio.create_task(pieces(door.replies[0]))
    await asyncio.sleep(0.5)
    began = clock.now()
    door.replies[0].cancel("interrupted")
    assert await reading == ["One, "]
    assert clock.now() == began


async def test_the_next_question_is_answered_after_a_cut(kit: RoomEngine) -> None:
    await seat(kit, door := Door(), agent(["One, ", Pause(60_000), "two."], "Of course."))
    await say(kit, "count")
    await asyncio.sleep(1)
    door.replies[0].cancel("interrupted")
    await say(kit, "something else")
    await settled()
    assert [e.content.body for e in await rows(kit)][2:] == ["One,", "Of course."] or [e.content.body for e in await rows(kit)][
        1:
    ] == ["One,", "something else", "Of course."]


class Impatient(Door):
    """A mouth that cancels every reply as it gets it."""

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        super().on_reply(reply, context)
        reply.cancel("superseded")


async def test_a_reply_cancelled_before_its_generation_asks_no_model(kit: RoomEngine) -> None:
    model = ScriptedModel(["never said"])
    await seat(kit, door := Impatient(), AIChannel("assistant", provider=model))
    reader = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    assert model.prompts == []
    assert [e.content.body for e in await rows(kit)] == ["hello"]
    assert len(door.replies) == 1
    assert await ended(reader) == ["generation.started", "generation.detached"]


async def test_leaving_while_a_hook_decides_stops_the_answer(kit: RoomEngine) -> None:
    errors: list[ErrorEvent] = []

    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def decide(event: object) -> None:
        await asyncio.sleep(5)

    @kit.hook(HookTrigger.ON_ERROR)
    async def note(error: ErrorEvent) -> None:
        errors.append(error)

    model = ScriptedModel(["never said"])
    await seat(kit, Door(), AIChannel("assistant", provider=model))
    await say(kit, "hello")
    await asyncio.sleep(1)
    await kit.detach_channel(ROOM, "assistant")
    await settled()
    assert (model.prompts, errors) == ([], [])


class Gate:
    """A tool that takes a second, and what became of it."""

    def __init__(self) -> None:
        self.opened = 0

    async def open_gate(self) -> str:
        """Opens the gate."""
        await asyncio.sleep(1)
        self.opened += 1
        return f"opened {self.opened}"

    def agent(self, *turns: list[str | ToolCall | Pause] | str) -> AIChannel:
        async def open_gate() -> str:
            """Opens the gate."""
            return await self.open_gate()

        return AIChannel("assistant", provider=ScriptedModel(turns), tools=[open_gate])


async def test_s07_119_a_running_tool_finishes_and_no_other_starts(kit: RoomEngine) -> None:
    gate = Gate()
    await seat(kit, door := Door(), gate.agent(["Opening. ", CALL, OTHER], "Open."))
    question = await say(kit, "open both")
    await asyncio.sleep(0.5)
    door.replies[0].cancel("interrupted")
    await settled()
    tools = [e for e in await rows(kit) if isinstance(e.content, ToolCallContent)]
    assert gate.opened == 1
    assert [(e.type, e.content.body, e.responds_to) for e in tools] == [
        (EventType.TOOL_CALL_START, "", question.id),
        (EventType.TOOL_CALL_END, "opened 1", question.id),
    ]
    assert [e.content.body for e in await rows(kit) if e.type is EventType.MESSAGE] == ["open both", "Opening."]


@pytest.mark.parametrize("at_ms", [100, 400])
async def test_s07_119_no_tool_starts_after_the_cut(kit: RoomEngine, at_ms: int) -> None:
    gate = Gate()
    await seat(kit, door := Door(), gate.agent(["Opening. ", Pause(300), CALL, Pause(300)], "Open."))
    await say(kit, "open it")
    await asyncio.sleep(at_ms / 1000)
    door.replies[0].cancel("interrupted")
    await settled()
    assert gate.opened == 0
    stored = await rows(kit)
    assert [(e.type, e.content.body) for e in stored[1:]] == [(EventType.MESSAGE, "Opening.")]
    assert stored[-1].metadata["cancelled"] is True


async def test_a_finished_answer_that_is_cut_in_the_mouth_stays_as_it_is(kit: RoomEngine) -> None:
    await seat(kit, door := Door(), agent("All of it."))
    await say(kit, "hello")
    await settled()
    assert door.replies[0].cancel("interrupted")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.content.body, dict(answer.metadata)) == ("All of it.", {})


async def test_a_cut_while_the_last_row_is_being_kept_loses_nothing(kit: RoomEngine) -> None:
    door = Door()

    @kit.hook(HookTrigger.AFTER_BROADCAST)
    async def cut(event: RoomEvent) -> None:
        if event.source.channel_id == "assistant":
            door.replies[0].cancel("interrupted")

    await seat(kit, door, agent("All of it."))
    await say(kit, "hello")
    await settled()
    assert [e.content.body for e in await rows(kit)] == ["hello", "All of it."]


Ending = Literal["close_room", "detach", "exit"]


@pytest.mark.parametrize("moment", [0, 1, 500, 1_500])
@pytest.mark.parametrize("ending", ["close_room", "detach", "exit"])
async def test_whatever_ends_during_an_answer_leaves_nothing_running(kit: RoomEngine, ending: Ending, moment: int) -> None:
    """no_leak watches every scenario for tasks that were left; an error of a task would be told to ON_ERROR."""
    errors: list[ErrorEvent] = []
    gate = Gate()
    async with RoomEngine() as engine:

        @engine.hook(HookTrigger.ON_ERROR)
        async def note(error: ErrorEvent) -> None:
            errors.append(error)

        await engine.create_room("first")
        await seat(engine, door := Door(), gate.agent(["Opening. ", Pause(1_000), CALL], "Open."))
        await say(engine, "open it")
        if moment:
            await asyncio.sleep(moment / 1000)
        if ending == "close_room":
            await engine.close_room(ROOM)
        elif ending == "detach":
            await engine.detach_channel(ROOM, "assistant")
        if ending != "exit":
            await settled()
            assert all(reply.ended for reply in door.replies)
    assert errors == []
    assert gate.opened <= (moment == 1_500)


async def test_a_reply_that_is_over_lets_go_of_what_would_stop_it() -> None:
    """Whoever keeps it, to see what became of it, keeps nothing of the turn that made it."""
    stopped: list[str] = []
    for end in (Reply.end, lambda reply: reply.cancel("host")):
        reply, turn = Reply("g1", ROOM), Turn(stopped)
        gone = weakref.ref(turn)
        reply.when_cancelled(turn.stop)
        end(reply)
        del turn
        assert gone() is None
    assert stopped == ["stopped"]


class Turn:
    def __init__(self, stopped: list[str]) -> None:
        self._stopped = stopped

    def stop(self) -> None:
        self._stopped.append("stopped")
