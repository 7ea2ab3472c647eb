"""What an agent has in mind while it listens: statements 89 to 97 on the engine, in exact virtual time."""

import asyncio
from dataclasses import replace

import pytest

from tests.scenario.deciding import Watch, deciding, last_notes, people
from tests.scenario.rooms import ROOM, Door, say, seat, settled
from voiceagent import clock
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.presence import OFFER
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakDecision
from voiceagent.judgment.thinker import Heard, MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.llm.model import Message
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.hooks import HookResult, HookTrigger

CHAT = Thought("They chat about the weather.")
WISH = Thought("They look for the price.", ("A licence costs 1,200 $ a year.",), urgent=True)
FINAL = SpeakDecision("silent", "listening", final=True)


def read(heard: Heard) -> list[tuple[str | None, str]]:
    return [(message.name, message.content) for message in heard.messages]


async def test_s07_089_only_silent_decisions_are_thought_about(kit: RoomEngine) -> None:
    thinker = MockThinker([CHAT])
    nova, _ = deciding(MockSpeakPolicy(["speak", "offer", "silent"]), thinker=thinker)
    await seat(kit, watch_door := Door(), nova)
    watch = Watch(kit)
    for text in ("one", "two", "three"):
        await say(kit, text)
        await settled()
    assert watch.purposes == ["answer", "answer", "thought"]
    assert [heard.messages[-1].content for heard, _ in thinker.calls] == ["three"]
    assert len(watch_door.replies) == 2


async def test_s07_089_a_blocked_thought_makes_no_call_and_keeps_the_previous_one(kit: RoomEngine) -> None:
    consent = [True]

    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def no_ai_without_consent(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
        return HookResult.allow() if consent[0] else HookResult.block("no consent")

    watch, policy, thinker = Watch(kit), MockSpeakPolicy(["silent"]), MockThinker([CHAT, WISH])
    await seat(kit, Door(), deciding(policy, thinker=thinker)[0])
    await say(kit, "one")
    await settled()
    consent[0] = False
    began = clock.now()
    await say(kit, "two")
    await settled()
    consent[0] = True
    assert len(thinker.calls) == 1
    assert [event.thought for event in watch.thoughts] == [CHAT]
    assert watch.decided_at[-1] == began
    await say(kit, "three")
    await settled()
    assert thinker.calls[-1][1] == CHAT
    assert policy.turns[2].thought == CHAT


async def test_s07_090_the_thinker_reads_what_the_hook_leaves_with_every_speaker_named(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def redact(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
        context = event.ai_context
        context.messages = [replace(m, content=m.content.replace("4711", "****")) for m in context.messages]
        return HookResult.modify(replace(event, ai_context=replace(context, system_prompt=f"{context.system_prompt} Redacted.")))

    watch, thinker = Watch(kit), MockThinker([CHAT])
    nova, model = deciding(MockSpeakPolicy(["silent", "speak"]), thinker=thinker)
    await seat(kit, Door(), nova)
    await people(kit, "Ana")
    question = await say(kit, "my number is 4711")
    await settled()
    ((heard, previous),) = thinker.calls
    assert (read(heard), heard.system_prompt, previous) == ([("Ana", "my number is ****")], "Be brief. Redacted.", Thought())
    (asked,) = watch.calls
    assert (asked.trigger.id, asked.channel_id, asked.room_id, asked.purpose) == (question.id, "assistant", ROOM, "thought")
    await say(kit, "and yours?")
    await settled()
    assert [m.name for m in model.prompts[0].messages if m.role == "user"] == [None, None]


async def test_s07_090_the_thinkers_context_holds_what_the_agent_may_know_and_nothing_else(kit: RoomEngine) -> None:
    thinker = MockThinker([CHAT])
    nova, _ = deciding(MockSpeakPolicy(["speak", "silent"]), thinker=thinker)
    await seat(kit, Door(), whisper := Door("whisper"), nova)
    await people(kit, "Ana", "Ben")
    await kit.attach_channel(ROOM, whisper.channel_id, visibility="transport")
    await say(kit, "hello", sender="ben")
    await settled()
    await say(kit, "between us", channel="whisper")
    await say(kit, "so")
    await settled()
    ((heard, _),) = thinker.calls
    assert read(heard) == [("Ben", "hello"), (None, "Noon."), ("Ana", "so")]


async def test_s07_091_what_comes_during_a_call_is_thought_about_in_one_more(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([CHAT, WISH], delay=1.0)
    nova, _ = deciding(policy := MockSpeakPolicy(["silent"]), thinker=thinker, think_wait=0)
    await seat(kit, Door(), nova)
    began = clock.now()
    for text in ("one", "two", "three", "four"):
        await say(kit, text)
        await asyncio.sleep(0.1)
    await settled()
    assert [heard.messages[-1].content for heard, _ in thinker.calls] == ["one", "four"]
    assert [previous for _, previous in thinker.calls] == [Thought(), CHAT]
    assert [(event.thought, event.previous, event.duration_ms) for event in watch.thoughts] == [
        (CHAT, Thought(), 1_000),
        (WISH, CHAT, 1_000),
    ]
    assert watch.decided_at == [began, began + 100, began + 200, began + 300]
    assert len(policy.turns) == 4


async def test_s07_091_what_its_hooks_held_up_is_not_thought_about_after_something_newer(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def slow_at_first(event: AIGenerationEvent) -> None:
        if event.trigger.content.body == "one":
            await asyncio.sleep(1)

    watch, thinker = Watch(kit), MockThinker([CHAT, WISH])
    await seat(kit, Door(), deciding(MockSpeakPolicy(["silent"]), thinker=thinker)[0])
    for text in ("one", "two"):
        await say(kit, text)
    await settled()
    assert [heard.messages[-1].content for heard, _ in thinker.calls] == ["two"]
    assert watch.modes == [("silent", "scripted")] * 2


async def test_s07_092_a_wish_that_is_back_in_time_has_the_policy_decide_again(kit: RoomEngine) -> None:
    watch = Watch(kit)
    policy = MockSpeakPolicy(["silent", SpeakDecision("offer", "has something to add", notes=("Be short.",))], delay=0.2)
    nova, model = deciding(policy, thinker=MockThinker([WISH], delay=0.7))
    await seat(kit, door := Door(), nova)
    began = clock.now()
    event = await say(kit, "what did it cost again?")
    await settled()
    assert watch.modes == [("silent", "scripted"), ("offer", "has something to add")]
    assert [(e.asked_again, e.late, e.duration_ms, e.thought) for e in watch.decisions] == [
        (False, False, 200, Thought()),
        (True, False, 200, WISH),
    ]
    assert watch.decided_at == [began + 200, began + 1_100]
    assert [turn.event.id for turn in policy.turns] == [event.id, event.id]
    assert last_notes(model) == (WISH.note(), "Be short.", OFFER)
    assert (len(door.replies), door.replies[0].responds_to) == (1, event.id)


async def test_s07_092_without_a_wish_the_policy_is_not_asked_again(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, _ = deciding(policy := MockSpeakPolicy(["silent", "speak"]), thinker=MockThinker([CHAT], delay=0.5))
    await seat(kit, door := Door(), nova)
    await say(kit, "nice weather")
    await settled()
    assert (len(policy.turns), len(watch.decisions), door.replies) == (1, 1, [])


@pytest.mark.parametrize(("delay", "again"), [(1.499, True), (1.501, False)])
async def test_s07_092_a_turn_waits_for_a_thought_as_long_as_it_is_told(kit: RoomEngine, delay: float, again: bool) -> None:
    watch = Watch(kit)
    nova, _ = deciding(MockSpeakPolicy(["silent", "offer"]), thinker=MockThinker([WISH], delay=delay))
    await seat(kit, door := Door(), nova)
    await say(kit, "what did it cost?")
    await settled()
    assert [event.asked_again for event in watch.decisions] == [False, True][: 1 + again]
    assert len(door.replies) == again
    assert [event.thought for event in watch.thoughts] == ([WISH, WISH.spoken()] if again else [WISH])


async def test_s07_092_a_turn_that_is_answered_waits_for_no_thought(kit: RoomEngine) -> None:
    thinker = MockThinker([WISH], delay=1.0)
    nova, _ = deciding(MockSpeakPolicy(["silent", "speak"]), thinker=thinker)
    await seat(kit, door := Door(), nova)
    await say(kit, "nice weather")
    await asyncio.sleep(0.5)
    began = clock.now()
    await say(kit, "Nova, what time is it?")
    await asyncio.sleep(0.01)
    assert [reply.text for reply in door.replies] == ["Noon."]
    assert clock.now() == began + 10
    await settled()


async def test_s07_093_a_final_silence_waits_for_nothing_and_is_still_thought_about(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([WISH], delay=0.1)
    nova, _ = deciding(policy := MockSpeakPolicy([FINAL, "speak"]), thinker=thinker)
    await seat(kit, door := Door(), nova)
    began = clock.now()
    await say(kit, "and so on")
    await settled()
    assert (watch.decided_at, len(policy.turns), door.replies) == ([began], 1, [])
    assert [event.thought for event in watch.thoughts] == [WISH]


async def test_s07_093_nor_for_the_hooks_of_its_thought(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def slow(event: AIGenerationEvent) -> None:
        await asyncio.sleep(5)

    thinker = MockThinker([CHAT])
    await seat(kit, Door(), deciding(MockSpeakPolicy([FINAL]), thinker=thinker)[0])
    told = kit.feed(ROOM).subscribe()
    began = clock.now()
    await say(kit, "one")
    async for event in told.events():
        if event.type == "input.settled":
            break
    assert event.data["disposition"] == "listened"
    assert clock.now() < began + 1_000
    told.close()
    await settled()
    assert len(thinker.calls) == 1


async def test_s07_094_late_decisions_are_off_unless_asked_for(kit: RoomEngine) -> None:
    watch = Watch(kit)
    nova, _ = deciding(MockSpeakPolicy(["silent", "speak"]), thinker=MockThinker([WISH], delay=5.0))
    await seat(kit, door := Door(), nova)
    await say(kit, "what did it cost?")
    await settled()
    assert (len(watch.decisions), door.replies) == (1, [])


@pytest.mark.parametrize("first", ["silent", FINAL])
async def test_s07_094_a_late_thought_is_decided_on_for_the_hooks_alone(kit: RoomEngine, first: SpeakDecision) -> None:
    watch = Watch(kit)
    nova, model = deciding(MockSpeakPolicy([first, "speak"]), thinker=MockThinker([WISH], delay=5.0), decide_late=True)
    await seat(kit, door := Door(), nova)
    began = clock.now()
    await say(kit, "what did it cost?")
    await settled()
    assert [(e.decision.mode, e.asked_again, e.late, e.thought) for e in watch.decisions] == [
        ("silent", False, False, Thought()),
        ("speak", True, True, WISH),
    ]
    assert watch.decided_at == [began, began + 5_000]
    assert (model.prompts, door.replies) == ([], [])


async def test_s07_094_nothing_is_decided_late_once_something_newer_was_heard(kit: RoomEngine) -> None:
    watch = Watch(kit)
    thinker = MockThinker([WISH, CHAT], delay=5.0)
    nova, _ = deciding(MockSpeakPolicy(["silent"]), thinker=thinker, decide_late=True)
    await seat(kit, Door(), nova)
    await say(kit, "what did it cost?")
    await asyncio.sleep(3)
    await say(kit, "never mind")
    await settled()
    assert [event.late for event in watch.decisions] == [False, False]


async def test_s07_095_a_failing_thinker_keeps_the_thought_and_tells_nobody(kit: RoomEngine) -> None:
    class Once(MockThinker):
        async def think(self, heard: Heard, previous: Thought) -> Thought:
            thought = await super().think(heard, previous)
            if len(self.calls) > 1:
                raise RuntimeError("no idea")
            return thought

    watch, policy, thinker = Watch(kit), MockSpeakPolicy(["silent", "speak", "silent"]), Once([WISH])
    nova, _ = deciding(policy, thinker=thinker, think_wait=0)
    await seat(kit, Door(), nova)
    for text in ("one", "two", "three", "four"):
        await say(kit, text)
        await settled()
    assert [turn.thought for turn in policy.turns] == [Thought(), WISH, WISH.spoken(), WISH.spoken()]
    assert [event.thought for event in watch.thoughts] == [WISH, WISH.spoken()]


async def test_s07_095_the_same_thought_again_is_no_news(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([CHAT])
    await seat(kit, Door(), deciding(MockSpeakPolicy(["silent"]), thinker=thinker)[0])
    for text in ("one", "two"):
        await say(kit, text)
        await settled()
    assert (len(thinker.calls), len(watch.thoughts)) == (2, 1)


@pytest.mark.parametrize("mode", ["speak", "offer"])
async def test_s07_096_speaking_empties_what_it_wanted_to_say(kit: RoomEngine, mode: str) -> None:
    watch, policy = Watch(kit), MockSpeakPolicy(["silent", mode, "silent"])  # type: ignore[list-item]
    nova, model = deciding(policy, thinker=MockThinker([WISH]), think_wait=0)
    await seat(kit, Door(), nova)
    await say(kit, "what did it cost?")
    await settled()
    await say(kit, "Nova?")
    await settled()
    assert WISH.note() in last_notes(model)
    assert [(event.thought, event.previous, event.duration_ms) for event in watch.thoughts] == [
        (WISH, Thought(), 0),
        (WISH.spoken(), WISH, None),
    ]
    await say(kit, "thanks")
    await settled()
    assert policy.turns[-1].thought == Thought(WISH.text)


async def test_s07_096_an_instruction_carries_no_thought_and_empties_nothing(kit: RoomEngine) -> None:
    watch, policy = Watch(kit), MockSpeakPolicy(["silent"])
    nova, model = deciding(policy, thinker=MockThinker([WISH, WISH]), think_wait=0)
    await seat(kit, Door(), nova)
    await say(kit, "what did it cost?")
    await settled()
    await kit.deliver(ROOM, "Share the forecast.", instruction=True)
    await settled()
    assert last_notes(model) == ()
    assert [event.thought for event in watch.thoughts] == [WISH]
    await say(kit, "so?")
    await settled()
    assert policy.turns[-1].thought == WISH


@pytest.mark.parametrize(
    ("spoke_at", "thinks_until"),
    [(0.5, 1.0), (0.05, 1.1)],
    ids=["while it thought", "between what was heard and the thinking"],
)
async def test_s07_097_what_the_agent_wanted_before_it_spoke_does_not_come_back(
    kit: RoomEngine, spoke_at: float, thinks_until: float
) -> None:
    class Slow(MockSpeakPolicy):
        async def decide(self, turn: object) -> SpeakDecision:
            decision = await super().decide(turn)  # type: ignore[arg-type]
            if decision.mode == "silent":
                await asyncio.sleep(thinks_until - 1.0)
            return decision

    watch, thinker = Watch(kit), MockThinker([WISH], delay=1.0)
    nova, _ = deciding(policy := Slow(["silent", "speak", "silent"]), thinker=thinker, think_wait=0)
    await seat(kit, Door(), nova)
    await say(kit, "what did it cost?")
    await asyncio.sleep(spoke_at)
    await say(kit, "Nova?")
    await settled()
    assert [event.thought for event in watch.thoughts] == [WISH.spoken()]
    await say(kit, "thanks")
    await settled()
    assert policy.turns[-1].thought == WISH.spoken()


async def test_s07_097_nor_does_what_it_wanted_while_an_answer_was_being_made(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([WISH])
    nova, _ = deciding(MockSpeakPolicy(["speak", "silent"]), ["It is ", Pause(3_000), "noon."], thinker=thinker)
    await seat(kit, Door(), nova)
    await say(kit, "what time is it?")
    await asyncio.sleep(1)
    await say(kit, "and what did it cost?", sender="ben")
    await settled()
    assert [event.thought for event in watch.thoughts] == [WISH.spoken()]
    assert len(watch.decisions) == 2


async def test_asked_what_it_thinks_the_agent_reads_its_thought(kit: RoomEngine) -> None:
    nova, model = deciding(MockSpeakPolicy(["silent", "speak"]), thinker=MockThinker([CHAT]))
    await seat(kit, Door(), nova)
    await say(kit, "nice weather")
    await settled()
    await say(kit, "Nova, what are you thinking about?")
    await settled()
    (prompt,) = model.prompts
    assert prompt.messages[-1] == Message("user", "Nova, what are you thinking about?", notes=(CHAT.note(),))
    assert CHAT.text in CHAT.note()


async def test_an_agent_that_leaves_thinks_no_further(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([WISH], delay=1.0)
    await seat(kit, Door(), deciding(MockSpeakPolicy(["silent"]), thinker=thinker)[0])
    await kit.join(ROOM, Participant("ana", "Ana"))
    await say(kit, "one")
    await asyncio.sleep(0.5)
    await kit.detach_channel(ROOM, "assistant")
    await settled()
    assert (len(thinker.calls), watch.thoughts) == (1, [])
