"""What every store promises of what is known of rooms, and of a room that is deleted, on each of them."""

from datetime import UTC, datetime

import pytest

from tests.scenario.rooms import Door
from tests.scenario.test_questions import Asker
from tests.wire.test_question_rows import asked
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent
from voiceagent.room.lines.store import kept_lines
from voiceagent.room.origin import Origin
from voiceagent.room.questions.desk import rows_of
from voiceagent.room.questions.question import Asking
from voiceagent.room.register.entry import Register, RoomEntry, Starter
from voiceagent.room.register.memory import register_of
from voiceagent.room.store import Store

AT = datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC)


@pytest.fixture
def register(store: Store) -> Register:
    return register_of(store)


async def test_an_entry_comes_back_equal_and_is_replaced(register: Register) -> None:
    odd = RoomEntry("salón \x00", Starter("agent", "nova", "\N{SNOWMAN}"), AT)
    for entry in (RoomEntry("a", Starter("person", "ada")), RoomEntry(odd.room_id), odd):
        await register.put(entry)
    assert await register.get(odd.room_id) == odd
    assert await register.get("nowhere") is None
    assert [entry.room_id for entry in await register.listed()] == ["a", odd.room_id]


async def test_a_deleted_room_leaves_nothing_and_others_stay(store: Store) -> None:
    rooms = ("salón \x00", "other")
    async with RoomEngine(store=store) as kit:
        nova, door = Asker(), Door()
        for channel in (nova, door):
            kit.register_channel(channel)
        for room in rooms:
            await kit.create_room(room, started_by="ada")
            await kit.attach_channel(room, "nova")
            await kit.attach_channel(room, "text")
            await kit.join(room, Participant("ana", display_name="Ana"))
            await kit.questions.ask(Origin(room, "nova"), "g1", Asking("Which?"))
            await kit.process_inbound(InboundMessage("text", TextContent("Hello."), "ana", idempotency_key="k"), room_id=room)
        await rows_of(store).add(asked(1, room="elsewhere", asked_in=rooms[0]))
        await kit.delete_room(rooms[0])
        lines = kept_lines(store)
        assert lines is not None
        assert await store.list_rooms() == ["other"]
        assert await store.list_events(rooms[0]) == [] and await store.list_participants(rooms[0]) == []
        assert await store.find_key(rooms[0], "text", "k") is None
        assert (await lines.end(rooms[0])).seq == 0 and (await lines.end("other")).seq > 0
        assert await rows_of(store).of_room(rooms[0]) == []
        assert [one.room_id for one in await kit.questions.listed()] == ["other"]
        assert [entry.room_id for entry in await kit.register.listed()] == ["other"]
        await kit.create_room(rooms[0])
        await kit.attach_channel(rooms[0], "text")
        anew = await kit.process_inbound(InboundMessage("text", TextContent("Anew."), "ana"), room_id=rooms[0])
        assert anew.event is not None and anew.event.index == 0
