"""How generations end, and what becomes of the inputs that nobody answered (G45-G51), and answers that are replaced."""

import asyncio
from pathlib import Path

import pytest

from tests.scenario.generations import ENDS, LOOK, ROUND, Bench, LiveModel, asked, followed, goes_on
from tests.scenario.rooms import ROOM, Door, ids, make_store, say, seat, settled
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import UNANSWERED
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Steered
from voiceagent.llm.scripted import Pause, ScriptedModel, Step
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, RoomEvent
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.store import Store


class PluginError(LanguageModelError):
    """An error of somebody's plug-in, whose name tells too much."""


class SecretKeyError(Exception):
    """Another one."""


@pytest.mark.parametrize("end", ["finished", "failed", "detached"])
async def test_g45_a_generation_has_one_end_with_its_identities(kit: RoomEngine, end: str) -> None:
    lasts: dict[str, Step] = {"finished": "well.", "failed": LanguageModelError("broken", "server"), "detached": Pause(10_000)}
    room = await followed(kit, ["Well, ", Pause(100), lasts[end]])
    said = await say(kit, "hello")
    await asyncio.sleep(0.5)
    if end == "detached":
        assert kit.cancel_generation(ROOM, room.open_id)
        assert not kit.cancel_generation(ROOM, room.open_id) if room.generations else True
    await room.read()
    assert room.order(*ENDS) == [f"generation.{end}"]
    data = room.one(f"generation.{end}")
    assert (data["input_ids"], data["accepted_input_ids"]) == ([said.id], [])
    assert room.of(data["generation"])[-1] == f"generation.{end}"


@pytest.mark.parametrize(
    ("error", "public", "category", "retryable"),
    [
        (PluginError("key sk-123", "server"), "LanguageModelError", "server", True),
        (SecretKeyError("key sk-123"), "Exception", "internal", False),
        (ValueError("prompt: hello"), "ValueError", "internal", False),
    ],
)
async def test_g46_a_failure_tells_a_public_class_and_no_words(
    kit: RoomEngine, error: Exception, public: str, category: str, retryable: bool
) -> None:
    room = await followed(kit, ["Well, ", error])
    said = await say(kit, "hello")
    await room.read()
    failed = room.one("generation.failed")
    assert (failed["error_type"], failed["error_category"], failed["stage"]) == (public, category, "model")
    assert failed["retryable"] is retryable
    assert not any(secret in str(failed) for secret in ("sk-123", "prompt", "SecretKey", "Plugin"))
    assert room.order("generation.finished") == []
    assert room.settlements == {said.id: "failed"}


async def test_g47_after_a_failure_nothing_is_done_again_or_undone(kit: RoomEngine) -> None:
    bench = Bench()
    model = ScriptedModel([["One moment.", LOOK], [LanguageModelError("broken", "server")], "And you?"])
    room = await followed(kit, model=model, bench=bench)
    first = await say(kit, "when?")
    await asyncio.sleep(0.1)
    second = await kit.steer(ROOM, "say Tuesday")
    bench.go.set()
    await room.read()
    failed = room.one("generation.failed")
    assert (failed["replayed"], failed["effects"]) == (False, "not_rolled_back")
    assert failed["input_ids"] == [first.id, second.input_id]
    assert (bench.ran, len(model.prompts)) == (1, 2)


async def test_g47_what_waited_for_a_request_that_never_came_is_answered_by_itself(kit: RoomEngine) -> None:
    """It had no part in what failed."""
    model = LiveModel(Pause(300), LanguageModelError("broken", "server"), answers=[False])
    room = await followed(kit, model=model)
    first, second = await goes_on(kit, "when?", "or tomorrow?")
    await room.read()
    assert room.settlements == {first.id: "failed", second.id: "answered"}
    assert room.one("generation.finished")["input_ids"] == [second.id]


async def test_g48_a_stop_detaches_what_runs_and_confirms_nothing(kit: RoomEngine) -> None:
    bench = Bench()
    room = await followed(kit, *ROUND, bench=bench)
    said = await say(kit, "when?")
    await asyncio.sleep(0.1)
    await kit.close_room(ROOM)
    bench.go.set()
    await room.read()
    assert room.order(*ENDS) == ["generation.detached"]
    detached = room.one("generation.detached")
    assert (detached["reason"], detached["cancellation"]) == ("stop", "unconfirmed")
    assert room.settlements == {said.id: "unknown"}
    assert (room.one("input.unknown")["route"], room.about(said.id)[-2:]) == ("new_turn", ["input.unknown", "input.settled"])


async def test_g48_the_end_of_the_engine_does_too(store: Store) -> None:
    async with RoomEngine(store=store, ids=ids()) as kit:
        room = await followed(kit, [Pause(10_000), "Yes."])
        said = await say(kit, "hello")
        await asyncio.sleep(0.1)
    await room.read()
    assert room.one("generation.detached")["reason"] == "shutdown"
    assert room.settlements == {said.id: "unknown"}


async def test_a_host_that_gives_an_answer_up_is_told_when_none_of_it_goes_on(kit: RoomEngine) -> None:
    room = await followed(kit, ["Well, ", Pause(10_000)])
    await say(kit, "hello")
    await asyncio.sleep(0.1)
    assert kit.cancel_generation(ROOM, room.open_id)
    await room.read()
    detached = room.one("generation.detached")
    assert (detached["reason"], detached["cancellation"]) == ("host", "confirmed")


class Dawdling(Channel):
    """An agent that hears one thing at a time."""

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        await asyncio.sleep(10)
        return None


@pytest.mark.parametrize("how", ["close", "detach"])
async def test_g49_what_nobody_has_taken_in_is_held_and_not_answered_later(kit: RoomEngine, how: str) -> None:
    bench = Bench()
    model = ScriptedModel(ROUND)
    room = await followed(kit, model=model, bench=bench)
    first, second = await goes_on(kit, "when?", "no, Tuesday")
    await asyncio.sleep(0.1)
    if how == "close":
        await kit.close_room(ROOM)
    else:
        await kit.detach_channel(ROOM, "assistant")
    bench.go.set()
    await room.read()
    assert room.settlements == {first.id: "unknown", second.id: "held"}
    assert room.about(second.id)[-2:] == ["input.held", "input.settled"]
    assert room.one("input.held")["route"] == "request_boundary"
    await kit.create_room(ROOM)
    await settled()
    assert len(model.prompts) == 1


@pytest.mark.parametrize("how", ["close", "detach"])
async def test_g49_what_waits_in_front_of_an_agent_is_held_too(kit: RoomEngine, how: str) -> None:
    await seat(kit, Door(), Dawdling("slow", ChannelType.AI))
    reader = kit.feed(ROOM).subscribe()
    said = [await say(kit, text) for text in ("one", "two")]
    await asyncio.sleep(1)
    await (kit.close_room(ROOM) if how == "close" else kit.detach_channel(ROOM, "slow"))
    await asyncio.sleep(1)
    reader.close()
    ends = {line.data["input_id"]: line.data["disposition"] async for line in reader.events() if line.type == "input.settled"}
    assert ends == {event.id: "held" for event in said}


@pytest.mark.parametrize("how", ["cut", "detach", "close"])
async def test_nothing_but_speech_is_told_of_an_answer_after_its_end(kit: RoomEngine, how: str) -> None:
    """Its words are on their way into the room when it is given up."""

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
        await asyncio.sleep(0.3 if event.source.channel_type is ChannelType.AI else 0)
        return HookResult.allow()

    room = await followed(kit, "Yes.")
    await say(kit, "hello")
    await asyncio.sleep(0.1)
    match how:
        case "cut":
            room.door.replies[0].cancel("barge_in")
        case "detach":
            await kit.detach_channel(ROOM, "assistant")
        case _:
            await kit.close_room(ROOM)
    await room.read()
    told = room.of(room.one("generation.started")["generation"])
    assert (told[-1], told.count("room.event")) == ("generation.detached", 0 if how == "close" else 1)
    events = room.one("generation.detached")["event_ids"]
    assert events == [line.event.id for line in room.lines if line.generation_id is not None and line.event is not None]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_g49_the_next_session_sees_what_was_not_answered_and_does_not_answer_it(tmp_path: Path, kind: str) -> None:
    store = make_store(kind, tmp_path)
    names = ids()
    async with RoomEngine(store=store, ids=names) as kit:
        await seat(kit, Door(), Dawdling("assistant", ChannelType.AI))
        await say(kit, "when do you open?")
        await asyncio.sleep(1)
    async with RoomEngine(store=store, ids=names) as kit:
        model = ScriptedModel(["Hello again."])
        await seat(kit, Door(), AIChannel("assistant", provider=model, system_prompt=""))
        await settled()
        assert model.prompts == []
        await say(kit, "hello")
        await settled()
        (prompt,) = model.prompts
        assert [(message.content, message.notes) for message in prompt.messages] == [
            ("when do you open?", (UNANSWERED,)),
            ("hello", ()),
        ]
    await store.close()


async def test_g50_g51_what_the_model_holds_is_unknown_and_never_held(kit: RoomEngine) -> None:
    model = LiveModel(Pause(200), Steered("", "accepted", "r1"), Pause(10_000))
    room = await followed(kit, model=model)
    _, second = await goes_on(kit, "Monday?", "no, Tuesday")
    await asyncio.sleep(0.5)
    await kit.close_room(ROOM)
    await room.read()
    assert room.settlements[second.id] == "unknown"
    assert [data["input_id"] for data in room.all("input.held")] == []
    assert next(data["route"] for data in room.all("input.unknown") if data["input_id"] == second.id) == "native"


# -- answers that are replaced -------------------------------------------------------------------------------------------


async def test_where_answers_sound_one_of_which_nothing_was_heard_makes_way_for_one_to_both(kit: RoomEngine) -> None:
    model = ScriptedModel([["Monday", Pause(1_000), "."], "Tuesday."])
    room = await followed(kit, model=model, spoken=True)
    first, second = await goes_on(kit, "what about", "Tuesday?")
    await room.read()
    assert room.one("generation.detached")["reason"] == "superseded"
    end = room.one("generation.finished")
    assert (end["input_ids"], room.all("generation.started")[1]["initial_input_id"]) == ([first.id, second.id], second.id)
    assert asked(model.prompts[1]) == ["what about", "Tuesday?"]
    assert room.settlements == {first.id: "answered", second.id: "answered"}
    assert [len(data["generation_ids"]) for data in room.all("input.settled")] == [2, 1]  # type: ignore[arg-type]


async def test_one_that_is_made_and_waits_to_sound_makes_way_too(kit: RoomEngine) -> None:
    room = await followed(kit, "Monday.", "Tuesday.", spoken=True)
    first = await say(kit, "what about")
    await asyncio.sleep(1)
    (waiting,) = room.door.replies
    second = await say(kit, "Tuesday?")
    await room.read()
    assert waiting.cancelled == "superseded"
    assert room.all("generation.finished")[1]["input_ids"] == [first.id, second.id]
    assert [data["input_id"] for data in room.all("input.settled")] == [first.id, second.id]


async def test_one_of_which_something_was_heard_stays(kit: RoomEngine) -> None:
    room = await followed(kit, ["Monday", Pause(1_000), "."], "Tuesday.", spoken=True)
    await say(kit, "what about")
    await asyncio.sleep(0.1)
    (sounding,) = room.door.replies
    sounding.heard = True
    await say(kit, "yes")
    await room.read()
    assert sounding.cancelled is None
    assert [data["delivery"] for data in room.all("input.queued")] == ["new_turn", "parallel"]


async def test_an_answer_that_was_cut_has_answered_as_far_as_it_was_heard(kit: RoomEngine) -> None:
    room = await followed(kit, ["Monday", Pause(1_000), "."], "Yes.", spoken=True)
    said = [await say(kit, "when?")]
    await asyncio.sleep(0.1)
    (sounding,) = room.door.replies
    sounding.heard = True
    sounding.cancel("barge_in")
    said.append(await say(kit, "wait"))
    await room.read()
    assert room.one("generation.detached")["reason"] == "barge_in"
    assert room.settlements == {said[0].id: "answered", said[1].id: "answered"}
    assert room.one("generation.finished")["input_ids"] == [said[1].id]


async def test_a_hook_that_forbids_an_answer_settles_what_it_was_to_answer(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def never(event: object) -> HookResult[object]:
        return HookResult.block("no")

    room = await followed(kit, "Yes.")
    said = await say(kit, "hello")
    await room.read()
    assert room.settlements == {said.id: "rejected"}
    assert room.all("generation.started") == []


async def test_a_host_that_begins_to_follow_sees_what_is_under_way(kit: RoomEngine) -> None:
    room = await followed(kit, ["Well, ", Pause(1_000), "yes."])
    said = await say(kit, "hello")
    await asyncio.sleep(0.5)
    seen = kit.snapshot(ROOM)
    (generation,) = room.generations
    assert (generation["text"], generation["input_ids"], generation["responds_to"]) == ("Well, ", [said.id], said.id)
    assert (seen["room_id"], seen["speeches"], seen["jobs"], seen["listening"]) == (ROOM, [], [], {"assistant": None})
    await settled()
    assert room.generations == []
    await room.read()
    assert kit.snapshot(ROOM)["seq"] == max(line.seq or 0 for line in room.lines)


async def test_an_answer_that_is_given_up_while_its_failure_is_written_down_has_failed(kit: RoomEngine) -> None:
    """Nothing of it is left to stop, and its end must not be lost with what would have been stopped."""

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
        await asyncio.sleep(0.1 if event.source.channel_id == "assistant" else 0)
        return HookResult.allow()

    room = await followed(kit, ["Well, ", LanguageModelError("broken", "server")], "It is Tuesday.", spoken=True)
    await say(kit, "when?")
    await asyncio.sleep(0.05)
    await say(kit, "and where?")
    await room.read()
    assert room.order(*ENDS) == ["generation.failed", "generation.finished"]
    assert set(room.settlements.values()) == {"answered"}
