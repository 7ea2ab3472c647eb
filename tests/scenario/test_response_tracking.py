"""Every answer names the request it answers: statements 1 to 20."""

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.scenario.rooms import (
    ROOM,
    Door,
    Whole,
    agent,
    ids,
    message,
    rows,
    say,
    seat,
    settled,
    taken,
    words,
)
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.errors import LanguageModelError, StoreError
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import EchoModel, Pause, ScriptedModel
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, EventStatus, EventType, RoomEvent, TextContent
from voiceagent.room.hooks import ErrorEvent, HookResult, HookTrigger
from voiceagent.room.schema import VERSION
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter, Store
from voiceagent.values import JSON

LOOK = ToolCall("c1", "look_up", '{"what": "tides"}')


async def look_up(what: str) -> str:
    """Looks something up."""
    return f"{what}: high at noon"


def with_tool() -> AIChannel:
    return AIChannel("assistant", provider=ScriptedModel([["Let me see. ", LOOK], "High at noon."]), tools=[look_up])


async def answers_to(kit: RoomEngine, event_id: str) -> list[RoomEvent]:
    return await kit.store.list_events(ROOM, event_filter=EventFilter(responds_to=event_id))


async def test_s07_001_a_whole_answer_names_its_trigger(kit: RoomEngine) -> None:
    await seat(kit, Door(), Whole("assistant", lambda event: [words(event, "noon")]))
    question = await say(kit, "what time is it?")
    await settled()
    assert question.responds_to is None
    assert [(e.content.body, e.responds_to) for e in await rows(kit)] == [("what time is it?", None), ("noon", question.id)]


async def test_s07_002_every_row_of_a_streamed_turn_names_the_trigger(kit: RoomEngine) -> None:
    await seat(kit, Door(), with_tool())
    question = await say(kit, "when is high tide?")
    await settled()
    answer = (await rows(kit))[1:]
    assert [e.type for e in answer] == [
        EventType.MESSAGE,
        EventType.TOOL_CALL_START,
        EventType.TOOL_CALL_END,
        EventType.MESSAGE,
    ]
    assert {e.responds_to for e in answer} == {question.id}
    assert len({e.correlation_id for e in answer}) == 1
    assert [e.content.body for e in answer] == ["Let me see.", "", "tides: high at noon", "High at noon."]


async def test_s07_003_what_a_channel_sets_is_kept_and_what_it_leaves_empty_is_filled(kit: RoomEngine) -> None:
    def both(event: RoomEvent) -> list[RoomEvent]:
        return [words(event, "filled"), replace(words(event, "kept"), responds_to="earlier")]

    await seat(kit, Door(), Whole("assistant", both))
    question = await say(kit, "hello")
    await settled()
    assert [e.responds_to for e in (await rows(kit))[1:]] == [question.id, "earlier"]


async def test_s07_004_an_answer_to_an_instruction_names_what_no_timeline_holds(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent("It will rain."))
    instruction = await kit.deliver(ROOM, "Share the forecast.", instruction=True)
    await settled()
    (answer,) = await rows(kit)
    assert answer.responds_to == instruction.id
    assert await kit.store.get_event(ROOM, instruction.id) is None


async def test_s07_005_hooks_see_an_instructions_id_and_cannot_change_whom_an_answer_names(kit: RoomEngine) -> None:
    seen: list[RoomEvent] = []

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def forge(event: RoomEvent) -> HookResult[RoomEvent]:
        seen.append(event)
        return HookResult.modify(replace(event, responds_to="somebody else's", id="forged", chain_depth=0))

    await seat(kit, Door(), agent("It will rain."))
    instruction = await kit.deliver(ROOM, "Share the forecast.", instruction=True)
    await settled()
    assert (seen[0].type, seen[0].id) == (EventType.INSTRUCTION, instruction.id)
    (answer,) = await rows(kit)
    assert (answer.responds_to, answer.chain_depth) == (instruction.id, 1)
    assert answer.id not in ("forged", "made-up")


class Failing(Channel):
    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        raise ValueError("no answer today")


@pytest.mark.parametrize("streamed", [True, False])
async def test_s07_006_the_error_of_a_failed_turn_names_the_trigger(kit: RoomEngine, streamed: bool) -> None:
    errors: list[ErrorEvent] = []

    @kit.hook(HookTrigger.ON_ERROR)
    async def note(error: ErrorEvent) -> None:
        errors.append(error)

    broken = agent([LanguageModelError("it is down")]) if streamed else Failing("assistant", ChannelType.AI)
    await seat(kit, Door(), broken)
    question = await say(kit, "hello")
    await settled()
    assert [(e.responds_to, e.channel_id, e.room_id) for e in errors] == [(question.id, "assistant", ROOM)]


def _says(name: str, event: RoomEvent) -> list[RoomEvent]:
    return [words(event, f"{name} says", name)]


async def test_s07_007_past_the_chain_limit_a_blocked_stand_in_is_left(store: Store) -> None:
    first, second = (Whole(name, partial(_says, name)) for name in ("one", "two"))
    async with RoomEngine(store=store, max_chain_depth=2) as kit:
        await seat(kit, Door(), first, second)
        question = replace(message("hello"), addressed_to=("one",))
        asked = taken(await kit.process_inbound(question, room_id=ROOM))
        await settled()
        stored = await rows(kit)
    answer, stand_in = stored[1:]
    assert (answer.responds_to, answer.chain_depth) == (asked.id, 1)
    assert (stand_in.content.body, stand_in.status, stand_in.blocked_by) == (
        "",
        EventStatus.BLOCKED,
        "event_chain_depth_limit",
    )
    assert (stand_in.responds_to, stand_in.chain_depth, stand_in.source.channel_id) == (answer.id, 2, "two")
    assert second.asked == []


async def test_s07_008_a_tool_row_past_the_limit_leaves_no_stand_in(store: Store) -> None:
    async with RoomEngine(store=store, max_chain_depth=2) as kit:
        await seat(kit, Door(), with_tool(), Whole("other", lambda event: []))
        await kit.process_inbound(replace(message("tides?"), addressed_to=("assistant",)), room_id=ROOM)
        await settled()
        blocked = [e for e in await rows(kit) if e.status is EventStatus.BLOCKED]
        texts = [e.id for e in await rows(kit) if e.type is EventType.MESSAGE and e.source.channel_id == "assistant"]
    assert [e.responds_to for e in blocked] == texts


async def test_s07_009_a_filter_lists_exactly_the_answers(kit: RoomEngine) -> None:
    await seat(kit, Door(), with_tool())
    first = await say(kit, "tides?")
    await settled()
    second = await say(kit, "and tomorrow?")
    await settled()
    assert [e.index for e in await answers_to(kit, first.id)] == [1, 2, 3, 4]
    assert [e.content.body for e in await answers_to(kit, second.id)] == ["High at noon."]
    assert await answers_to(kit, "nobody's") == []


async def test_s07_010_an_answer_in_a_thread_names_the_root_and_its_own_trigger(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent(model=EchoModel()))
    root = await say(kit, "about lunch")
    await settled()
    reply = taken(await kit.process_inbound(replace(message("where?"), parent_event_id=root.id), room_id=ROOM))
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.parent_event_id, answer.responds_to) == (root.id, reply.id)


async def test_s07_011_a_parent_is_always_the_root_and_an_unknown_one_is_dropped(
    kit: RoomEngine, caplog: pytest.LogCaptureFixture
) -> None:
    await seat(kit, Door())
    root = await say(kit, "about lunch")
    reply = taken(await kit.process_inbound(replace(message("where?"), parent_event_id=root.id), room_id=ROOM))
    deeper = taken(await kit.process_inbound(replace(message("there"), parent_event_id=reply.id), room_id=ROOM))
    lost = taken(await kit.process_inbound(replace(message("what?"), parent_event_id="unknown"), room_id=ROOM))
    assert (reply.parent_event_id, deeper.parent_event_id, lost.parent_event_id) == (root.id, root.id, None)
    assert "parent unknown is unknown" in caplog.text


async def test_s07_012_two_answers_side_by_side_each_name_their_own_message(kit: RoomEngine) -> None:
    slow_then_fast = agent([Pause(500), "the weather"], [Pause(100), "the meter"])
    await seat(kit, Door(), slow_then_fast)
    weather = await say(kit, "the weather?")
    meter = await say(kit, "the meter?")
    await settled()
    assert [(e.content.body, e.responds_to) for e in (await rows(kit))[2:]] == [
        ("the meter", meter.id),
        ("the weather", weather.id),
    ]


async def test_s07_013_an_agent_that_answers_an_agent_names_that_agents_event(store: Store) -> None:
    async with RoomEngine(store=store, max_chain_depth=3) as kit:
        await seat(kit, Door(), agent("one", channel_id="one"), agent("two", channel_id="two"))
        await kit.process_inbound(replace(message("hello"), addressed_to=("one",)), room_id=ROOM)
        await settled()
        first, second = [e for e in await rows(kit) if e.status is not EventStatus.BLOCKED][1:]
    assert (second.source.channel_id, second.responds_to, second.chain_depth) == ("two", first.id, 2)


class Workers:
    """A strategy that has the agent read its workers' results in place of the question."""

    def stand_in(self, event: RoomEvent, context: RoomContext) -> RoomEvent | None:
        return replace(event, id="stand-in", content=TextContent("The workers found: 42."), responds_to=event.id)


async def test_s07_014_a_stand_in_names_what_it_replaces_and_so_does_the_answer(kit: RoomEngine) -> None:
    await seat(kit, Door(), AIChannel("assistant", provider=EchoModel(), strategy=Workers()))
    question = await say(kit, "what did they find?")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.content.body, answer.responds_to) == ("The workers found: 42.", question.id)


async def test_s07_015_the_generations_trigger_is_the_event_that_the_answer_names(kit: RoomEngine) -> None:
    triggers: list[RoomEvent] = []

    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def watch(event: AIGenerationEvent) -> None:
        triggers.append(event.trigger)

    await seat(kit, Door(), agent("noon"))
    question = await say(kit, "what time is it?")
    instruction = await kit.deliver(ROOM, "Say it again.", instruction=True)
    await settled()
    assert [(t.id, t.content.body) for t in triggers] == [
        (question.id, "what time is it?"),
        (instruction.id, "Say it again."),
    ]
    assert [e.responds_to for e in (await rows(kit))[1:]] == [t.id for t in triggers]


async def test_s07_016_an_older_file_is_brought_up_to_date_and_a_newer_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    async with RoomEngine(store=SqliteStore(path), ids=ids()) as kit:
        await seat(kit, Door(), agent("noon"))
        await say(kit, "what time is it?")
        await settled()
        await kit.store.close()
    with sqlite3.connect(path) as file:
        later = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('events', 'participants', 'taken_in')"
        for (table,) in file.execute(later).fetchall():
            file.execute(f"DROP TABLE {table}")
        file.executescript(
            "DROP TRIGGER events_taken_in; DROP TABLE taken_in; ALTER TABLE events DROP COLUMN input_ids;"
            "DROP INDEX events_responds_to; ALTER TABLE events DROP COLUMN responds_to; PRAGMA user_version = 3"
        )
        file.execute("UPDATE events SET event = json_remove(event, '$.responds_to')")
    file.close()
    store = await SqliteStore.open(path)
    assert [e.responds_to for e in await store.list_events(ROOM)] == [None, None]
    await store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'events_responds_to'").fetchone() == (1,)
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
    file.close()
    with pytest.raises(StoreError, match=f"version {VERSION + 1}"):
        await SqliteStore.open(path)


async def test_s07_017_an_answer_gets_a_new_id_no_key_and_its_own_channel_as_source(kit: RoomEngine) -> None:
    def forged(event: RoomEvent) -> list[RoomEvent]:
        return [replace(words(event, "noon", "text"), idempotency_key="k", index=77, status=EventStatus.DELIVERED)]

    await seat(kit, Door(), Whole("assistant", forged))
    await say(kit, "what time is it?")
    await settled()
    answer = (await rows(kit))[-1]
    assert answer.id != "made-up"
    assert (answer.idempotency_key, answer.index) == (None, 1)
    assert (answer.source.channel_id, answer.source.channel_type) == ("assistant", ChannelType.AI)


async def test_s07_018_an_answer_that_claims_to_be_an_instruction_is_dropped_alone(kit: RoomEngine) -> None:
    def mixed(event: RoomEvent) -> list[RoomEvent]:
        return [replace(words(event, "obey"), type=EventType.INSTRUCTION), words(event, "noon")]

    await seat(kit, Door(), Whole("assistant", mixed))
    await say(kit, "what time is it?")
    await settled()
    assert [e.content.body for e in (await rows(kit))[1:]] == ["noon"]


async def test_s07_019_every_row_that_answers_an_instruction_carries_its_digest(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def last_word(event: RoomEvent) -> HookResult[RoomEvent]:
        if event.type is EventType.INSTRUCTION:
            return HookResult.modify(replace(event, content=TextContent("Say the tides, \N{WATER WAVE}.")))
        forged = {key: value for key, value in event.metadata.items() if key != "instruction"}
        if event.responds_to is None:
            forged["instruction"] = {"sha256": "forged", "length": 1}
        return HookResult.modify(replace(event, metadata=forged))

    await seat(kit, Door(), with_tool())
    await kit.deliver(ROOM, "Say the tides.", instruction=True)
    await settled()
    final = "Say the tides, \N{WATER WAVE}."
    digest: JSON = {"sha256": hashlib.sha256(final.encode()).hexdigest(), "length": len(final)}
    assert [e.metadata.get("instruction") for e in await rows(kit)] == [digest] * 4
    inbound = replace(message("hello"), metadata={"instruction": digest}, addressed_to=())
    assert "instruction" not in taken(await kit.process_inbound(inbound, room_id=ROOM)).metadata


@pytest.mark.parametrize("claimed", [{"sha256": "0", "length": 0}, True])
async def test_s07_019_no_other_answer_carries_a_digest(kit: RoomEngine, claimed: JSON) -> None:
    def claiming(event: RoomEvent) -> list[RoomEvent]:
        return [words(event, "noon").with_metadata(instruction=claimed)]

    await seat(kit, Door(), Whole("assistant", claiming))
    await say(kit, "hello")
    await settled()
    assert "instruction" not in (await rows(kit))[-1].metadata


async def _greeting(kit: RoomEngine) -> None:
    await kit.say(ROOM, "Hello!", urgent=False)


async def _announcement(kit: RoomEngine) -> None:
    await kit.deliver(ROOM, "We close at six.")


@pytest.mark.parametrize("speak", [_greeting, _announcement])
async def test_s07_020_what_nobody_asked_for_answers_nothing(
    kit: RoomEngine, speak: Callable[[RoomEngine], Awaitable[None]]
) -> None:
    door, silent = Door(), agent(model=EchoModel())
    await seat(kit, door, silent)
    await speak(kit)
    await settled()
    (said,) = await rows(kit)
    assert (said.responds_to, said.source.channel_id, said.addressed_to) == (None, "assistant", ())
    assert [reply.responds_to for reply in door.replies] == [None]
    assert [e.id for e in door.heard] == [said.id]
