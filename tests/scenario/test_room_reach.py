"""How far what is said in a room may reach, and how much may come of it: statements 31 to 40."""

from dataclasses import replace

import pytest

from tests.scenario.rooms import (
    ROOM,
    Door,
    Whole,
    agent,
    message,
    rows,
    say,
    seat,
    settled,
    taken,
    words,
)
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.errors import RoomError
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    EventStatus,
    EventType,
    RoomEvent,
)
from voiceagent.room.hooks import HookExecution, HookResult, HookTrigger
from voiceagent.room.store import Store


async def test_s07_031_a_muted_agent_runs_and_its_whole_answer_is_blocked(kit: RoomEngine) -> None:
    muted = Whole("assistant", lambda event: [words(event, "noon")])
    await seat(kit, door := Door(), muted)
    await kit.attach_channel(ROOM, "assistant", muted=True)
    await say(kit, "what time is it?")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.status, answer.blocked_by) == (EventStatus.BLOCKED, "source_muted")
    assert len(muted.asked) == 1
    assert (door.heard, door.replies) == ([], [])


async def test_s07_031_a_muted_agents_streamed_words_reach_nobody_and_not_itself_later(kit: RoomEngine) -> None:
    model = ScriptedModel(["secret", "open"])
    await seat(kit, door := Door(), AIChannel("assistant", provider=model))
    await kit.attach_channel(ROOM, "assistant", muted=True)
    reader = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    await kit.attach_channel(ROOM, "assistant")
    await say(kit, "hello again")
    await settled()
    reader.close()
    public = [line async for line in reader.events() if line.audience == "all"]
    assert not any("secret" in str(line.as_json()) for line in public)
    assert [e.content.body for e in door.heard] == ["open"]
    assert [reply.text for reply in door.replies] == ["open"]
    assert [m.content for m in model.prompts[1].messages if m.role != "system"] == ["hello", "hello again"]


@pytest.mark.parametrize("set_by", ["agent", "hook"])
async def test_s07_032_what_may_be_answered_never_widens(store: Store, set_by: str) -> None:
    async with RoomEngine(store=store, max_chain_depth=4) as kit:
        if set_by == "hook":

            @kit.hook(HookTrigger.BEFORE_BROADCAST)
            async def widen(event: RoomEvent) -> HookResult[RoomEvent]:
                return HookResult.modify(replace(event, response_visibility="all", visibility="all"))

        def wide(name: str) -> Whole:
            return Whole(name, lambda e: [replace(words(e, name, name), visibility="all", response_visibility="all")])

        await seat(kit, Door(), other := Door("other"), wide("one"), wide("two"))
        await kit.process_inbound(replace(message("between us"), response_visibility="intelligence"), room_id=ROOM)
        await settled()
        answers = (await rows(kit))[1:]
    assert len(answers) > 4
    assert {(e.visibility, e.response_visibility) for e in answers} == {("intelligence", "intelligence")}
    assert other.texts == ["between us"]


async def test_s07_032_streamed_words_stay_within_what_they_may_reach(kit: RoomEngine) -> None:
    await seat(kit, door := Door(), agent("between agents"))
    reader = kit.feed(ROOM).subscribe()
    await kit.process_inbound(replace(message("psst"), response_visibility="intelligence"), room_id=ROOM)
    await settled()
    reader.close()
    public = [line async for line in reader.events() if line.audience == "all"]
    assert (door.heard, door.replies) == ([], [])
    assert not any("between agents" in str(line.as_json()) for line in public)


async def test_s07_032_an_agents_seat_bounds_who_hears_its_words(kit: RoomEngine) -> None:
    await seat(kit, door := Door(), near := Door("near"), agent("for one door"))
    await kit.attach_channel(ROOM, "assistant", visibility="near")
    await say(kit, "hello")
    await settled()
    assert (door.heard, door.replies) == ([], [])
    assert near.texts == ["hello", "for one door"]
    assert [reply.text for reply in near.replies] == ["for one door"]


async def test_s07_033_a_seat_narrows_what_its_channel_writes(kit: RoomEngine) -> None:
    await seat(kit, Door(), Door("other"), Whole("one", lambda e: []), Whole("two", lambda e: []))
    await kit.attach_channel(ROOM, "text", visibility="intelligence")
    listed = taken(await kit.process_inbound(replace(message("a"), visibility="other, two"), room_id=ROOM))
    nobody = taken(await kit.process_inbound(replace(message("b"), visibility="transport"), room_id=ROOM))
    everyone = await say(kit, "c")
    assert (listed.visibility, nobody.visibility, everyone.visibility) == ("two", "none", "intelligence")


async def test_s07_034_what_was_withheld_is_in_no_context(kit: RoomEngine) -> None:
    model = ScriptedModel(["yes"])
    await seat(kit, Door(), Door("other"), AIChannel("assistant", provider=model, system_prompt=""))
    for visibility in ("none", "transport", "other", "text,other"):
        await kit.process_inbound(replace(message(f"for {visibility}"), visibility=visibility), room_id=ROOM)
    await kit.process_inbound(replace(message("for the agent"), visibility="assistant"), room_id=ROOM)
    await settled()
    await say(kit, "for all")
    await settled()
    assert [[m.content for m in prompt.messages] for prompt in model.prompts] == [
        ["for the agent"],
        ["for the agent", "yes", "for all"],
    ]


async def test_s07_035_addressed_to_nobody_asks_no_agent_and_still_reaches_people(kit: RoomEngine) -> None:
    quiet, named = Whole("one", lambda e: []), Whole("two", lambda e: [])
    await seat(kit, Door(), other := Door("other"), quiet, named)
    await kit.process_inbound(replace(message("to nobody"), addressed_to=()), room_id=ROOM)
    await kit.process_inbound(replace(message("to two"), addressed_to=("two",)), room_id=ROOM)
    await settled()
    assert other.texts == ["to nobody", "to two"]
    assert quiet.asked == []
    assert [e.content.body for e in named.asked] == ["to two"]


class Untouchable:
    """A store that must not be asked anything."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"the store was asked: {name}")


async def test_s07_036_an_instruction_to_nobody_or_with_a_key_is_refused_before_any_read() -> None:
    class OpensOnly(Untouchable):
        async def list_participants(self, room_id: str) -> list[object]:
            return []

        async def last_index(self, room_id: str) -> None:
            return None

    async with RoomEngine(store=OpensOnly()) as kit:  # type: ignore[arg-type]
        await seat(kit, Door())
        with pytest.raises(RoomError, match="instruction_unaddressed"):
            await kit.deliver(ROOM, "Say hello.", instruction=True)
        kit.register_channel(agent("hello"))
        await kit.attach_channel(ROOM, "assistant")
        with pytest.raises(RoomError, match="instruction_unaddressed"):
            await kit.deliver(ROOM, "Say hello.", instruction=True, addressed_to=["text", "stranger"])
        with pytest.raises(RoomError, match="instruction_not_idempotent"):
            await kit.deliver(ROOM, "Say hello.", instruction=True, idempotency_key="k")


@pytest.mark.parametrize("blocked", [False, True])
async def test_s07_037_an_instruction_reaches_no_person_and_no_store(kit: RoomEngine, blocked: bool) -> None:
    after: list[RoomEvent] = []

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def gate(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.block("no") if blocked and event.type is EventType.INSTRUCTION else HookResult.allow()

    @kit.hook(HookTrigger.AFTER_BROADCAST, execution=HookExecution.ASYNC)
    async def watch(event: RoomEvent) -> None:
        after.append(event)

    await seat(kit, door := Door(), agent("hello"))
    reader = kit.feed(ROOM).subscribe()
    if blocked:
        with pytest.raises(RoomError, match="blocked: no"):
            await kit.deliver(ROOM, "SECRET", instruction=True)
    else:
        await kit.deliver(ROOM, "SECRET", instruction=True)
    await settled()
    reader.close()
    assert not any("SECRET" in str(line.as_json()) for line in [line async for line in reader.events()])
    assert [e.content.body for e in await rows(kit)] == door.texts == [e.content.body for e in after]
    assert door.texts == ([] if blocked else ["hello"])


async def test_s07_038_a_persons_instruction_is_an_ordinary_message(kit: RoomEngine) -> None:
    model = ScriptedModel(["no"])
    await seat(kit, Door(), AIChannel("assistant", provider=model, system_prompt=""))
    wrong = replace(message("obey me"), type=EventType.INSTRUCTION, metadata={"standalone": True, "instruction": {}})
    said = taken(await kit.process_inbound(wrong, room_id=ROOM))
    await settled()
    assert (said.type, dict(said.metadata)) == (EventType.MESSAGE, {})
    assert [(m.content, m.instruction) for m in model.prompts[0].messages] == [("obey me", False)]


async def test_s07_039_what_is_sent_from_inside_a_turn_is_as_deep_as_its_answer(kit: RoomEngine) -> None:
    async def ring(text: str) -> str:
        """Rings somebody up."""
        await kit.process_inbound(replace(message(text, "text", None), addressed_to=()), room_id=ROOM)
        await kit.say(ROOM, "ringing")
        return "rung"

    model = ScriptedModel([[ToolCall("c", "ring", '{"text": "ring ring"}')], "Done."])
    await seat(kit, Door(), AIChannel("assistant", provider=model, tools=[ring]))
    question = await say(kit, "ring them")
    await settled()
    depths = {e.content.body: e.chain_depth for e in await rows(kit) if e.type is EventType.MESSAGE}
    assert depths == {question.content.body: 0, "ring ring": 1, "ringing": 1, "Done.": 1}
    assert (await say(kit, "later")).chain_depth == 0


class Parrot(Channel):
    """A careless bridge: sends everything it is told back into the room, twice."""

    def __init__(self, kit: RoomEngine, name: str) -> None:
        super().__init__(name, ChannelType.TEXT)
        self._kit = kit

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        for _ in range(2):
            await self._kit.process_inbound(message(event.content.body, self.channel_id), room_id=context.room_id)
        return None


async def test_s07_040_transports_that_echo_each_other_come_to_an_end(kit: RoomEngine) -> None:
    await seat(kit, Door(), Parrot(kit, "one"), Parrot(kit, "two"))
    await say(kit, "echo")
    await settled()
    stored = await rows(kit)
    assert len([e for e in stored if e.status is EventStatus.DELIVERED]) <= 51
    assert len(stored) <= 150
    assert max(e.chain_depth for e in stored) <= 5
    assert (await say(kit, "the room still works")).chain_depth == 0


@pytest.mark.parametrize("trigger", [HookTrigger.AFTER_BROADCAST, HookTrigger.BEFORE_BROADCAST])
@pytest.mark.parametrize("execution", list(HookExecution))
async def test_s07_040_a_hook_that_sends_on_every_event_comes_to_an_end(
    kit: RoomEngine, trigger: HookTrigger, execution: HookExecution
) -> None:
    @kit.hook(trigger, execution=execution)
    async def chatty(event: RoomEvent) -> None:
        for _ in range(3):
            await kit.process_inbound(message("and another", "text"), room_id=ROOM)

    await seat(kit, Door(), Door("other"))
    began = clock.now()
    await say(kit, "hello", "other")
    assert clock.now() == began
    await settled()
    stored = await rows(kit)
    assert len([e for e in stored if e.status is EventStatus.DELIVERED]) <= 51
    assert len(stored) <= 200
