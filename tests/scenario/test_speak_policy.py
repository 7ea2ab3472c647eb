"""Whether an agent speaks: statements 41 to 59 and 63 on the engine, in exact virtual time."""

import asyncio

import pytest

from tests.scenario.deciding import Never, Notebook, Watch, deciding, last_notes, people, spoken
from tests.scenario.rooms import ROOM, Door, message, rows, say, seat, settled
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.agent.presence import OFFER
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import AlwaysSpeak, MockSpeakPolicy, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thinker import MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import EchoModel, ScriptedModel
from voiceagent.room.channel import RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType, RoomEvent, TextContent
from voiceagent.room.hooks import HookResult, HookTrigger


async def test_s07_041_a_silent_decision_runs_no_turn_and_the_memory_hears_it_once(kit: RoomEngine) -> None:
    watch, memory = Watch(kit), Notebook("a line")
    nova, model = deciding(MockSpeakPolicy(["silent"]), memory=memory)
    await seat(kit, door := Door(), other := Door("other"), nova)
    await people(kit, "Ana")
    await say(kit, "nice weather")
    await settled()
    assert (model.prompts, watch.calls, door.replies) == ([], [], [])
    assert [event.content.body for event in await rows(kit) if event.type is EventType.MESSAGE] == ["nice weather"]
    assert other.texts[-1] == "nice weather"
    assert [taken for taken in memory.taken if taken[0]] == [("Ana", "nice weather")]
    assert memory.recalled == 0
    assert watch.modes == [("silent", "scripted")]


async def test_s07_041_the_memory_hears_every_event_the_agent_may_know_once_and_no_instruction(kit: RoomEngine) -> None:
    memory = Notebook()
    nova, _ = deciding(MockSpeakPolicy(["silent", "speak"]), memory=memory)
    await seat(kit, Door(), nova)
    await say(kit, "one")
    await kit.process_inbound(message("not asked"), room_id=ROOM)
    await settled()
    await kit.deliver(ROOM, "Say it again.", instruction=True)
    await settled()
    assert memory.taken == [("@text", "one"), ("@text", "not asked"), ("Nova", "Noon."), ("Nova", "Noon.")]


async def test_s07_042_the_decisions_notes_are_in_the_turn_before_the_hook_runs(kit: RoomEngine) -> None:
    watch = Watch(kit)
    policy = MockSpeakPolicy([SpeakDecision("speak", notes=("Answer in French.", "Be kind."))])
    nova, model = deciding(policy)
    await seat(kit, Door(), nova)
    await say(kit, "hello")
    await settled()
    (asked,) = watch.calls
    assert asked.ai_context.messages[-1].notes == ("Answer in French.", "Be kind.")
    assert last_notes(model) == ("Answer in French.", "Be kind.")


async def test_s07_043_an_offer_has_the_decisions_notes_and_the_ask_to_offer_last(kit: RoomEngine) -> None:
    nova, model = deciding(MockSpeakPolicy([SpeakDecision("offer", notes=("Answer in French.",))]), "I know the price.")
    await seat(kit, door := Door(), nova)
    await say(kit, "what did it cost again?")
    await settled()
    assert last_notes(model) == ("Answer in French.", OFFER)
    assert spoken(door) == ["I know the price."]


async def test_the_notes_of_a_turn_come_from_memory_thought_and_decision_in_this_order(kit: RoomEngine) -> None:
    watch = Watch(kit)
    policy = MockSpeakPolicy(["silent", SpeakDecision("offer", notes=("From the decision.",))])
    nova, model = deciding(policy, memory=Notebook("From memory.", "More of it."), thinker=MockThinker([Thought("They chat.")]))
    await seat(kit, Door(), nova)
    await say(kit, "nice weather")
    await settled(1)
    await say(kit, "what did it cost?")
    await settled()
    notes = last_notes(model)
    assert notes == ("From memory.", "More of it.", Thought("They chat.").note(), "From the decision.", OFFER)
    assert watch.calls[-1].ai_context.messages[-1].notes == notes


async def test_a_standalone_instruction_is_answered_without_memory(kit: RoomEngine) -> None:
    memory = Notebook("From memory.")
    nova, model = deciding(memory=memory)
    await seat(kit, Door(), nova)
    await kit.deliver(ROOM, "Say hello.", instruction=True, standalone=True)
    await settled()
    assert (memory.recalled, last_notes(model)) == (0, ())


async def test_s07_044_a_policy_that_raises_lets_the_agent_speak(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, _ = deciding(MockSpeakPolicy(error=RuntimeError("no judgment today"), delay=0.3))
    await seat(kit, door := Door(), nova)
    await say(kit, "hello")
    await settled()
    assert watch.modes == [("speak", "fallback")]
    assert watch.decisions[0].duration_ms == 300
    assert spoken(door) == ["Noon."]


@pytest.mark.parametrize(("bound", "took"), [(2.0, 2_000), (0.25, 250)])
async def test_s07_045_a_policy_slower_than_its_bound_lets_the_agent_speak_then(kit: RoomEngine, bound: float, took: int) -> None:
    watch = Watch(kit)
    nova, _ = deciding(Never(), speak_timeout=bound)
    await seat(kit, door := Door(), nova)
    began = clock.now()
    await say(kit, "hello")
    await settled()
    assert watch.modes == [("speak", "fallback")]
    assert (watch.decisions[0].duration_ms, watch.decided_at) == (took, [began + took])
    assert spoken(door) == ["Noon."]


async def test_s07_045_a_policy_that_gives_up_earlier_is_not_taken_for_a_late_one(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, _ = deciding(MockSpeakPolicy(error=TimeoutError("my own bound"), delay=0.7))
    await seat(kit, Door(), nova)
    await say(kit, "hello")
    await settled()
    assert (watch.modes, watch.decisions[0].duration_ms) == ([("speak", "fallback")], 700)


@pytest.mark.parametrize(
    "wrong",
    [
        {"speak_timeout": 0},
        {"speak_timeout": -1.0},
        {"think_wait": -0.1},
        {"thinker": MockThinker(), "speak_policy": None},
    ],
)
def test_s07_046_what_cannot_be_is_a_value_error(wrong: dict[str, object]) -> None:
    options = {"speak_policy": AlwaysSpeak(), **wrong}
    with pytest.raises(ValueError, match=r"speak_timeout|think_wait|thinker"):
        AIChannel("nova", provider=EchoModel(), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [AlwaysSpeak, "always"])
def test_what_is_no_policy_is_a_type_error(policy: object) -> None:
    with pytest.raises(TypeError, match="SpeakPolicy"):
        AIChannel("nova", provider=EchoModel(), speak_policy=policy)  # type: ignore[arg-type]


class EveryThirdTurn:
    """A strategy that takes every turn over."""

    def stand_in(self, event: RoomEvent, context: RoomContext) -> RoomEvent | None:
        return RoomEvent("stand-in", event.room_id, event.source, TextContent("loop"), event.created_at, responds_to=event.id)


async def test_s07_047_instructions_own_events_tool_rows_and_strategy_turns_are_not_decided(kit: RoomEngine) -> None:
    async def look_up(what: str) -> str:
        """Looks up."""
        return what

    watch, policy = Watch(kit), MockSpeakPolicy(["speak"])
    call = ToolCall("c", "look_up", '{"what": "tides"}')
    nova, _ = deciding(policy, [call], "At noon.", tools=[look_up])
    taken_over, model = deciding(looped := MockSpeakPolicy(["silent"]), channel_id="loop", strategy=EveryThirdTurn())
    await seat(kit, Door(), nova)
    await kit.deliver(ROOM, "Greet.", instruction=True)
    await settled()
    assert (policy.turns, watch.decisions) == ([], [])
    question = await say(kit, "when?")
    await settled()
    assert [turn.event.id for turn in policy.turns] == [question.id]
    kit.register_channel(taken_over)
    await kit.attach_channel(ROOM, "loop")
    await kit.process_inbound(message("again"), room_id=ROOM)
    await settled()
    assert looped.turns == []
    assert model.prompts
    assert {event.channel_id for event in watch.decisions} == {"assistant"}


async def test_s07_048_without_a_policy_everything_is_answered_and_nothing_decided(kit: RoomEngine) -> None:
    watch = Watch(kit)
    await seat(kit, door := Door(), AIChannel("plain", provider=ScriptedModel(["One."])))
    await say(kit, "hello")
    await say(kit, "nice weather")
    await settled()
    assert (spoken(door), watch.decisions) == (["One.", "One."], [])


async def test_s07_048_always_speak_reports_each_decision(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, _ = deciding(AlwaysSpeak())
    await seat(kit, door := Door(), nova)
    await say(kit, "hello")
    await say(kit, "nice weather")
    await settled()
    assert watch.modes == [("speak", "always")] * 2
    assert (len(door.replies), [event.duration_ms for event in watch.decisions]) == (2, [0, 0])


async def test_s07_059_each_channel_is_asked_once_about_each_event(kit: RoomEngine) -> None:
    one, two = MockSpeakPolicy(["silent"]), MockSpeakPolicy(["silent"])
    await seat(kit, Door(), deciding(one, channel_id="one")[0], deciding(two, channel_id="two")[0])
    sent = [await say(kit, text) for text in ("a", "b", "c")]
    await settled()
    for policy in (one, two):
        assert [turn.event.id for turn in policy.turns] == [event.id for event in sent]


async def test_two_agents_decide_and_answer_at_once(kit: RoomEngine) -> None:
    watch = Watch(kit)
    agents = [deciding(MockSpeakPolicy(["speak"], delay=0.5), channel_id=name)[0] for name in ("one", "two")]
    await seat(kit, door := Door(), *agents)
    began = clock.now()
    result = await kit.process_inbound(message("hello", sender=None), room_id=ROOM)
    assert clock.now() == began
    await asyncio.sleep(0.5)
    await asyncio.sleep(0)
    await settled(1)
    assert watch.decided_at == [began + 500, began + 500]
    assert {reply.channel_id for reply in door.replies[:2]} == {"one", "two"}
    assert {reply.responds_to for reply in door.replies[:2]} == {result.event.id if result.event else None}


@pytest.mark.parametrize("slow", ["policy", "thinker", "hook"])
async def test_an_agent_that_decides_thinks_or_is_looked_at_delays_nobodys_reading(kit: RoomEngine, slow: str) -> None:
    policy = MockSpeakPolicy(["silent"], delay=0.5 if slow == "policy" else 0.0)
    nova, _ = deciding(policy, thinker=MockThinker([Thought("hm")], delay=10.0 if slow == "thinker" else 0.0))
    watcher, _ = deciding(other := MockSpeakPolicy(["silent"]), channel_id="watcher")
    await seat(kit, Door(), reader := Door("reader"), nova, watcher)
    if slow == "hook":

        @kit.hook(HookTrigger.ON_SPEAK_DECISION, name="slow")
        async def look(event: SpeakDecisionEvent) -> None:
            if event.channel_id == "assistant":
                await asyncio.sleep(20)

    began = clock.now()
    for number in range(10):
        await say(kit, f"line {number}", sender=f"p{number % 2}")
        await asyncio.sleep(0.01)
    assert reader.texts == [f"line {number}" for number in range(10)]
    assert reader.times == [began + 10 * number for number in range(10)]
    assert len(other.turns) == 10
    assert len(policy.turns) == 10
    await settled()


async def test_s07_063_the_policy_forgets_a_room_when_the_agent_joins_it_and_when_it_leaves(kit: RoomEngine) -> None:
    policy, memory = MockSpeakPolicy(["silent"]), Notebook()
    nova, _ = deciding(policy, memory=memory)
    await seat(kit, Door(), nova)
    assert policy.forgotten == memory.forgotten == [ROOM]
    await kit.detach_channel(ROOM, "assistant")
    assert policy.forgotten == memory.forgotten == [ROOM] * 2
    await kit.attach_channel(ROOM, "assistant")
    await kit.close_room(ROOM)
    assert policy.forgotten == memory.forgotten == [ROOM] * 4


@pytest.mark.parametrize("how", ["detach", "close"])
async def test_s07_063_a_room_id_used_again_inherits_nothing(kit: RoomEngine, how: str) -> None:
    policy = ClassifierSpeakPolicy(MockClassifier([{"listen_request": 1.0}, {}, {}]), agent_name="Nova")
    thinker = MockThinker([Thought("They want quiet.", ("a fact",))], delay=0.0)
    nova, _ = deciding(policy, thinker=thinker)
    await seat(kit, Door(), nova)
    await say(kit, "Nova, just listen for now")
    await settled()
    assert policy.listening(ROOM) is not None
    if how == "detach":
        await kit.detach_channel(ROOM, "assistant")
    else:
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "text")
    assert policy.listening(ROOM) is None
    await kit.attach_channel(ROOM, "assistant")
    await say(kit, "hello everybody")
    await settled()
    assert [previous for _, previous in thinker.calls] == [Thought(), Thought()]
    assert policy.listening(ROOM) is None


async def test_s07_063_what_was_being_decided_when_the_agent_left_comes_to_nothing(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, model = deciding(MockSpeakPolicy(["speak"], delay=1.0))
    await seat(kit, door := Door(), nova)
    await say(kit, "hello")
    await asyncio.sleep(0.5)
    await kit.detach_channel(ROOM, "assistant")
    await settled()
    assert (watch.decisions, model.prompts, door.replies) == ([], [], [])


async def test_the_policy_reads_the_room_as_it_was_when_the_event_came(kit: RoomEngine) -> None:
    class Slow(SpeakPolicy):
        def __init__(self) -> None:
            self.read: list[tuple[str, list[str], list[str]]] = []

        async def decide(self, turn: SpeakTurn) -> SpeakDecision:
            await asyncio.sleep(1)
            self.read.append((turn.event.content.body, [e.content.body for e in turn.recent], list(turn.people)))
            return SpeakDecision("silent")

    policy = Slow()
    await seat(kit, Door(), deciding(policy)[0])
    await people(kit, "Ana")
    await say(kit, "one")
    await people(kit, "Ben")
    await say(kit, "two", sender="ben")
    await settled()
    assert policy.read == [("one", [], ["Ana"]), ("two", ["one"], ["Ana", "Ben"])]


async def test_a_hook_on_the_generation_still_blocks_an_answer_that_was_decided(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def no_consent(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
        return HookResult.block("no consent")

    nova, model = deciding(MockSpeakPolicy(["speak"]))
    await seat(kit, door := Door(), nova)
    await say(kit, "hello")
    await settled()
    assert (model.prompts, door.replies) == ([], [])
