"""A room from its opening to its end, and again: people, reopening from a store, closing in the middle of things."""

import asyncio
from dataclasses import replace

import pytest

from tests.scenario.rooms import ROOM, Door, agent, ids, message, rows, say, seat, settled, taken
from voiceagent.errors import RoomError
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, EventType, Participant, RoomEvent
from voiceagent.room.hooks import HookExecution, HookTrigger
from voiceagent.room.store import Store

ANA = Participant("ana", display_name="Ana", connected_via=("text",))


async def test_people_come_and_go_and_the_room_is_told_once(kit: RoomEngine) -> None:
    told: list[tuple[str, str, bool]] = []

    @kit.hook(HookTrigger.ON_PARTICIPANT_JOINED, execution=HookExecution.ASYNC)
    async def came(person: Participant) -> None:
        told.append(("joined", person.id, person.active))

    @kit.hook(HookTrigger.ON_PARTICIPANT_LEFT)
    async def went(person: Participant) -> None:
        told.append(("left", person.id, person.active))

    await seat(kit, door := Door(), assistant := agent("never"))
    await kit.join(ROOM, ANA)
    await kit.join(ROOM, replace(ANA, display_name=None, connected_via=("voice",)))
    await kit.leave(ROOM, "ana")
    await kit.leave(ROOM, "ana")
    await kit.leave(ROOM, "nobody")
    await settled()
    (person,) = await kit.store.list_participants(ROOM)
    assert (person.display_name, person.connected_via, person.active) == ("Ana", ("text", "voice"), False)
    assert told == [("joined", "ana", True), ("left", "ana", False)]
    assert [(e.type, e.content.body, e.responds_to) for e in await rows(kit)] == [
        (EventType.SYSTEM, "Ana joined", None),
        (EventType.SYSTEM, "Ana left", None),
    ]
    assert door.texts == ["Ana joined", "Ana left"]
    assert assistant.channel_id == "assistant"


async def test_a_room_opened_again_goes_on_where_it_was(store: Store) -> None:
    async with RoomEngine(store=store, ids=ids()) as kit:
        await seat(kit, Door(), agent("I am well."))
        await kit.join(ROOM, ANA)
        keyed = replace(message("how are you?"), idempotency_key="k")
        first = taken(await kit.process_inbound(keyed, room_id=ROOM))
        await settled()
    model_says = agent("As I said.")
    numbers = ids()
    async with RoomEngine(store=store, ids=lambda: f"later-{numbers()}") as kit:
        await seat(kit, Door(), model_says)
        again = await kit.process_inbound(keyed, room_id=ROOM)
        assert (again.event, again.duplicate) == (first, True)
        room = kit.context(ROOM)
        assert [e.content.body for e in room.recent_events] == ["Ana joined", "how are you?", "I am well."]
        assert [(p.id, p.active) for p in room.participants] == [("ana", False)]
        assert (await say(kit, "and now?")).index == 3
        await settled()
        assert [e.index for e in await rows(kit)] == [0, 1, 2, 3, 4]


async def test_opening_a_room_twice_at_once_gives_one_room(kit: RoomEngine) -> None:
    await asyncio.gather(*(kit.create_room(ROOM) for _ in range(4)))
    await seat(kit, Door(), other := Door("other"))
    await kit.create_room(ROOM)
    await say(kit, "hello")
    await settled()
    assert other.texts == ["hello"]
    assert await kit.create_room() != await kit.create_room()


async def test_closing_in_the_middle_of_everything_ends_it_all_once(kit: RoomEngine) -> None:
    @kit.hook(HookTrigger.BEFORE_BROADCAST)
    async def slow(event: RoomEvent) -> None:
        await asyncio.sleep(1)

    await seat(kit, door := Door(), other := Door("other"), agent(["One, ", Pause(60_000), "two."]))
    await say(kit, "count")
    reader = kit.feed(ROOM).subscribe()
    await asyncio.sleep(1)
    pending = asyncio.create_task(kit.process_inbound(message("too late"), room_id=ROOM))
    await asyncio.sleep(0.5)
    closings = await asyncio.gather(kit.close_room(ROOM), kit.close_room(ROOM), return_exceptions=True)
    assert [closed for closed in closings if not isinstance(closed, RoomError)] == [None]
    result = await pending
    await settled()
    assert (result.event, result.reason) == (None, "room_closed")
    assert [e.content.body for e in await rows(kit)] == ["count"]
    assert (door.detached, other.detached) == (1, 1)
    assert [reply.cancelled for reply in door.replies] == ["session_ended"]
    assert [line async for line in reader.events()]
    with pytest.raises(RoomError, match="not open"):
        kit.feed(ROOM)
    assert (await kit.process_inbound(message("anyone?"), room_id=ROOM)).reason == "room_closed"


async def test_a_channel_that_left_is_told_nothing_more(kit: RoomEngine) -> None:
    class Slow(Door):
        async def on_event(self, event: RoomEvent, context: object) -> None:
            await asyncio.sleep(1)
            self.heard.append(event)

    await seat(kit, Door(), slow := Slow("slow"))
    for text in ("one", "two", "three"):
        await say(kit, text)
    await asyncio.sleep(1.5)
    await kit.detach_channel(ROOM, "slow")
    await kit.detach_channel(ROOM, "slow")
    await say(kit, "four")
    await settled()
    assert slow.texts == ["one", "two"]
    await kit.attach_channel(ROOM, "slow")
    await say(kit, "five")
    await settled()
    assert slow.texts == ["one", "two", "five"]


async def test_a_reserved_id_is_kept_once_and_any_other_is_replaced(kit: RoomEngine) -> None:
    await seat(kit, Door())
    reserved = kit.host.reserve_id(ROOM)
    first = taken(await kit.process_inbound(replace(message("one"), reserved_id=reserved), room_id=ROOM))
    second = taken(await kit.process_inbound(replace(message("two"), reserved_id=reserved), room_id=ROOM))
    made_up = taken(await kit.process_inbound(replace(message("three"), reserved_id="mine"), room_id=ROOM))
    assert first.id == reserved
    assert len({first.id, second.id, made_up.id, "mine"}) == 4


@pytest.mark.parametrize("channel_id", ["", "all", "internal", "a,b", " a", "system"])
def test_a_channel_id_that_no_visibility_can_name_is_refused(channel_id: str) -> None:
    with pytest.raises(RoomError, match="channel id"):
        RoomEngine().register_channel(Door(channel_id))


async def test_what_does_not_fit_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="max_chain_depth"):
        RoomEngine(max_chain_depth=0)
    with pytest.raises(ValueError, match="process_timeout"):
        RoomEngine(process_timeout=0)
    idle = RoomEngine()
    with pytest.raises(RoomError, match="create_room"):
        await idle.attach_channel(ROOM, "text")
    await idle.create_room(ROOM)
    with pytest.raises(RoomError, match="not registered"):
        await idle.attach_channel(ROOM, "text")
    idle.register_channel(door := Door())
    idle.register_channel(door)
    with pytest.raises(RoomError, match="taken"):
        idle.register_channel(Door())
    with pytest.raises(RoomError, match="internal"):
        await idle.attach_channel(ROOM, "text", visibility="internal")
    await idle.attach_channel(ROOM, "text")
    with pytest.raises(RoomError, match="async with"):
        await idle.process_inbound(message("hello"), room_id=ROOM)


async def test_a_caller_is_not_left_waiting_when_the_engine_ends() -> None:
    from tests.scenario.test_room_engine import SlowStore
    from voiceagent.room.memory import MemoryStore

    async with RoomEngine(store=SlowStore(MemoryStore(), 60_000)) as kit:  # type: ignore[arg-type]
        await seat(kit, Door("text", ChannelType.VOICE))
        caller = asyncio.create_task(kit.process_inbound(message("hello"), room_id=ROOM))
        unborn = asyncio.create_task(kit.process_inbound(message("hello"), room_id=ROOM))
        await asyncio.sleep(1)
    for task in (caller, unborn):
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)
