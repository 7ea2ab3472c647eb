"""What a room outlives: panics, calls that ignore their cancellation, bursts, loops, and channels that fail to leave."""

import asyncio
from dataclasses import replace

import pytest

from tests.scenario.rooms import ROOM, Door, Whole, errors_of, message, rows, say, seat, settled, words
from voiceagent import clock
from voiceagent.errors import RoomError
from voiceagent.room.channel import RoomContext
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import (
    EventStatus,
    EventType,
    RoomEvent,
)
from voiceagent.room.feed import Feed
from voiceagent.room.hooks import HookExecution, HookResult, HookTrigger
from voiceagent.room.seat import QUEUE
from voiceagent.room.store import Store


class PanicException(BaseException):
    """As a library in another language raises it: no Exception."""


@pytest.mark.parametrize("trigger", [HookTrigger.BEFORE_BROADCAST, HookTrigger.AFTER_BROADCAST])
async def test_a_panic_in_a_hook_costs_the_hook_alone(kit: RoomEngine, trigger: HookTrigger) -> None:
    errors = errors_of(kit)

    @kit.hook(trigger)
    async def panics(event: RoomEvent) -> None:
        raise PanicException("boom")

    await seat(kit, Door())
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert [e.content.body for e in await rows(kit)] == ["one", "two"]
    assert "PanicException: boom" in str(errors[0].error)


async def test_a_panic_in_a_channel_or_a_task_costs_it_alone(kit: RoomEngine) -> None:
    errors = errors_of(kit)

    class Panics(Door):
        async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
            raise PanicException("boom")

    async def task() -> None:
        raise PanicException("bang")

    other = Door("other")
    await seat(kit, Panics(), other)
    kit.host.spawn(task(), "panics")
    await say(kit, "one", "other")
    await settled()
    await say(kit, "two", "text")
    await settled()
    assert other.texts == ["two"]
    assert [e.stage for e in errors] == ["channel"]


async def test_what_fails_behind_the_commit_leaves_the_room_open(kit: RoomEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    await seat(kit, Door())

    def fails(feed: Feed, event: RoomEvent) -> None:
        raise RuntimeError("the feed is broken")

    with monkeypatch.context() as broken:
        broken.setattr(Feed, "commit", fails)
        assert (await say(kit, "one")).index == 0
    assert (await say(kit, "two")).index == 1
    assert [e.content.body for e in kit.context(ROOM).recent_events] == ["one", "two"]


async def test_a_channel_that_fell_behind_misses_events_and_is_told_again(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    open_again = asyncio.Event()

    class Slow(Door):
        async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
            await open_again.wait()
            await super().on_event(event, context)

    slow = Slow("slow")
    await seat(kit, slow, Door())
    for number in range(QUEUE + 20):
        await say(kit, str(number))
    open_again.set()
    await settled()
    await say(kit, "later")
    await settled()
    assert slow.texts[-2:] == [str(QUEUE), "later"]
    assert len(slow.texts) == QUEUE + 2  # the one in its hands, those that waited, and the later one
    assert len(errors) == 2
    assert "19" in str(errors[1].error)


async def test_a_burst_drains_while_it_comes(kit: RoomEngine) -> None:
    door = Door("other")
    await seat(kit, door, Door())
    await asyncio.gather(*(kit.process_inbound(message(str(n)), room_id=ROOM) for n in range(QUEUE + 200)))
    await settled()
    assert len(door.texts) == QUEUE + 200
    assert door.indices == list(range(QUEUE + 200))


async def test_a_hook_that_ignores_its_cancellation_holds_nobody_up(store: Store) -> None:
    over = asyncio.Event()
    async with RoomEngine(store=store, process_timeout=0.5) as kit:
        await seat(kit, Door())

        @kit.hook(HookTrigger.BEFORE_BROADCAST, timeout=0.2)
        async def stubborn(event: RoomEvent) -> HookResult[RoomEvent]:
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue
            return HookResult.block("too late")

        began = clock.now()
        assert not (await kit.process_inbound(message("hello"), room_id=ROOM)).blocked
        assert clock.now() - began <= 300
        over.set()
        await settled()
        assert [e.status for e in await rows(kit)] == [EventStatus.DELIVERED]


async def test_nothing_is_written_once_the_time_is_over(store: Store) -> None:
    over = asyncio.Event()
    async with RoomEngine(store=store, process_timeout=0.5) as kit:
        await seat(kit, Door())

        @kit.hook(HookTrigger.BEFORE_BROADCAST, timeout=30)
        async def stubborn(event: RoomEvent) -> None:
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue

        began = clock.now()
        result = await kit.process_inbound(message("hello"), room_id=ROOM)
        assert (result.reason, result.event) == ("process_timeout", None)
        assert clock.now() - began <= 600
        over.set()
        await settled()
        assert await rows(kit) == []


async def test_the_engine_ends_though_a_task_does_not() -> None:
    over = asyncio.Event()
    async with RoomEngine() as kit:

        async def stubborn() -> None:
            while not over.is_set():
                try:
                    await over.wait()
                except asyncio.CancelledError:
                    continue

        left = kit.host.spawn(stubborn(), "stubborn")
        await asyncio.sleep(0)
        began = clock.now()
    assert clock.now() - began <= 5_000
    over.set()
    await left


class Broken(Door):
    """Fails whenever it is to go."""

    def on_detach(self, room_id: str) -> None:
        raise RuntimeError("stuck")

    async def close(self) -> None:
        raise RuntimeError("stuck")


async def test_a_channel_that_fails_to_leave_keeps_no_room_open(kit: RoomEngine) -> None:
    errors = errors_of(kit)
    door = Door()
    await seat(kit, Broken("broken"), door)
    await kit.detach_channel(ROOM, "broken")
    await kit.attach_channel(ROOM, "broken")
    await kit.close_room(ROOM)
    assert door.detached == 1
    with pytest.raises(RoomError, match="not open"):
        kit.context(ROOM)
    await kit.create_room(ROOM)
    await kit.attach_channel(ROOM, "text")
    await say(kit, "hello again")
    await settled()
    assert [e.stage for e in errors] == ["channel", "channel"]


async def test_a_channel_that_fails_to_close_keeps_no_task_alive() -> None:
    ended: list[str] = []

    class Closed(Door):
        async def close(self) -> None:
            ended.append("channel")

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("task")

    async with RoomEngine() as kit:
        kit.register_channel(Broken("broken"))
        kit.register_channel(Closed())
        kit.host.spawn(forever(), "forever")
        await asyncio.sleep(0)
    assert ended == ["channel", "task"]


async def test_one_cause_leaves_one_refused_row(kit: RoomEngine) -> None:
    results = []

    @kit.hook(HookTrigger.AFTER_BROADCAST, execution=HookExecution.ASYNC)
    async def floods(event: RoomEvent) -> None:
        if event.content.body == "go":
            results.extend([await kit.process_inbound(message(str(n)), room_id=ROOM) for n in range(200)])

    await seat(kit, Door())
    await say(kit, "go")
    await settled()
    stored = await rows(kit)
    assert [e.blocked_by for e in stored if e.status is EventStatus.BLOCKED] == ["reentry_loop_cap"]
    assert len(stored) == 52
    assert [(r.event, r.blocked, r.reason) for r in results[51:]] == [(None, True, "reentry_loop_cap")] * 149


async def test_the_rows_of_one_answer_are_one_consequence(kit: RoomEngine) -> None:
    def many(event: RoomEvent) -> list[RoomEvent]:
        if event.type is not EventType.MESSAGE or event.source.channel_id == "assistant":
            return []
        return [replace(words(event, str(n)), correlation_id="one", addressed_to=()) for n in range(80)]

    await seat(kit, Door(), Whole("assistant", many))
    await say(kit, "go")
    await settled()
    assert {e.status for e in await rows(kit)} == {EventStatus.DELIVERED}
    assert len(await rows(kit)) == 81
