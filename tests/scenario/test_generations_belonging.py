"""What belongs to a generation, what of it is provisional and what is final (G14-G26)."""

import asyncio

from tests.scenario.generations import LOOK, NATIVE, ROUND, Bench, LiveModel, followed, goes_on
from tests.scenario.rooms import ROOM, rows, say, settled
from voiceagent.llm.model import Done, Steered, ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.store import EventFilter


async def test_g14_g15_what_was_queued_belongs_to_the_generation_that_delivers_it(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    first, second = await goes_on(kit, "move it to Monday", "no, Tuesday")
    third = await say(kit, "in the morning")
    await asyncio.sleep(0.1)
    (before,) = room.generations
    assert before["input_ids"] == [first.id]
    bench.go.set()
    await room.read()
    assert room.one("generation.finished")["input_ids"] == [first.id, second.id, third.id]
    assert [data["input_id"] for data in room.all("input.delivered")] == [first.id, second.id, third.id]
    assert room.settlements == {first.id: "answered", second.id: "answered", third.id: "answered"}


async def test_g15_an_answer_that_ends_before_it_took_something_in_leaves_it_to_the_next(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, ["One moment.", LOOK], "It is Tuesday.", bench=bench)
    first, second = await goes_on(kit, "move it to Monday", "no, Tuesday")
    await asyncio.sleep(0.1)
    assert kit.cancel_generation(ROOM, room.open_id)
    bench.go.set()
    await room.read()
    assert room.one("generation.detached")["input_ids"] == [first.id]
    assert room.one("generation.finished")["input_ids"] == [second.id]
    assert room.settlements == {first.id: "unknown", second.id: "answered"}


async def test_the_rows_of_an_answer_name_all_that_it_has_taken_in(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    first, second = await goes_on(kit, "move it to Monday", "no, Tuesday")
    bench.go.set()
    await room.read()
    own = [row for row in await rows(kit) if row.source.channel_id == "assistant"]
    assert [(row.responds_to, row.metadata.get("input_ids")) for row in own] == [
        *[(first.id, None)] * 3, (first.id, [first.id, second.id]),
    ]  # fmt: skip
    taken = await kit.store.list_events(ROOM, event_filter=EventFilter(responds_to=second.id, taken_in=True))
    assert [row.content.body for row in taken] == ["It is Tuesday."]
    assert room.one("generation.finished")["event_ids"] == [row.id for row in own]


async def test_g16_what_the_model_accepted_is_in_the_inputs_once_it_is_applied(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), *NATIVE)
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    provisional = room.all("assistant.message")
    assert [(data["text"], data["input_ids"], data["accepted_input_ids"]) for data in provisional] == [
        ("Monday.", [first.id], [second.id]),
        ("Tuesday.", [first.id, second.id], []),
    ]
    end = room.one("generation.finished")
    assert (end["input_ids"], end["accepted_input_ids"], end["text"]) == ([first.id, second.id], [], "Tuesday.")
    assert room.settlements == {first.id: "answered", second.id: "answered"}


async def test_g17_an_acceptance_that_is_repeated_changes_nothing(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "accepted", "r1"), *NATIVE)
    room = await followed(kit, model=model)
    _, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    assert room.all("assistant.message")[0]["accepted_input_ids"] == [second.id]


async def test_g18_an_attempt_that_was_sent_and_failed_is_in_neither_list(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "accepted", "r1"), Steered("", "failed", "r1"), "Monday.")
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    end = room.one("generation.finished")
    assert (end["input_ids"], end["accepted_input_ids"]) == ([first.id], [])
    assert room.settlements == {first.id: "answered", second.id: "unknown"}


async def test_g19_the_lists_of_an_earlier_line_stay_as_they_were(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    first, second = await goes_on(kit, "Monday", "no, Tuesday")
    bench.go.set()
    await room.read()
    assert [data["input_ids"] for data in room.all("assistant.message")] == [[first.id], [first.id, second.id]]


async def test_g20_what_is_only_accepted_is_never_settled_as_answered(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "accepted", "r1"), "Monday.")
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    end = room.one("generation.finished")
    assert (end["input_ids"], end["accepted_input_ids"]) == ([first.id], [second.id])
    assert room.settlements == {first.id: "answered", second.id: "unknown"}
    assert room.one("input.unknown")["route"] == "native"


async def test_g21_an_input_is_applied_by_another_response_than_the_one_that_took_it(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "accepted", "r1"), Steered("", "applied", "r1"), "Monday.")
    room = await followed(kit, model=model)
    await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    failed = room.one("generation.failed")
    assert (failed["error_category"], failed["stage"]) == ("protocol", "native")
    assert room.all("steering.applied") == []


async def test_g22_words_may_come_before_a_tool_a_correction_and_other_words(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    await goes_on(kit, "Monday", "no, Tuesday")
    bench.go.set()
    await room.read()
    assert room.order("assistant.message", "tool.started", "tool.ended", "generation.finished") == [
        "assistant.message", "tool.started", "tool.ended", "assistant.message", "generation.finished",
    ]  # fmt: skip
    assert [(data["text"], data["provisional"], data["segment"]) for data in room.all("assistant.message")] == [
        ("One moment.", True, 0),
        ("It is Tuesday.", True, 1),
    ]


async def test_g23_what_belongs_to_no_generation_names_none(kit: RoomEngine) -> None:
    room = await followed(kit)
    await kit.say(ROOM, "The house closes at nine.")
    await room.read()
    assert room.order("generation.started", "assistant.message") == []


async def test_g24_the_final_text_is_the_last_message_without_tools_as_the_room_has_it(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def soften(event: object) -> HookResult[object]:
        return HookResult.allow()

    bench = Bench()
    bench.go.set()
    room = await followed(kit, *ROUND, bench=bench)
    await say(kit, "when?")
    await room.read()
    last = [row for row in await rows(kit) if row.type is EventType.MESSAGE][-1]
    assert room.one("generation.finished")["text"] == last.content.body == "It is Tuesday."


async def test_g25_a_final_text_may_be_empty(kit: RoomEngine) -> None:
    bench = Bench()
    bench.go.set()
    room = await followed(kit, ["One moment.", LOOK], [Done()], bench=bench)
    said = await say(kit, "when?")
    await room.read()
    assert room.one("generation.finished")["text"] == ""
    assert room.settlements == {said.id: "answered"}


async def test_g26_deltas_carry_words_for_people_alone(kit: RoomEngine) -> None:
    bench = Bench()
    bench.go.set()
    call = ToolCall("c1", "look", "{}")
    room = await followed(kit, ["One moment.", call, call], "It is Tuesday.", bench=bench)
    await say(kit, "when?")
    await room.read()
    assert "".join(str(data["text"]) for data in room.all("text.delta")) == "One moment.It is Tuesday."


async def test_what_models_say_of_their_cost_is_added_up(kit: RoomEngine) -> None:
    bench = Bench()
    bench.go.set()
    turns: list[list[Step]] = [
        ["One moment.", LOOK, Done("tool_calls", {"input": 3})],
        ["Well.", Done("stop", {"input": 4, "output": 1})],
    ]
    room = await followed(kit, model=ScriptedModel(turns), bench=bench)
    await say(kit, "when?")
    await settled()
    await room.read()
    assert room.one("generation.finished")["usage"] == {"input": 7, "output": 1}
