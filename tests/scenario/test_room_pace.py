"""Who waits for whom, to the millisecond: nobody but the one who is slow."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.scenario.rooms import ROOM, Door, Whole, agent, ids, message, rows, say, seat, settled
from voiceagent import clock
from voiceagent.clock import VirtualLoop
from voiceagent.llm.scripted import Pause
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Access, ChannelType, EventStatus, RoomEvent
from voiceagent.room.hooks import ErrorEvent, HookResult, HookTrigger
from voiceagent.room.memory import MemoryStore


class Slow(Door):
    """A door that takes its time over every event."""

    def __init__(self, channel_id: str, ms: int) -> None:
        super().__init__(channel_id)
        self._ms = ms

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        await asyncio.sleep(self._ms / 1000)
        return await super().on_event(event, context)


async def test_a_slow_hook_delays_only_its_own_authors_events(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def look(event: RoomEvent) -> None:
        if event.content.body == "slow":
            await asyncio.sleep(5)

    await seat(kit, Door(), other := Door("other"))
    began = clock.now()
    sending = [("slow", "ana"), ("after it", "ana"), ("beside it", "ben"), ("no name", None)]
    await asyncio.gather(*(say(kit, text, sender=sender) for text, sender in sending))
    await settled()
    arrived = [(text, at - began) for text, at in zip(other.texts, other.times, strict=True)]
    assert arrived == [("beside it", 0), ("no name", 0), ("slow", 5_000), ("after it", 5_000)]


async def test_a_slow_channel_delays_only_itself(kit: RoomEngine) -> None:
    await seat(kit, Door(), quick := Door("quick"), slow := Slow("slow", 2_000))
    began = clock.now()
    for text in ("one", "two", "three"):
        await say(kit, text)
    assert clock.now() == began
    await settled()
    assert quick.times == [began] * 3
    assert slow.times == [began + 2_000, began + 4_000, began + 6_000]
    assert slow.texts == ["one", "two", "three"]


async def test_a_stuck_channel_misses_what_comes_after_a_thousand(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[ErrorEvent] = []
    async with RoomEngine() as kit:

        @kit.hook(HookTrigger.ON_ERROR)
        async def note(error: ErrorEvent) -> None:
            errors.append(error)

        await seat(kit, Door(), quick := Door("quick"), stuck := Slow("stuck", 3_600_000))
        for number in range(1_010):
            await say(kit, str(number))
        assert len(quick.heard) == 1_010
        await settled(2_000 * 3_600_000)
    # The first was in its hands, a thousand waited.
    assert stuck.texts == [str(number) for number in range(1_001)]
    assert [(e.channel_id, e.room_id, e.stage) for e in errors] == [("stuck", ROOM, "channel")] * 2
    assert "misses what comes until it has caught up" in caplog.text
    assert "missed 9 events" in caplog.text


async def test_two_agents_answer_one_message_side_by_side(kit: RoomEngine) -> None:
    await seat(kit, Door(), other := Door("other"), agent([Pause(500), "one"], channel_id="a"))
    second = agent([Pause(500), "two"], channel_id="b")
    await seat(kit, second)
    began = clock.now()
    await kit.process_inbound(replace(message("hello"), response_visibility="transport"), room_id=ROOM)
    await settled()
    assert (other.texts[0], sorted(other.texts[1:])) == ("hello", ["one", "two"])
    assert [at - began for at in other.times] == [0, 500, 500]


async def test_two_answers_of_one_agent_are_made_side_by_side(kit: RoomEngine) -> None:
    await seat(kit, Door(), other := Door("other"), agent([Pause(900), "slow"], [Pause(500), "quick"]))
    began = clock.now()
    first = await say(kit, "one")
    await asyncio.sleep(0.2)
    second = await say(kit, "two")
    await settled()
    assert [(e.content.body, e.responds_to, at - began) for e, at in zip(other.heard, other.times, strict=True)][2:] == [
        ("quick", second.id, 700),
        ("slow", first.id, 900),
    ]


@pytest.mark.parametrize("slow_part", ["hook", "model", "strategy of another agent"])
async def test_ten_seconds_of_an_agent_delay_nothing_that_people_read(kit: RoomEngine, slow_part: str) -> None:
    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def decide(event: object) -> HookResult[object]:
        await asyncio.sleep(10 if slow_part == "hook" else 0)
        return HookResult.allow()

    slow_agent: Channel = agent([Pause(10_000 if slow_part == "model" else 0), "well"])
    if slow_part == "strategy of another agent":
        slow_agent = Whole("assistant", lambda event: [])

        async def think(event: RoomEvent, context: RoomContext) -> None:
            await asyncio.sleep(10)

        slow_agent.on_event = think  # type: ignore[method-assign]
    await seat(kit, Door(), other := Door("other"), slow_agent)
    began = clock.now()
    for number in range(5):
        await asyncio.sleep(1)
        await say(kit, str(number))
    assert clock.now() == began + 5_000
    await settled()
    assert [at - began for at in other.times][:5] == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert other.texts[:5] == ["0", "1", "2", "3", "4"]


async def test_a_reader_that_only_writes_is_told_nothing(kit: RoomEngine) -> None:

    await seat(kit, Door(), mouth := Door("mouth"), ear := Door("ear"))
    await kit.attach_channel(ROOM, "mouth", access=Access.WRITE_ONLY)
    await kit.attach_channel(ROOM, "ear", access=Access.READ_ONLY)
    await say(kit, "from the mouth", "mouth")
    refused = await kit.process_inbound(message("from the ear", "ear"), room_id=ROOM)
    await kit.attach_channel(ROOM, "text", muted=True)
    muted = await kit.process_inbound(message("from the muted", "text"), room_id=ROOM)
    unbound = await kit.process_inbound(message("from nowhere", "nowhere"), room_id=ROOM)
    await settled()
    assert (refused.reason, muted.reason, unbound.reason) == ("source_read_only", "source_muted", "source_unbound")
    assert mouth.heard == []
    assert ear.texts == ["from the mouth"]
    assert [(e.index, e.status is EventStatus.BLOCKED) for e in await rows(kit)] == [(0, False), (1, True), (2, True), (3, True)]


Move = tuple[int, int]
"""Which source speaks, and how many ms later the next one does."""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), hold=st.integers(0, 4))
def test_every_channel_hears_strictly_rising_indices_whoever_speaks_when(moves: Sequence[Move], hold: int) -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(_play(moves, hold))
    finally:
        loop.close()


async def _play(moves: Sequence[Move], hold: int) -> None:
    doors = [Door(f"door-{number}") for number in range(3)]
    slow = Slow("slow", 2)
    async with RoomEngine(store=MemoryStore(), ids=ids()) as kit:

        @kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def look(event: RoomEvent) -> HookResult[RoomEvent]:
            await asyncio.sleep(hold * (len(event.content.body) % 3) / 1000)
            return HookResult.block("no") if event.content.body.endswith("7") else HookResult.allow()

        await seat(kit, *doors, slow, Whole("assistant", lambda event: []))
        async with asyncio.TaskGroup() as group:
            for number, (source, pause) in enumerate(moves):
                group.create_task(kit.process_inbound(message(f"{source}:{number}", f"door-{source % 3}"), room_id=ROOM))
                await asyncio.sleep(pause / 1000)
        await settled(10_000)
        stored = await rows(kit)
    assert [e.index for e in stored] == list(range(len(moves)))
    standing = [e for e in stored if e.status is EventStatus.DELIVERED]
    for channel in (*doors, slow):
        assert channel.heard == [e for e in standing if e.source.channel_id != channel.channel_id]
    for door in doors:
        own = [int(e.content.body.split(":")[1]) for e in stored if e.source.channel_id == door.channel_id]
        assert own == sorted(own)


async def test_a_channel_of_its_own_type_hears_only_what_reaches_it(kit: RoomEngine) -> None:
    await seat(kit, Door(), voice := Door("voice", ChannelType.VOICE), one := Whole("one", lambda e: []))
    for visibility in ("all", "transport", "intelligence", "voice", "one,text", "none"):
        await kit.process_inbound(replace(message(visibility), visibility=visibility), room_id=ROOM)
    await settled()
    assert voice.texts == ["all", "transport", "voice"]
    assert [e.content.body for e in one.asked] == ["all", "intelligence", "one,text"]
