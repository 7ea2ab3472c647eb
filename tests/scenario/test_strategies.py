"""Strategies in a room: workers answer and an agent speaks their results; agents answer each other within bounds."""

import asyncio
from collections.abc import Sequence

from tests.scenario.deciding import Watch, deciding
from tests.scenario.rooms import ROOM, Door, rows, say, seat, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.strategies import Loop, Said, Supervisor
from voiceagent.agent.workers import Worker
from voiceagent.judgment.policy import MockSpeakPolicy
from voiceagent.llm.model import Message
from voiceagent.llm.scripted import EchoModel, Pause, ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType
from voiceagent.room.fence import fence
from voiceagent.room.hooks import ErrorEvent, HookTrigger


async def test_workers_answer_side_by_side_and_the_agent_speaks_their_results_as_one_turn(kit: RoomEngine) -> None:
    maps = Worker("maps", ScriptedModel([[Pause(3_000), "Ten km."]]), "You know roads.")
    time = Worker("clock", ScriptedModel([[Pause(3_000), "Noon."]]))
    model = ScriptedModel(["It is noon, and ten km to go."])
    await seat(kit, Door(), AIChannel("assistant", provider=model, strategy=Supervisor([maps, time])))
    watch = Watch(kit)
    question = await say(kit, "how far, and what time is it?")
    await settled(2_990)
    assert model.prompts == []
    await settled(20)
    assert len(model.prompts) == 1
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.content.body, answer.responds_to) == ("It is noon, and ten km to go.", question.id)
    (call,) = watch.calls
    assert call.trigger.id == question.id
    read = model.prompts[0].messages[-1]
    assert read.instruction
    assert fence("answer of maps", "Ten km.") in read.content
    assert fence("answer of clock", "Noon.") in read.content
    assert fence("message", question.content.body) in read.content


async def test_turns_of_strategies_meet_no_policy(kit: RoomEngine) -> None:
    policy = MockSpeakPolicy(["silent"])
    supervisor, _ = deciding(policy, channel_id="supervisor", strategy=Supervisor([EchoModel()]))
    loop, _ = deciding(policy, channel_id="loop", strategy=Loop([EchoModel()], rounds=1))
    await seat(kit, Door(), supervisor)
    kit.register_channel(loop)
    watch = Watch(kit)
    await say(kit, "hello")
    await settled()
    await kit.detach_channel(ROOM, "supervisor")
    await kit.attach_channel(ROOM, "loop")
    await say(kit, "hello again")
    await settled()
    assert watch.decisions == []
    assert [event.content.body for event in await rows(kit)] == ["hello", "Noon.", "hello again", "Noon."]


async def test_workers_read_what_the_agent_may_know_and_not_its_instructions(kit: RoomEngine) -> None:
    model = ScriptedModel(["Done.", "Done again."])
    worker = ScriptedModel(["Yes."])
    await seat(kit, Door(), AIChannel("assistant", provider=model, strategy=Supervisor([Worker("w", worker, "Part.")])))
    await say(kit, "first")
    await settled()
    await kit.deliver(ROOM, "Say it again.", instruction=True)
    await settled()
    await say(kit, "second")
    await settled()
    assert len(worker.prompts) == 2
    assert [(m.role, m.content) for m in worker.prompts[1].messages] == [
        ("system", "Part."),
        ("user", "first"),
        ("assistant", "Done."),
        ("assistant", "Done again."),
        ("user", "second"),
    ]


async def test_without_any_result_the_agent_answers_by_itself(kit: RoomEngine) -> None:
    late = Worker("late", ScriptedModel([[Pause(60_000), "no"]]))
    await seat(kit, Door(), AIChannel("assistant", provider=EchoModel(), strategy=Supervisor([late], timeout=2)))
    await say(kit, "hello")
    await settled()
    assert [event.content.body for event in await rows(kit)] == ["hello", "hello"]


async def test_a_loop_goes_round_until_it_is_told_to_stop(kit: RoomEngine) -> None:
    writer = Worker("writer", ScriptedModel(["draft one", "draft two", "draft three"]))
    critic = Worker("critic", ScriptedModel(["shorter", "approved", "never asked"]))

    def approved(said: Said) -> bool:
        return said.text == "approved"

    model = ScriptedModel(["Draft two."])
    await seat(kit, Door(), AIChannel("assistant", provider=model, strategy=Loop([writer, critic], rounds=5, stop=approved)))
    question = await say(kit, "write it")
    await settled()
    read = model.prompts[0].messages[-1].content
    assert fence("answer of writer", "draft two") in read
    assert "draft one" not in read
    assert [event.responds_to for event in await rows(kit)] == [None, question.id]


async def test_a_cancelled_turn_stops_the_workers(kit: RoomEngine) -> None:
    stopped: list[str] = []

    class Hangs:
        name = "hangs"

        async def answer(self, messages: Sequence[Message]) -> str:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.append("w")
            return ""

    await seat(kit, Door(), AIChannel("assistant", provider=EchoModel(), strategy=Supervisor([Hangs()], timeout=500)))
    await say(kit, "hello")
    await settled(1_000)
    await kit.detach_channel(ROOM, "assistant")
    await settled(100)
    assert stopped == ["w"]
    assert [event.content.body for event in await rows(kit)] == ["hello"]


async def test_a_strategy_that_fails_costs_its_turn(kit: RoomEngine) -> None:
    class Broken:
        async def delegate(self, event: object, messages: Sequence[Message]) -> None:
            raise RuntimeError("no workers")

    errors: list[ErrorEvent] = []

    @kit.hook(HookTrigger.ON_ERROR)
    async def note(error: ErrorEvent) -> None:
        errors.append(error)

    await seat(kit, Door(), AIChannel("assistant", provider=EchoModel(), strategy=Broken()))
    question = await say(kit, "hello")
    await settled()
    assert [error.responds_to for error in errors] == [question.id]
    assert [event.type for event in await rows(kit)] == [EventType.MESSAGE]
