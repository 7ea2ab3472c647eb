"""Values that are not what their types say, texts and metadata that cannot be stored, and facts that somebody would change."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tests.scenario.rooms import ROOM, Door, Whole, agent, errors_of, message, rows, say, seat, settled, words
from voiceagent import clock
from voiceagent.errors import RoomError
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.channel import RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    EventType,
    InboundMessage,
    Participant,
    RoomEvent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.values import JSON


class NoJson:
    """What no JSON can hold, under a name that is the same in every process."""

    def __repr__(self) -> str:
        return "no json"


NO_JSON = NoJson()


@pytest.mark.parametrize("name", [4915112345, ["Ann"], b"Ann"])
async def test_a_participant_whose_name_is_no_text_is_refused(kit: RoomEngine, name: Any) -> None:
    await seat(kit, Door())
    with pytest.raises(RoomError, match="display_name"):
        await kit.join(ROOM, Participant("ana", name))
    assert (await say(kit, "hello")).index == 0


@pytest.mark.parametrize(
    "change",
    [
        {"sender_id": ["ana"]},
        {"channel_id": ["text"]},
        {"content": None},
        {"content": TextContent(5)},  # type: ignore[arg-type]
        {"type": "message!"},
        {"addressed_to": "supernova"},
        {"addressed_to": (1,)},
        {"parent_event_id": 7},
        {"idempotency_key": 7},
        {"reserved_id": ["x"]},
        {"visibility": None},
        {"response_visibility": 5},
        {"metadata": None},
        {"metadata": {"at": datetime(2026, 1, 1)}},
        {"metadata": {"deep": [{"x": NO_JSON}]}},
        {"metadata": {5: "x"}},
    ],
    ids=str,
)
async def test_a_message_that_is_not_what_its_types_say_is_refused(kit: RoomEngine, change: dict[str, Any]) -> None:
    await seat(kit, Door())
    with pytest.raises(RoomError):
        await kit.process_inbound(replace(message("hello"), **change), room_id=ROOM)
    assert (await say(kit, "hello")).index == 0


async def test_facts_cannot_be_changed_once_they_are_committed(kit: RoomEngine) -> None:
    class Evil(Door):
        async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
            event.metadata["owned"] = "yes"  # type: ignore[index]

    given: dict[str, JSON] = {"list": [1], "nested": {"a": 1}}
    await seat(kit, Evil("evil"), Door())
    await kit.process_inbound(replace(message("hello"), metadata=given), room_id=ROOM)
    await settled()
    given["list"] = [2]
    (event,) = kit.context(ROOM).recent_events
    assert event.metadata == {"list": [1], "nested": {"a": 1}}
    held = event.metadata["nested"]
    assert isinstance(held, dict)
    with pytest.raises(TypeError, match="cannot be changed"):
        held["a"] = 2


async def test_a_hook_cannot_forge_the_mark_of_an_instruction(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def forger(event: RoomEvent) -> None:
        mark = event.metadata.get("instruction")
        if isinstance(mark, dict):
            mark["sha256"] = "FORGED"

    await seat(kit, Door(), agent(model=EchoModel()))
    await kit.deliver(ROOM, "do it", instruction=True)
    await settled()
    (answer,) = await rows(kit)
    mark = answer.metadata["instruction"]
    assert isinstance(mark, dict)
    assert mark["sha256"] != "FORGED"


@pytest.mark.parametrize(
    "change",
    [
        {"content": None},
        {"metadata": None},
        {"metadata": {"x": NO_JSON}},
        {"visibility": None},
        {"response_visibility": 5},
        {"addressed_to": 5},
        {"addressed_to": "supernova"},
        {"parent_event_id": "nope"},
    ],
    ids=str,
)
async def test_what_a_hook_makes_that_is_no_event_is_left_out(kit: RoomEngine, change: dict[str, Any]) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def confused(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.modify(replace(event, **change))

    await seat(kit, Door())
    event = await say(kit, "hello")
    assert (event.content.body, event.metadata, event.visibility) == ("hello", {}, "all")
    assert (event.addressed_to, event.parent_event_id, event.response_visibility) == (None, None, None)
    assert (await say(kit, "again")).index == 1


async def test_half_characters_are_replaced(kit: RoomEngine) -> None:
    await seat(kit, Door())
    half: InboundMessage = replace(message("hi \ud800"), metadata={"note": "\udfff", "\ud801": 1})
    assert not (await kit.process_inbound(half, room_id=ROOM)).blocked
    await kit.join(ROOM, Participant("bob", "Bob \ud800"))
    said, joined = await rows(kit)
    assert (said.content.body, said.metadata) == ("hi \ufffd", {"note": "\ufffd", "\ufffd": 1})
    assert joined.content.body == "Bob \ufffd joined"


async def test_an_instruction_to_one_named_as_text_goes_to_that_one_only(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent("fine", channel_id="nova"))
    with pytest.raises(RoomError, match="instruction_unaddressed"):
        await kit.deliver(ROOM, "secret", instruction=True, addressed_to="supernova")
    assert (await kit.deliver(ROOM, "secret", instruction=True, addressed_to="nova")).addressed_to == ("nova",)


async def test_an_answer_hangs_in_a_thread_that_exists_and_is_shown_to_whom_it_can_name(kit: RoomEngine) -> None:
    def odd(event: RoomEvent) -> list[RoomEvent]:
        made = [
            replace(words(event, "one"), parent_event_id="nope", visibility="all,foo"),
            replace(words(event, "two"), parent_event_id=event.id, visibility=" text , foo"),
            replace(words(event, "three"), addressed_to="supernova", response_visibility=5),  # type: ignore[arg-type]
        ]
        return [replace(e, addressed_to=e.addressed_to or ()) for e in made] if event.content.body == "hi" else []

    await seat(kit, Door(), Whole("assistant", odd))
    asked = await say(kit, "hi")
    await settled()
    answers = (await rows(kit))[1:]
    assert [(e.parent_event_id, e.visibility) for e in answers[:2]] == [(None, "none"), (asked.id, "foo,text")]
    assert (answers[2].addressed_to, answers[2].response_visibility) == (("supernova",), "none")


async def test_an_answer_without_content_costs_that_answer_alone(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    empty = replace(words(RoomEvent("x", ROOM, None, TextContent(""), clock.utc()), ""), content=None)  # type: ignore[arg-type]
    whole = Whole("assistant", lambda event: [empty])
    await seat(kit, Door(), whole)
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert len(whole.asked) == 2
    assert len(errors) == 2
    assert [e.content.body for e in await rows(kit)] == ["one", "two"]


async def test_a_tool_call_is_no_message_for_a_reader(kit: RoomEngine) -> None:
    """An agent's channel may be made to hold anything: a turn must survive reading it."""
    await seat(kit, Door(), agent("fine"))
    for kind in (EventType.TOOL_CALL_START, EventType.TOOL_CALL_END):
        await kit.process_inbound(replace(message("odd", "assistant"), type=kind), room_id=ROOM)
    await kit.process_inbound(replace(message(ToolCallContent("c", "t"), "text")), room_id=ROOM)
    await settled()
    assert [e.content.body for e in await rows(kit)][-1] == "fine"
