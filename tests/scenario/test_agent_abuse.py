"""What an agent's turn outlives: models that panic, never pause or never end, and tools that are too many or will not stop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

from tests.scenario.rooms import ROOM, Door, message, rows, say, seat, settled
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.generation import LONGEST_ANSWER
from voiceagent.agent.settings import AgentSettings
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta, ToolCall
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventStatus, EventType, RoomEvent
from voiceagent.room.hooks import ErrorEvent, HookResult, HookTrigger


class PanicException(BaseException):
    """As a library in another language raises it: no Exception."""


class Endless:
    """A model that says what a function makes of the prompt and its number, and never waits."""

    name = "endless"

    def __init__(self, say: Callable[[Prompt, int], Iterator[Chunk]]) -> None:
        self.say = say
        self.prompts: list[Prompt] = []

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        self.prompts.append(prompt)
        for chunk in self.say(prompt, len(self.prompts)):
            yield chunk


def messages(stored: list[RoomEvent]) -> list[str]:
    return [e.content.body for e in stored if e.type is EventType.MESSAGE and e.status is EventStatus.DELIVERED]


async def test_a_panic_in_a_model_costs_the_turn_alone(kit: RoomEngine) -> None:
    def panics(prompt: Prompt, number: int) -> Iterator[Chunk]:
        yield TextDelta("well")
        if number == 1:
            raise PanicException("boom")

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(panics)))
    await say(kit, "one")
    await settled()
    await say(kit, "two")
    await settled()
    assert messages(await rows(kit)) == ["one", "well", "two", "well"]


async def test_a_model_that_gives_itself_up_has_failed(kit: RoomEngine) -> None:
    def gives_up(prompt: Prompt, number: int) -> Iterator[Chunk]:
        yield TextDelta("well")
        raise asyncio.CancelledError

    errors: list[ErrorEvent] = []

    @kit.hook(HookTrigger.ON_ERROR)
    async def note(error: ErrorEvent) -> None:
        errors.append(error)

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(gives_up)))
    await say(kit, "one")
    await settled()
    assert messages(await rows(kit)) == ["one", "well"]
    assert [e.stage for e in errors] == ["generation"]


async def test_a_panic_in_a_tool_is_the_models_to_read(kit: RoomEngine) -> None:
    async def explode() -> str:
        raise PanicException("boom")

    def calls(prompt: Prompt, number: int) -> Iterator[Chunk]:
        yield ToolCall("c", "explode", "{}") if number == 1 else TextDelta(prompt.messages[-1].content)

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(calls), tools=[explode]))
    await say(kit, "go")
    await settled()
    assert "PanicException: boom" in messages(await rows(kit))[-1]


async def test_a_model_that_never_pauses_lets_others_in(kit: RoomEngine) -> None:
    enough = False
    last = ""

    def sings(prompt: Prompt, number: int) -> Iterator[Chunk]:
        nonlocal last
        for _ in range(60_000):
            if enough:
                last = "stopped"
                return
            yield TextDelta("la ")
        last = "sung to the end"

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(sings)))
    await say(kit, "sing")
    await say(kit, "excuse me", sender="bob")
    enough = True
    await settled()
    assert last == "stopped"


async def test_an_answer_without_an_end_is_ended(kit: RoomEngine) -> None:
    def endless(prompt: Prompt, number: int) -> Iterator[Chunk]:
        while True:
            yield TextDelta("la" * 5_000)

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(endless)))
    reader = kit.feed(ROOM).subscribe()
    await say(kit, "sing")
    await settled()
    reader.close()
    (failed,) = [e async for e in reader.events() if e.type == "generation.failed"]
    assert failed.data["error_category"] == "length"
    assert len(messages(await rows(kit))[-1]) == LONGEST_ANSWER


async def test_a_model_that_says_nothing_for_ever_is_ended_too(kit: RoomEngine) -> None:
    def endless(prompt: Prompt, number: int) -> Iterator[Chunk]:
        while True:
            yield TextDelta("")

    settings = AgentSettings(apology="Sorry.")
    await seat(kit, Door(), AIChannel("assistant", provider=Endless(endless), settings=settings))
    await say(kit, "sing")
    await settled()
    assert messages(await rows(kit)) == ["sing", "Sorry."]


async def test_tools_beyond_the_bound_are_not_run_and_the_answer_is_kept(kit: RoomEngine) -> None:
    ran: list[int] = []

    async def note() -> str:
        ran.append(1)
        return "noted"

    def many(prompt: Prompt, number: int) -> Iterator[Chunk]:
        if number < 4:
            for call in range(20):
                yield ToolCall(f"c{call}", "note", "{}")
        else:
            yield TextDelta("All are done.")
        yield Done()

    model = Endless(many)
    await seat(kit, Door(), AIChannel("assistant", provider=model, tools=[note]))
    await say(kit, "go")
    await settled()
    assert len(ran) == 3 * 16
    stored = await rows(kit)
    assert {e.status for e in stored} == {EventStatus.DELIVERED}
    assert messages(stored) == ["go", "All are done."]
    results = [m.content for m in model.prompts[1].messages if m.role == "tool"]
    assert [r.startswith("error: ") for r in results] == [False] * 16 + [True] * 4


async def test_a_tool_that_ignores_its_cancellation_holds_up_nothing(kit: RoomEngine) -> None:
    over = asyncio.Event()

    async def stubborn() -> str:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    def calls(prompt: Prompt, number: int) -> Iterator[Chunk]:
        yield ToolCall("c", "stubborn", "{}") if number == 1 else TextDelta("without it")

    settings = AgentSettings(tool_timeout_ms=200)
    await seat(kit, Door(), AIChannel("assistant", provider=Endless(calls), tools=[stubborn], settings=settings))
    began = clock.now()
    await say(kit, "go")
    await settled(1_000)
    stored = await rows(kit)
    assert messages(stored) == ["go", "without it"]
    assert (stored[2].created_at - stored[1].created_at).total_seconds() < 0.3
    assert clock.now() - began == 1_000
    over.set()
    await settled()


async def test_half_a_character_from_a_model_is_made_whole_or_replaced(kit: RoomEngine) -> None:
    def halves(prompt: Prompt, number: int) -> Iterator[Chunk]:
        yield from (TextDelta("Fine \ud83d"), TextDelta("\ude00 thanks \ud83d"), TextDelta("!"), TextDelta("\ud83d"))

    await seat(kit, Door(), AIChannel("assistant", provider=Endless(halves)))
    await say(kit, "how are you?")
    await settled()
    assert messages(await rows(kit))[-1] == "Fine \U0001f600 thanks \ufffd!\ufffd"


async def test_a_result_is_read_with_the_call_it_belongs_to(kit: RoomEngine) -> None:
    count = 0

    async def price() -> str:
        nonlocal count
        count += 1
        return f"price {count}"

    async def secret() -> str:
        return "SECRET"

    def calls(prompt: Prompt, number: int) -> Iterator[Chunk]:
        last = prompt.messages[-1]
        if (last.role == "user" and "?" not in last.content) or (last.role == "tool" and last.content == "price 1"):
            yield ToolCall("call_0", prompt.tools[0].name, "{}")
        else:
            yield TextDelta("ok")

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def asks_nobody(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.modify(replace(event, addressed_to=event.addressed_to or ()))

    nova, vega = Endless(calls), Endless(calls)
    await seat(
        kit,
        Door(),
        AIChannel("nova", provider=nova, tools=[price]),
        AIChannel("vega", provider=vega, tools=[secret]),
    )
    for text, asked in (("first", "nova"), ("second", "nova"), ("other", "vega"), ("and?", "nova")):
        await kit.process_inbound(replace(message(text), addressed_to=(asked,)), room_id=ROOM)
        await settled()
    assert [m.content for m in nova.prompts[-1].messages if m.role == "tool"] == ["price 1", "price 2", "price 3"]
