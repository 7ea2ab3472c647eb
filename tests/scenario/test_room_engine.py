"""What gets into a room, in which order, and who is told: statements 21 to 30."""

import asyncio
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
from voiceagent.errors import RoomError
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    ChannelType,
    EventSource,
    EventStatus,
    InboundResult,
    RoomEvent,
    TextContent,
)
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.store import Store


async def test_s07_021_internal_is_refused_from_outside_and_none_is_taken(kit: RoomEngine) -> None:
    await seat(kit, door := Door("other"), Door())
    for wrong in (replace(message("x"), visibility="internal"), replace(message("x"), response_visibility=" internal ")):
        with pytest.raises(RoomError):
            await kit.process_inbound(wrong, room_id=ROOM)
    source = EventSource("text", ChannelType.TEXT)
    written = RoomEvent("mine", ROOM, source, TextContent("x"), clock.utc(), visibility="internal")
    with pytest.raises(RoomError, match="internal"):
        await kit.send_event(written)
    hidden = taken(await kit.send_event(replace(written, visibility="none")))
    await settled()
    assert (hidden.visibility, hidden.id != "mine") == ("none", True)
    assert await rows(kit) == [hidden]
    assert door.heard == []


async def test_s07_022_a_channels_internal_answer_is_shown_to_nobody(kit: RoomEngine, caplog: pytest.LogCaptureFixture) -> None:
    def secret(event: RoomEvent) -> list[RoomEvent]:
        return [replace(words(event, "psst"), visibility="internal", response_visibility="internal")]

    await seat(kit, door := Door(), Whole("assistant", secret))
    await say(kit, "hello")
    await settled()
    answer = (await rows(kit))[-1]
    assert (answer.visibility, answer.response_visibility) == ("none", "none")
    assert "may not write internal events" in caplog.text
    assert (door.heard, door.replies) == ([], [])


async def test_s07_022_a_hook_neither_makes_nor_unmakes_an_internal_event(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def turn_round(event: RoomEvent) -> HookResult[RoomEvent]:
        other = "all" if event.visibility == "internal" else "internal"
        return HookResult.modify(replace(event, visibility=other, response_visibility="internal"))

    voice = Door("voice", ChannelType.VOICE)
    await seat(kit, voice, agent("hello"))
    said = await say(kit, "hi", "voice")
    await settled()
    assert (said.visibility, said.response_visibility) == ("all", None)
    assert [e.visibility for e in await rows(kit)] == ["all", "all"]


async def test_s07_023_a_closed_room_stores_nothing(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent("hello"))
    await kit.close_room(ROOM)
    result = await kit.process_inbound(message("anyone?"), room_id=ROOM)
    unknown = await kit.process_inbound(message("anyone?"), room_id="never opened")
    await settled()
    assert result == unknown == InboundResult(None, blocked=True, reason="room_closed")
    assert await rows(kit) == []


async def test_s07_024_a_block_leaves_a_row_that_takes_an_index_and_shows_on_no_page(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST, name="manners")
    async def manners(event: RoomEvent) -> HookResult[RoomEvent]:
        return HookResult.block("rude") if "fool" in event.content.body else HookResult.allow()

    await seat(kit, Door(), other := Door("other"))
    result = await kit.process_inbound(message("you fool"), room_id=ROOM)
    polite = await say(kit, "dear friend")
    await settled()
    assert (result.blocked, result.reason) == (True, "rude")
    refused = (await rows(kit))[0]
    assert (refused.index, refused.status, refused.blocked_by) == (0, EventStatus.BLOCKED, "manners")
    assert polite.index == 1
    assert await kit.store.list_events(ROOM) == [polite]
    assert other.heard == [polite]


async def test_s07_025_a_repeated_key_returns_the_first_event_on_its_channel_alone(kit: RoomEngine) -> None:
    await seat(kit, Door(), Door("other"))
    keyed = replace(message("once"), idempotency_key="k")
    first, again = [await kit.process_inbound(keyed, room_id=ROOM) for _ in range(2)]
    elsewhere = await kit.process_inbound(replace(keyed, channel_id="other"), room_id=ROOM)
    blank = [await kit.process_inbound(replace(keyed, idempotency_key=" "), room_id=ROOM) for _ in range(2)]
    assert (again.event, again.duplicate, first.duplicate) == (first.event, True, False)
    assert not elsewhere.duplicate
    assert [r.duplicate for r in blank] == [False, False]
    assert len(await rows(kit)) == 4


@pytest.mark.parametrize("hooked", [False, True])
async def test_s07_025_duplicates_that_arrive_together_are_stored_once(kit: RoomEngine, hooked: bool) -> None:
    if hooked:

        @kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def slow(event: RoomEvent) -> None:
            await asyncio.sleep(0.1)

    await seat(kit, Door(), other := Door("other"))
    keyed = replace(message("once"), idempotency_key="k")
    results = await asyncio.gather(*(kit.process_inbound(keyed, room_id=ROOM) for _ in range(5)))
    await settled()
    assert sorted(r.duplicate for r in results) == [False, True, True, True, True]
    assert len({r.event.id for r in results if r.event}) == 1
    assert other.texts == ["once"]


async def test_s07_026_a_replay_of_a_refused_event_is_refused_for_the_same_reason(kit: RoomEngine) -> None:
    asked = 0

    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def refuse(event: RoomEvent) -> HookResult[RoomEvent]:
        nonlocal asked
        asked += 1
        return HookResult.block("not now")

    await seat(kit, Door())
    keyed = replace(message("once"), idempotency_key="k")
    first, again = [await kit.process_inbound(keyed, room_id=ROOM) for _ in range(2)]
    assert (first.reason, again.reason, again.blocked, again.duplicate) == ("not now", "not now", True, True)
    assert (asked, len(await rows(kit))) == (1, 1)


async def test_s07_027_a_late_hook_refuses_the_message_and_writes_nothing(store: Store) -> None:
    async with RoomEngine(store=store, process_timeout=2.0) as kit:

        @kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def slow(event: RoomEvent) -> None:
            await asyncio.sleep(3 if event.content.body == "late" else 1)

        await seat(kit, Door(), other := Door("other"))
        began = clock.now()
        result = await kit.process_inbound(message("late"), room_id=ROOM)
        assert (result, clock.now() - began) == (InboundResult(None, blocked=True, reason="process_timeout"), 2000)
        await say(kit, "in time")
        await settled()
        assert [e.content.body for e in await rows(kit)] == ["in time"] == other.texts


class SlowStore:
    """A store whose disk takes its time."""

    def __init__(self, store: Store, ms: int) -> None:
        self._store = store
        self._ms = ms

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def append(self, event: RoomEvent) -> None:
        await asyncio.sleep(self._ms / 1000)
        await self._store.append(event)


async def test_s07_027_a_slow_commit_is_never_reported_as_refused(store: Store) -> None:
    async with RoomEngine(store=SlowStore(store, 5_000), process_timeout=2.0) as kit:  # type: ignore[arg-type]

        @kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def quick(event: RoomEvent) -> None:
            await asyncio.sleep(1)

        await seat(kit, Door())
        assert (await say(kit, "slow disk")).index == 0


@pytest.mark.parametrize("after_ms", [0, 500])
async def test_s07_028_a_cancelled_caller_takes_back_nothing(store: Store, after_ms: int) -> None:
    async with RoomEngine(store=SlowStore(store, 1_000)) as kit:  # type: ignore[arg-type]
        await seat(kit, Door(), other := Door("other"), agent("still answered"))
        caller = asyncio.create_task(kit.process_inbound(message("hello"), room_id=ROOM))
        await asyncio.sleep(after_ms / 1000 + 0.001)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        await settled()
        assert [e.content.body for e in await rows(kit)] == ["hello", "still answered"] == other.texts


async def test_s07_029_indices_have_no_gaps_and_what_is_not_stored_takes_none(kit: RoomEngine) -> None:
    await seat(kit, Door(), agent("fine"))
    for text in ("one", "two", "three"):
        await asyncio.gather(say(kit, text), kit.deliver(ROOM, f"after {text}", instruction=True))
    await kit.close_room(ROOM)
    await kit.process_inbound(message("too late"), room_id=ROOM)
    await settled()
    indices = [e.index for e in await rows(kit)]
    assert indices == list(range(len(indices)))
    assert len(indices) >= 3


async def test_s07_030_nobody_waits_for_an_agents_decision(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def think(event: object) -> None:
        await asyncio.sleep(10)

    await seat(kit, Door(), other := Door("other"), agent([Pause(10_000), "well"]))
    began = clock.now()
    for text in ("one", "two"):
        await say(kit, text)
    assert clock.now() == began
    await settled()
    assert other.times == [began, began, began + 20_000, began + 20_000]
    assert other.indices == [0, 1, 2, 3]
