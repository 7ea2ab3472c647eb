"""Policy, classifier, thinker, hook and memory, each raising, hanging or returning rubbish: the call goes on, in open rooms.

The agent answers when its judgment fails (the seed's fallback), whatever fails around it costs it nothing but that, and the
message after the fault is decided, answered and heard as if nothing had been.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.scenario.deciding import Notebook, Watch, deciding, last_notes, people, spoken
from tests.scenario.rooms import ROOM, Door, message, say, seat, settled
from voiceagent import clock
from voiceagent.agent.context import AIContext, AIGenerationEvent
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import MockSpeakPolicy, Mode, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thinker import Heard, MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import RoomEvent
from voiceagent.room.hooks import HookResult, HookTrigger

Fault = Callable[[], Any]


async def raises() -> Any:
    raise RuntimeError("broken")


async def hangs() -> Any:
    await asyncio.Event().wait()


async def ignores_being_stopped() -> Any:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return "too late"


async def is_cancelled_from_within() -> Any:
    raise asyncio.CancelledError


async def none() -> Any:
    return None


async def text() -> Any:
    return "speak"


async def wrong_type() -> Any:
    return [1, 2, 3]


def not_async() -> Any:
    return "not to be awaited"


FAULTS: list[Fault] = [raises, hangs, ignores_being_stopped, is_cancelled_from_within, none, text, wrong_type, not_async]
SLOW = (hangs, ignores_being_stopped)


class FaultyOnce:
    """Fails at its first call, as told; all later ones are sound."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        return self._fault() if self.calls == 1 else None


class Policy(SpeakPolicy):
    def __init__(self, fault: Fault, sound: SpeakDecision) -> None:
        self.once = FaultyOnce(fault)
        self.sound = sound

    def decide(self, turn: SpeakTurn) -> Any:
        return self.once() or _value(self.sound)


class Classifier:
    def __init__(self, fault: Fault) -> None:
        self.once = FaultyOnce(fault)

    def classify(self, state: object, questions: object) -> Any:
        return self.once() or raises()

    async def close(self) -> None:
        pass


class Thinker:
    def __init__(self, fault: Fault) -> None:
        self.once = FaultyOnce(fault)

    def think(self, heard: Heard, previous: Thought) -> Any:
        return self.once() or _value(Thought("sound"))


class Memory(Notebook):
    def __init__(self, fault: Fault, where: str) -> None:
        super().__init__("A line.")
        self.once = FaultyOnce(fault)
        self.where = where

    def ingest(self, room_id: str, event: RoomEvent, speaker: str) -> Any:
        return (self.once() if self.where == "ingest" else None) or super().ingest(room_id, event, speaker)

    def recall(self, room_id: str, event: RoomEvent) -> Any:
        return (self.once() if self.where == "recall" else None) or super().recall(room_id, event)


async def _value(value: Any) -> Any:
    return value


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_faulty_policy_speaks_once_and_decides_again_afterwards(kit: RoomEngine, fault: Fault) -> None:
    watch = Watch(kit)
    await seat(kit, door := Door(), other := Door("other"), deciding(Policy(fault, SpeakDecision("silent", "sound")))[0])
    began = clock.now()
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert sorted(watch.modes) == [("silent", "sound"), ("speak", "fallback")]
    assert max(watch.decided_at) == began + (2_000 if fault in SLOW else 0)
    assert spoken(door) == ["Noon."]
    assert other.times[:2] == [began, began]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_faulty_classifier_lets_the_agent_speak_in_an_open_room(kit: RoomEngine, fault: Fault) -> None:
    watch = Watch(kit)
    policy = ClassifierSpeakPolicy(Classifier(fault), agent_name="Nova")
    await seat(kit, door := Door(), deciding(policy)[0])
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert [mode for mode, _ in watch.modes] == ["speak", "speak"]
    assert spoken(door) == ["Noon.", "Noon."]
    assert max(event.duration_ms for event in watch.decisions) == (1_500 if fault in SLOW else 0)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_faulty_thinker_keeps_the_thought_and_thinks_again(kit: RoomEngine, fault: Fault) -> None:
    watch, thinker = Watch(kit), Thinker(fault)
    policy = MockSpeakPolicy(["silent", "silent", "speak"])
    nova, model = deciding(policy, thinker=thinker)
    await seat(kit, door := Door(), nova)
    began = clock.now()
    await say(kit, "one")
    await say(kit, "two")
    await asyncio.sleep(2)
    await say(kit, "three")
    await asyncio.sleep(0.1)
    assert watch.modes == [("silent", "scripted")] * 2 + [("speak", "scripted")]
    assert spoken(door) == ["Noon."]
    assert door.replies[0].ended
    assert clock.now() == began + 2_100
    await settled()
    assert thinker.once.calls == 2
    assert [event.thought for event in watch.thoughts] == [Thought("sound")]
    assert (last_notes(model) == ()) is (fault in SLOW)


@pytest.mark.parametrize("fault", FAULTS[:-1], ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("decided", ["speak", "silent"])
async def test_a_faulty_hook_leaves_the_decision(kit: RoomEngine, fault: Fault, decided: str) -> None:
    watch, once = Watch(kit), FaultyOnce(fault)

    @kit.hook(HookTrigger.ON_SPEAK_DECISION, timeout=0.5)
    async def faulty(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent] | None:
        result = once()
        return (await result) if result is not None else None

    await seat(kit, door := Door(), deciding(MockSpeakPolicy([decided]))[0])  # type: ignore[list-item]
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert watch.modes == [(decided, "scripted")] * 2
    assert len(door.replies) == (2 if decided == "speak" else 0)


def loses_the_decision(event: SpeakDecisionEvent) -> None:
    del event.decision


def loses_the_event(event: SpeakDecisionEvent) -> None:
    event.event = event.room_id = event.duration_ms = None  # type: ignore[assignment]


def has_no_decision(event: SpeakDecisionEvent) -> None:
    event.decision = "speak"  # type: ignore[assignment]


@pytest.mark.parametrize("spoil", [loses_the_decision, loses_the_event, has_no_decision], ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("decided", ["speak", "silent"])
async def test_a_hook_that_spoils_what_it_is_shown_leaves_the_decision(
    kit: RoomEngine, spoil: Callable[[SpeakDecisionEvent], None], decided: Mode
) -> None:
    @kit.hook(HookTrigger.ON_SPEAK_DECISION)
    async def spoiling(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent]:
        spoil(event)
        return HookResult.modify(event)

    await seat(kit, door := Door(), deciding(MockSpeakPolicy([decided]))[0])
    told = kit.feed(ROOM).subscribe()
    input_id = (await say(kit, "one")).id
    await settled()
    told.close()
    decisions = [event.data async for event in told.events() if event.type == "input.decided"]
    assert [(data["input_id"], data["mode"], data["duration_ms"]) for data in decisions] == [(input_id, decided, 0)]
    assert spoken(door) == (["Noon."] if decided == "speak" else [])


@pytest.mark.parametrize("rubbish", [None, "a context", AIContext(messages=None)], ids=["none", "text", "no messages"])  # type: ignore[arg-type]
async def test_a_hook_that_leaves_nothing_to_think_about_keeps_the_thought(kit: RoomEngine, rubbish: object) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def spoils(event: AIGenerationEvent) -> None:
        if event.trigger.content.body == "two":
            event.ai_context = rubbish  # type: ignore[assignment]

    watch, thinker = Watch(kit), MockThinker([Thought("sound")])
    await seat(kit, Door(), deciding(MockSpeakPolicy(["silent"]), thinker=thinker)[0])
    told = kit.feed(ROOM).subscribe()
    for text in ("one", "two", "three"):
        await say(kit, text)
        await settled()
    told.close()
    assert [event.data["disposition"] async for event in told.events() if event.type == "input.settled"] == ["listened"] * 3
    assert [heard.messages[-1].content for heard, _ in thinker.calls] == ["one", "three"]
    assert [event.thought for event in watch.thoughts] == [Thought("sound")]


class Forgetful(MockSpeakPolicy):
    def forget_room(self, room_id: str) -> None:
        raise RuntimeError("broken")


async def test_a_policy_or_memory_that_fails_to_forget_a_room_does_not_silence_the_agent_there(kit: RoomEngine) -> None:
    class Keeping(Notebook):
        def forget_room(self, room_id: str) -> None:
            raise RuntimeError("broken")

    nova = deciding(Forgetful(), memory=Keeping())[0]
    await seat(kit, door := Door(), nova)
    await say(kit, "one")
    await settled()
    assert spoken(door) == ["Noon."]
    await kit.detach_channel(ROOM, nova.channel_id)
    await say(kit, "two")
    await settled()
    assert spoken(door) == ["Noon."]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
@pytest.mark.parametrize("where", ["ingest", "recall"])
async def test_a_faulty_memory_costs_an_event_or_a_line_and_no_answer(kit: RoomEngine, fault: Fault, where: str) -> None:
    memory = Memory(fault, where)
    nova, model = deciding(MockSpeakPolicy(["speak"]), memory=memory)
    await seat(kit, door := Door(), nova)
    await people(kit, "Ana")
    await settled()
    memory.once.calls, memory.taken[:] = 0, []
    began = clock.now()
    await say(kit, "one")
    await asyncio.sleep(0.1)
    assert len(door.replies) == (0 if where == "recall" and fault in SLOW else 1)
    await asyncio.sleep(3)
    await say(kit, "two")
    await asyncio.sleep(0.1)
    assert spoken(door) == ["Noon.", "Noon."]
    assert clock.now() == began + 3_200
    await settled()
    notes = [last_notes(model, call) for call in (0, 1)]
    assert notes == ([("A line.",)] * 2 if where == "ingest" else [(), ("A line.",)])
    heard = [body for _, body in memory.taken]

    assert heard == (["Noon.", "two", "Noon."] if where == "ingest" else ["one", "Noon.", "two", "Noon."])


async def test_what_fails_in_one_room_is_no_matter_in_another(kit: RoomEngine) -> None:
    policy = Policy(hangs, SpeakDecision("speak", "sound"))
    await seat(kit, Door(), deciding(policy)[0])
    await kit.create_room("other room")
    for channel_id in ("text", "assistant"):
        await kit.attach_channel("other room", channel_id)
    watch = Watch(kit)
    await say(kit, "one")
    began = clock.now()
    await kit.process_inbound(message("two"), room_id="other room")
    await asyncio.sleep(0)
    await settled()
    assert [(event.room_id, event.decision.reason) for event in watch.decisions] == [("other room", "sound"), (ROOM, "fallback")]
    assert watch.decided_at == [began, began + 2_000]
