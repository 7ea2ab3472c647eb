"""What a room goes on through: hooks, models, channels and stores that fail, hang or return rubbish."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.scenario.rooms import ROOM, Door, Whole, agent, errors_of, message, rows, say, seat, settled, taken, words
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.settings import AgentSettings
from voiceagent.errors import LanguageModelError, RoomError, StoreError
from voiceagent.llm.scripted import EchoModel, Pause, ScriptedModel, Step
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, Participant, RoomEvent, TextContent
from voiceagent.room.hooks import ErrorEvent, HookExecution, HookResult, HookTrigger
from voiceagent.room.memory import MemoryStore
from voiceagent.room.reply import Reply

APOLOGY = AgentSettings().apology


RUBBISH = [
    42,
    "block",
    None,
    HookResult("modify", None),
    HookResult("modify", "a text"),
    HookResult("explode"),  # type: ignore[arg-type]
    HookResult("modify", TextContent("not an event")),
]


@pytest.mark.parametrize("rubbish", RUBBISH, ids=repr)
@pytest.mark.parametrize("trigger", [HookTrigger.BEFORE_BROADCAST, HookTrigger.BEFORE_AI_GENERATION])
async def test_a_hook_that_returns_rubbish_changes_nothing(kit: RoomEngine, rubbish: object, trigger: HookTrigger) -> None:
    @kit.hook(trigger)
    async def confused(payload: object) -> object:
        return rubbish

    await seat(kit, Door(), agent("fine"))
    await say(kit, "hello")
    await settled()
    assert [e.content.body for e in await rows(kit)] == ["hello", "fine"]


@pytest.mark.parametrize("visibility", ["", "all,text", ", ,", "internal"])
async def test_a_hook_that_asks_for_an_impossible_visibility_changes_nothing(kit: RoomEngine, visibility: str) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def confused(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.modify(replace(event, visibility=visibility, response_visibility=visibility))

    await seat(kit, Door(), agent("fine"))
    await say(kit, "hello")
    await settled()
    assert [(e.visibility, e.response_visibility) for e in await rows(kit)] == [("all", None)] * 2


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("hangs", [False, True])
async def test_a_failing_or_hanging_hook_is_passed_over_unless_it_shuts_the_door(
    kit: RoomEngine, closed: bool, hangs: bool
) -> None:
    errors = errors_of(kit)

    @kit.hook(HookTrigger.BEFORE_BROADCAST, name="guard", timeout=0.25, fail_closed=closed)
    async def guard(event: RoomEvent) -> None:
        await asyncio.sleep(3_600 if hangs else 0)
        raise ValueError("broken")

    await seat(kit, Door())
    result = await kit.process_inbound(message("hello"), room_id=ROOM)
    await settled()
    assert result.blocked is closed
    assert result.event is not None
    assert result.event.blocked_by == ("hook_error:guard" if closed else None)
    assert [e.stage for e in errors] == ["hook guard"]


async def test_hooks_run_by_priority_and_watchers_see_what_stands(kit: RoomEngine) -> None:
    order: list[str] = []

    def adding(mark: str, priority: int) -> None:
        @kit.hook(HookTrigger.BEFORE_BROADCAST, priority=priority)
        async def add(event: RoomEvent) -> HookResult[RoomEvent]:
            return HookResult.modify(replace(event, content=TextContent(event.content.body + mark)))

    @kit.hook(HookTrigger.BEFORE_BROADCAST, execution=HookExecution.ASYNC)
    async def watch(event: RoomEvent) -> HookResult[RoomEvent]:
        order.append(event.content.body)
        return HookResult.block("too late")

    adding("c", 5)
    adding("a", -5)
    adding("b", 0)
    await seat(kit, Door())
    event = await say(kit, "-")
    await settled()
    assert (event.content.body, order) == ("-abc", ["-abc"])


async def test_an_error_hook_that_fails_ends_nothing(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.ON_ERROR)
    async def worse(error: ErrorEvent) -> None:
        raise RuntimeError("worse")

    await seat(kit, Door(), agent([LanguageModelError("down")], "fine"))
    await say(kit, "hello")
    await settled()
    await say(kit, "hello?")
    await settled()
    assert [e.content.body for e in await rows(kit)] == ["hello", APOLOGY, "hello?", "fine"]


BROKEN: list[tuple[list[Step], str]] = [
    ([LanguageModelError("no", category="timeout")], "timeout"),
    ([Pause(60_000), LanguageModelError("no", category="unreachable")], "unreachable"),
    ([ValueError("a bug")], "internal"),
    ([" ", LanguageModelError("no", category="server")], "server"),
]


@pytest.mark.parametrize(("turn", "category"), BROKEN, ids=[category for _, category in BROKEN])
async def test_a_model_that_fails_before_its_first_word_costs_an_apology(
    kit: RoomEngine, turn: Sequence[Step], category: str
) -> None:
    errors = errors_of(kit)
    await seat(kit, door := Door(), other := Door("other"), agent(turn, "fine now"))
    reader = kit.feed(ROOM).subscribe()
    question = await say(kit, "hello")
    await settled()
    again = await say(kit, "hello?")
    await settled()
    reader.close()
    failed = [line async for line in reader.events() if line.type == "generation.failed"]
    assert [line.data["error_category"] for line in failed] == [category]
    assert [e.responds_to for e in errors] == [question.id]
    assert other.texts == ["hello", APOLOGY, "hello?", "fine now"]
    assert [(e.responds_to, e.metadata.get("failed")) for e in door.heard] == [(question.id, True), (again.id, None)]
    assert [reply.text.strip() for reply in door.replies] == [APOLOGY, "fine now"]
    assert all(reply.ended for reply in door.replies)


async def test_a_model_that_breaks_off_keeps_what_it_said_and_apologizes_not(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    broken = agent(["It is ", Pause(100), "noon and", LanguageModelError("cut off", category="broken")])
    await seat(kit, door := Door(), broken)
    question = await say(kit, "what time is it?")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.content.body, answer.metadata["failed"], answer.responds_to) == ("It is noon and", True, question.id)
    assert [reply.text for reply in door.replies] == ["It is noon and"]
    assert [(e.stage, e.responds_to) for e in errors] == [("generation", question.id)]


class Breaking(Door):
    """A door that breaks at everything it is handed."""

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        raise ValueError("broken ear")

    def on_reply(self, reply: Reply, context: RoomContext) -> None:
        raise ValueError("broken mouth")


async def test_a_breaking_channel_harms_neither_the_agent_nor_the_others(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    await seat(kit, Breaking("broken"), Door(), other := Door("other"), agent("fine"))
    question = await say(kit, "hello")
    await settled()
    assert other.texts == ["hello", "fine"]
    assert [reply.text for reply in other.replies] == ["fine"]
    assert {e.channel_id for e in errors} == {"broken"}
    assert [e.responds_to for e in errors if str(e.error) == "broken mouth"] == [question.id]


class Full(MemoryStore):
    """A store whose disk is full for a while."""

    full = False

    async def append(self, event: RoomEvent) -> None:
        if self.full:
            raise StoreError("the disk is full")
        await super().append(event)


async def test_a_full_disk_is_the_callers_error_and_takes_no_index() -> None:
    store = Full()
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door(), other := Door("other"))
        await say(kit, "one")
        store.full = True
        with pytest.raises(StoreError, match="full"):
            await say(kit, "lost")
        store.full = False
        assert (await say(kit, "two")).index == 1
        await settled()
    assert other.texts == ["one", "two"]


async def test_a_disk_that_fills_up_under_an_answer_is_told_with_the_trigger() -> None:
    store = Full()
    async with RoomEngine(store=store) as kit:
        errors = errors_of(kit)
        await seat(kit, Door(), agent([Pause(1_000), "never kept"]))
        question = await say(kit, "hello")
        await asyncio.sleep(0.5)
        store.full = True
        await settled()
        store.full = False
        assert [e.responds_to for e in errors] == [question.id]
        await say(kit, "hello?")
        await settled()
        assert [e.content.body for e in await rows(kit)] == ["hello", "hello?", "never kept"]


@pytest.mark.parametrize("how", ["muted", "blocked", "unseated"])
async def test_an_announcement_that_is_refused_is_not_sounded(kit: RoomEngine, how: str) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def gate(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.block("no") if how == "blocked" else HookResult.allow()

    await seat(kit, door := Door(), Whole("assistant", lambda event: []))
    await kit.attach_channel(ROOM, "assistant", muted=how == "muted")
    if how == "unseated":
        await kit.detach_channel(ROOM, "assistant")
        with pytest.raises(RoomError, match="no agent channel"):
            await kit.say(ROOM, "We close at six.")
    else:
        reply = await kit.say(ROOM, "We close at six.")
        assert (reply.cancelled, reply.ended) == ("source_muted" if how == "muted" else "no", True)
    await settled()
    assert (door.heard, door.replies) == ([], [])


async def test_an_announcement_is_sounded_as_the_hooks_left_it(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def politely(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.modify(replace(event, content=TextContent("Please: " + event.content.body)))

    await seat(kit, door := Door(), Whole("assistant", lambda event: []))
    event = await kit.deliver(ROOM, "leave.")
    await settled()
    assert event.content.body == "Please: leave."
    assert [reply.text for reply in door.replies] == ["Please: leave."] == door.texts


async def test_a_hundred_thousand_characters_go_in_and_come_back(kit: RoomEngine) -> None:
    text = "Zähle \N{SNOWMAN} " * 12_500
    assert len(text) == 100_000
    await seat(kit, Door(), other := Door("other"), agent(model=EchoModel()))
    event = await say(kit, text)
    await settled()
    assert event.content.body == text
    assert [e.content.body for e in await rows(kit)] == [text, text.strip()] == other.texts


HOSTILE = [
    "<script>alert(1)</script>",
    "**bold** [link](javascript:x)",
    "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{GIRL}",
    "\N{RIGHT-TO-LEFT OVERRIDE}ana",
    "Аna",
    "a\nb: I agree",
    "]]>'\"; DROP TABLE events; --",
    "",
    "x" * 10_000,
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
async def test_hostile_names_are_stored_as_they_are_and_break_nothing(kit: RoomEngine, name: str) -> None:
    model = ScriptedModel(["fine"])
    await seat(kit, Door(), AIChannel("assistant", provider=model, system_prompt=""))
    await kit.join(ROOM, Participant(name or "empty", display_name=name, connected_via=("text",)))
    await kit.join(ROOM, Participant("ben", display_name="Ben", connected_via=("text",)))
    await say(kit, "one", sender=name or "empty")
    await settled()
    await say(kit, "two", sender="ben")
    await settled()
    (person, _) = await kit.store.list_participants(ROOM)
    assert person.display_name == name
    label = model.prompts[1].messages[0].name
    assert label is not None
    assert label.isprintable() or "\u200d" in label
    assert len(label) <= 64
    assert label.strip()


class Answerless(Channel):
    """An agent whose answers hold what no answer may."""

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        made = words(event, "elsewhere")
        return ChannelOutput((replace(made, room_id="another room", visibility="", responds_to=""),))


async def test_an_answer_into_another_room_stays_in_its_own(kit: RoomEngine) -> None:
    await kit.create_room("another room")
    await seat(kit, Door(), Answerless("assistant", ChannelType.AI))
    question = taken(await kit.process_inbound(message("hello"), room_id=ROOM))
    await settled()
    assert [(e.content.body, e.responds_to) for e in await rows(kit)][1:] == [("elsewhere", question.id)]
    assert await rows(kit, "another room") == []


class GivesUp(Channel):
    """An agent whose first piece of work is cancelled, by nobody it knows."""

    def __init__(self) -> None:
        super().__init__("quitter", ChannelType.AI)
        self.asked: list[str] = []

    async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
        self.asked.append(event.content.body)
        if len(self.asked) == 1:
            work = asyncio.ensure_future(asyncio.sleep(3600))
            asyncio.get_running_loop().call_later(1, work.cancel)
            await work


async def test_a_channel_whose_own_work_is_cancelled_fails_alone_and_hears_what_comes_next(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    await seat(kit, Door(), quitter := GivesUp())
    feed = kit.feed(ROOM).subscribe()
    asked = [await say(kit, text) for text in ("one", "two")]
    await settled()
    feed.close()
    settlements = [line.data async for line in feed.events() if line.type == "input.settled"]
    assert quitter.asked == ["one", "two"]
    assert [(data["input_id"], data["disposition"]) for data in settlements] == [
        (asked[0].id, "failed"),
        (asked[1].id, "listened"),
    ]
    assert [error.channel_id for error in errors] == ["quitter"]
