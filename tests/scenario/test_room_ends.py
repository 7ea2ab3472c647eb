"""Rooms that know who started them, are archived for good, and are deleted with everything of them, on every kind of store."""

from pathlib import Path

import pytest

from tests.scenario.rooms import ROOM, STORES, Door, make_store, rows, say, seat
from tests.scenario.test_questions import Asker
from voiceagent.errors import RoomArchivedError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant
from voiceagent.room.lines.store import kept_lines
from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking


@pytest.fixture(params=STORES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kit(kind: str, tmp_path: Path) -> RoomEngine:
    return RoomEngine(store=make_store(kind, tmp_path))


async def test_a_room_knows_who_started_it_and_a_later_opening_changes_nothing(kit: RoomEngine) -> None:
    async with kit:
        kit.register_channel(Asker())
        await kit.create_room(ROOM, started_by="ada")
        await kit.create_room("work", started_by="nova", started_in=ROOM)
        await kit.create_room("plain")
        assert kit.snapshot(ROOM)["started_by"] == {"kind": "person", "id": "ada"}
        assert kit.snapshot("work")["started_by"] == {"kind": "agent", "id": "nova", "room_id": ROOM}
        assert kit.snapshot("plain")["started_by"] is None
        await kit.close_room("work")
        await kit.create_room("work", started_by="bob")
        assert kit.snapshot("work")["started_by"] == {"kind": "agent", "id": "nova", "room_id": ROOM}
        assert [entry.room_id for entry in await kit.register.listed()] == [ROOM, "work"]


async def test_an_old_room_is_given_no_starter(kit: RoomEngine) -> None:
    async with kit:
        await seat(kit, Door())
        await say(kit, "Hello.")
        await kit.close_room(ROOM)
        await kit.create_room(ROOM, started_by="bob")
        assert kit.snapshot(ROOM)["started_by"] is None


async def test_who_started_it_survives_the_process(tmp_path: Path) -> None:
    async with RoomEngine(store=make_store("sqlite", tmp_path)) as kit:
        await kit.create_room(ROOM, started_by="ada")
        await kit.create_room("old")
        await kit.archive_room("old")
        await kit.store.close()
    async with RoomEngine(store=make_store("sqlite", tmp_path)) as kit:
        await kit.create_room(ROOM)
        assert kit.snapshot(ROOM)["started_by"] == {"kind": "person", "id": "ada"}
        with pytest.raises(RoomArchivedError, match="is archived"):
            await kit.create_room("old")
        await kit.store.close()


@pytest.mark.parametrize("open_", [True, False])
async def test_q32_an_archived_room_is_kept_and_closed_for_good_and_its_questions_end_silently(
    kit: RoomEngine, *, open_: bool
) -> None:
    async with kit:
        nova, door = Asker(), Door()
        await seat(kit, nova, door)
        await say(kit, "Hello.")
        question = await kit.questions.ask(Origin(ROOM, "nova"), "g1", Asking("Too late?"))
        if not open_:
            await kit.close_room(ROOM)
        await kit.archive_room(ROOM)
        assert (await kit.questions.answer(question.question_id, Answer("text", text="yes"))).result == "already_ended"
        assert nova.told == [] and await kit.questions.listed() == []
        assert [event.content.body for event in await rows(kit)] == ["Hello."]
        with pytest.raises(RoomArchivedError, match="is archived"):
            await kit.create_room(ROOM)
        await kit.archive_room(ROOM)  # again


async def test_a_deleted_room_leaves_nothing_and_other_rooms_stay(kit: RoomEngine) -> None:
    async with kit:
        nova, door = Asker(), Door()
        await seat(kit, nova, door)
        await seat(kit, nova, door, room="other")
        for room in (ROOM, "other"):
            await kit.join(room, Participant("ana", display_name="Ana"))
            await kit.questions.ask(Origin(room, "nova"), "g1", Asking("Which?"))
        first = await say(kit, "Hello.")
        await kit.delete_room(ROOM)
        assert await rows(kit) == [] and await kit.store.list_rooms() == ["other"]
        assert await kit.store.get_event(ROOM, first.id) is None
        assert await kit.store.list_participants(ROOM) == []
        assert [one.room_id for one in await kit.questions.listed()] == ["other"]
        lines = kept_lines(kit.store)
        assert lines is not None
        assert await lines.after(ROOM, 0, 100) == [] and await lines.after("other", 0, 100)
        assert await kit.register.get(ROOM) is None
        assert len(await rows(kit, "other")) == 1
        await kit.create_room(ROOM)
        assert kit.snapshot(ROOM)["people"] == []
        assert kit.snapshot(ROOM)["seq"] == 0
        await seat(kit, door)
        assert (await say(kit, "Anew.")).index == 0
        await kit.store.close()
