"""Speaking to an agent while it answers: routes, order, and corrections that are meant for one answer (G27-G44)."""

import asyncio

import pytest

from tests.scenario.generations import LOOK, NATIVE, ROUND, Bench, LiveModel, asked, followed, goes_on
from tests.scenario.rooms import ROOM, message, say, settled
from voiceagent.llm.model import Steered
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType, InboundMessage, RecordingContent, RoomEvent
from voiceagent.room.hooks import HookResult, HookTrigger


async def test_g27_a_message_goes_to_the_conversation_and_not_to_a_generation(kit: RoomEngine) -> None:
    room = await followed(kit, [Pause(200), "Monday."], "Tuesday.")
    await say(kit, "Monday?")
    await asyncio.sleep(1)
    second = await say(kit, "no, Tuesday")
    await room.read()
    assert room.all("generation.finished")[1]["input_ids"] == [second.id]


async def test_g28_a_running_request_that_takes_input_is_tried_first(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), *NATIVE)
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    assert model.steered == [second.id]
    assert [line for line in room.about(second.id) if line != "room.event"] == [
        "input.accepted", "input.queued", "steering.sent", "steering.accepted", "steering.applied", "input.delivered",
        "input.settled",
    ]  # fmt: skip
    assert room.one("generation.finished")["input_ids"] == [first.id, second.id]
    assert len(model.prompts) == 1


async def test_g28_input_with_an_attachment_never_goes_native(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), "Monday.")
    await followed(kit, model=model)
    await say(kit, "Monday?")
    await asyncio.sleep(0.1)
    await kit.process_inbound(message(RecordingContent("file:note.wav", 100, "no, Tuesday")), room_id=ROOM)
    await settled()
    assert model.steered == []


async def test_g29_a_refusal_has_no_effect_and_the_input_is_in_the_next_request(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), "Monday.", answers=[False])
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    assert [asked(prompt) for prompt in model.prompts] == [["Monday?"], ["Monday?", "no, Tuesday"]]
    assert [data["delivery"] for data in room.all("input.queued")] == ["new_turn", "native", "request_boundary"]
    assert room.one("generation.finished")["input_ids"] == [first.id, second.id]


async def test_g30_that_a_model_took_an_input_proves_nothing(kit: RoomEngine) -> None:
    room = await followed(kit, model=LiveModel(Pause(200), "Monday."))
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    end = room.one("generation.finished")
    assert (end["input_ids"], end["accepted_input_ids"]) == ([first.id], [])
    assert room.settlements[second.id] == "unknown"


@pytest.mark.parametrize("answer", [RuntimeError("lost"), "perhaps"])
async def test_g31_an_exception_or_another_answer_opens_no_second_way(kit: RoomEngine, answer: Exception | str) -> None:
    model = LiveModel(Pause(200), "Monday.", answers=[answer])
    room = await followed(kit, model=model)
    _, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    assert len(model.prompts) == 1
    assert room.settlements[second.id] == "unknown"
    assert room.one("input.unknown")["route"] == "native"


async def test_g32_while_one_is_on_its_way_no_other_is_tried(kit: RoomEngine) -> None:
    model = LiveModel(Pause(300), *NATIVE)
    room = await followed(kit, model=model)
    _, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await asyncio.sleep(0.1)
    third = await say(kit, "or Wednesday")
    await room.read()
    assert model.steered == [second.id]
    assert next(data["delivery"] for data in room.all("input.queued") if data["input_id"] == third.id) == "parallel"


async def test_g33_a_failure_before_acceptance_goes_to_the_next_request_and_one_after_does_not(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "failed"), "Monday.")
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await room.read()
    assert asked(model.prompts[1]) == ["Monday?", "no, Tuesday"]
    assert room.settlements == {first.id: "answered", second.id: "answered"}


async def test_g34_what_comes_later_overtakes_nothing_that_came_before(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
        await asyncio.sleep(0.2 if "slow" in event.content.body else 0)
        return HookResult.allow()

    bench = Bench()
    model = ScriptedModel(ROUND)
    room = await followed(kit, model=model, bench=bench)
    await say(kit, "one")
    await asyncio.sleep(0.1)
    await asyncio.gather(say(kit, "a slow one"), say(kit, "a quick one"), kit.steer(ROOM, "and this", participant_id="ana"))
    bench.go.set()
    await room.read()
    accepted = [data["input_id"] for data in room.all("input.accepted")]
    assert [data["input_id"] for data in room.all("input.delivered")] == accepted
    assert asked(model.prompts[1]) == [data["text"] for data in room.all("input.accepted")]


async def test_g35_what_comes_while_a_tool_runs_is_in_the_next_request_once(kit: RoomEngine) -> None:
    bench = Bench()
    model = ScriptedModel(ROUND)
    room = await followed(kit, model=model, bench=bench)
    first, second = await goes_on(kit, "move it to Monday", "no, Tuesday")
    await asyncio.sleep(0.1)
    bench.go.set()
    await room.read()
    assert [asked(prompt) for prompt in model.prompts] == [["move it to Monday"], ["move it to Monday", "no, Tuesday"]]
    assert model.prompts[1].messages[-1].content == "no, Tuesday"
    assert [message.role for message in model.prompts[1].messages[-4:]] == ["user", "assistant", "tool", "user"]
    assert bench.ran == 1
    assert len(room.all("generation.started")) == 1
    assert room.about(second.id) == ["input.accepted", "input.queued", "input.delivered", "input.settled"]
    queued = room.all("input.queued")[1]
    assert (queued["delivery"], queued["generation"]) == ("request_boundary", room.one("generation.started")["generation"])
    assert room.settlements == {first.id: "answered", second.id: "answered"}


async def test_g36_a_correction_during_the_last_words_keeps_the_generation_open(kit: RoomEngine) -> None:
    bench = Bench()
    bench.go.set()
    model = ScriptedModel([["One moment.", LOOK], ["It is ", Pause(300), "Monday."], "Tuesday, then."])
    room = await followed(kit, model=model, bench=bench)
    first = await say(kit, "when?")
    await asyncio.sleep(0.1)
    steered = await kit.steer(ROOM, "say Tuesday")
    assert steered.disposition == "queued"
    await room.read()
    assert len(room.all("generation.started")) == 1
    assert bench.ran == 1
    assert asked(model.prompts[2]) == ["when?", "say Tuesday"]
    end = room.one("generation.finished")
    assert (end["input_ids"], end["text"]) == ([first.id, steered.input_id], "Tuesday, then.")


async def test_g37_at_its_end_a_generation_takes_what_the_room_has_taken(kit: RoomEngine) -> None:
    model = ScriptedModel([["Monday."], "Tuesday, then."])
    steered: list[asyncio.Task[object]] = []
    room = await followed(kit, model=model)

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def last_moment(event: RoomEvent) -> HookResult[RoomEvent]:
        """The answer is on its way into the room: its checkpoint."""
        if event.content.body == "Monday.":
            steered.append(asyncio.create_task(kit.steer(ROOM, "say Tuesday")))
            await asyncio.sleep(0.01)
        return HookResult.allow()

    await say(kit, "when?")
    await room.read()
    assert len(steered) == 1
    assert len(room.all("generation.started")) == 1
    assert room.one("generation.finished")["text"] == "Tuesday, then."


async def test_g38_an_instruction_does_not_keep_a_generation_open(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, "Done.", bench=bench)
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    await kit.deliver(ROOM, "The job is done.", instruction=True)
    bench.go.set()
    await room.read()
    assert len(room.all("generation.finished")) == 2
    assert [data["delivery"] for data in room.all("input.queued")] == ["new_turn", "parallel"]


async def test_g39_what_comes_after_the_end_opens_a_generation(kit: RoomEngine) -> None:
    room = await followed(kit, "Monday.", "Tuesday.")
    await say(kit, "when?")
    await asyncio.sleep(1)
    steered = await kit.steer(ROOM, "say Tuesday")
    assert steered.disposition == "new_turn"
    await room.read()
    assert room.all("generation.started")[1]["initial_input_id"] == steered.input_id


async def test_g40_admission_closes_before_the_end_is_told(kit: RoomEngine) -> None:
    room = await followed(kit, "Monday.")
    await say(kit, "when?")
    told: list[bool] = []
    async for line in room.reader.events():
        if line.type == "generation.finished":
            told.append(room.agent.admits(ROOM, line.generation_id or ""))
            break
    assert told == [False]


async def test_g41_a_correction_for_an_answer_that_is_over_is_refused(kit: RoomEngine) -> None:
    room = await followed(kit, [Pause(200), "Monday."])
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    generation = room.open_id
    await settled()
    refused = await kit.steer(ROOM, "say Tuesday", generation_id=generation, input_id="s")
    assert (refused.disposition, refused.reason, refused.input_id) == ("refused", "generation_ended", None)
    assert (await kit.steer(ROOM, "say Tuesday", generation_id=generation, input_id="s")).duplicate is False
    await room.read()
    assert len(room.all("input.accepted")) == 1


async def test_g42_one_that_was_accepted_goes_into_its_generation_or_into_none(kit: RoomEngine) -> None:
    bench = Bench()
    model = ScriptedModel([["One moment.", LOOK], "It is Tuesday.", "Later."])
    room = await followed(kit, model=model, bench=bench)
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    kept = await kit.steer(ROOM, "say Tuesday", generation_id=room.open_id)
    assert kept.disposition == "queued"
    kit.cancel_generation(ROOM, room.open_id)
    bench.go.set()
    await say(kit, "and the weather?", sender="ben")
    await room.read()
    assert kept.input_id is not None and room.settlements[kept.input_id] == "held"
    assert room.about(kept.input_id)[-2:] == ["input.held", "input.settled"]
    assert all(kept.input_id not in data["input_ids"] for data in room.all("generation.finished"))  # type: ignore[operator]


async def test_g42_one_that_is_taken_after_all_is_over_is_held(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
        await asyncio.sleep(1 if "Tuesday" in event.content.body else 0)
        return HookResult.allow()

    room = await followed(kit, [Pause(200), "Monday."])
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    late = await kit.steer(ROOM, "say Tuesday", generation_id=room.open_id)
    assert late.disposition == "held"
    await room.read()
    assert len(room.all("generation.started")) == 1


async def test_g43_a_receipt_says_how_far_a_correction_has_come(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    generation = room.open_id
    sent = [await kit.steer(ROOM, "say Tuesday", generation_id=generation, input_id="s")]
    bench.go.set()
    await settled()
    sent.append(await kit.steer(ROOM, "say Tuesday", generation_id=generation, input_id="s"))
    assert [(receipt.disposition, receipt.duplicate) for receipt in sent] == [("queued", False), ("applied", True)]
    assert sent[1].generation_id == generation
    await room.read()
    assert room.all("input.accepted")[1]["kind"] == "steer"


async def test_g43_what_was_held_when_its_room_closed_is_still_held_when_it_opens_again(kit: RoomEngine) -> None:
    room = await followed(kit, *ROUND, bench=Bench())
    await say(kit, "Monday?")
    await asyncio.sleep(0.1)
    anchored = {"generation_id": room.open_id, "input_id": "s"}
    steered = await kit.steer(ROOM, "no, Tuesday", **anchored)
    await kit.close_room(ROOM)
    await kit.create_room(ROOM)
    again = await kit.steer(ROOM, "no, Tuesday", **anchored)
    assert (again.input_id, again.disposition, again.duplicate) == (steered.input_id, "held", True)


async def test_g02_of_two_texts_under_one_id_at_once_the_second_is_refused(kit: RoomEngine) -> None:
    await followed(kit, "Yes.")
    both = await asyncio.gather(*(kit.steer(ROOM, text, input_id="s") for text in ("faster", "slower")))
    assert [(one.disposition, one.reason) for one in both] == [("new_turn", None), ("refused", "input_id_taken")]


async def test_g44_giving_an_answer_up_takes_back_nothing(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    await kit.steer(ROOM, "say Tuesday")
    kit.cancel_generation(ROOM, room.open_id)
    bench.go.set()
    await room.read()
    stored = [event.content.body for event in await kit.store.list_events(ROOM) if event.type is EventType.MESSAGE]
    assert {"when?", "say Tuesday", "One moment."} <= set(stored)
    assert bench.ran == 1


@pytest.mark.parametrize("text", ["", " ", "x" * 16_001])
async def test_a_steering_text_has_its_bounds(kit: RoomEngine, text: str) -> None:
    await followed(kit)
    assert (await kit.steer(ROOM, text)).disposition == "refused"
    assert (await kit.steer(ROOM, "well", input_id="x" * 129)).disposition == "refused"


async def test_nobody_from_outside_can_steer_by_metadata(kit: RoomEngine) -> None:
    room = await followed(kit, [Pause(200), "Monday."])
    await say(kit, "when?")
    await asyncio.sleep(0.1)
    said = InboundMessage("text", message("no").content, "ben", metadata={"steer": room.open_id, "submitted": "x"})
    await kit.process_inbound(said, room_id=ROOM)
    await room.read()
    assert [data["kind"] for data in room.all("input.accepted")] == ["user", "user"]
