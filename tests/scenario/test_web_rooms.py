"""Rooms that browsers use: opened once however many come at once, and again when they were closed or could not be opened."""

import asyncio

import pytest

from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.room.engine import RoomEngine
from voiceagent.room.register.entry import Starter
from voiceagent.web.refusal import Refused
from voiceagent.web.rooms import TEXT_CHANNEL, Rooms
from voiceagent.web.standing import Standing


async def test_who_comes_while_a_room_is_being_opened_waits_for_it() -> None:
    async with RoomEngine() as engine:

        async def slowly(room: str) -> None:
            await clock.sleep_until(clock.now() + 100)
            await engine.create_room(room)

        rooms = Rooms(engine, 2, slowly)

        async def come() -> tuple[str, list[str]]:
            await rooms.enter("one")
            return rooms.epoch("one"), [binding.channel_id for binding in engine.context("one").bindings]

        came = await asyncio.gather(come(), come(), come())
        assert came[0][0]
        assert list(came) == [(came[0][0], [TEXT_CHANNEL])] * 3


async def test_a_room_that_could_not_be_opened_once_is_opened_for_the_next() -> None:
    async with RoomEngine() as engine:
        trouble = [StoreError("locked")]

        async def once(room: str) -> None:
            await clock.sleep_until(clock.now() + 100)
            if trouble:
                raise trouble.pop()
            await engine.create_room(room)

        rooms = Rooms(engine, 1, once)
        first, second = await asyncio.gather(rooms.enter("one"), rooms.enter("one"), return_exceptions=True)
        assert isinstance(first, StoreError)
        assert second is None
        with pytest.raises(Refused):
            await rooms.enter("two")
        rooms.leave("one")
        await rooms.enter("two")


async def test_a_room_is_started_by_the_first_who_comes_in() -> None:
    async with RoomEngine() as engine:
        rooms = Rooms(engine, 2)
        await rooms.enter("one", "p-anna")
        await rooms.enter("one", "p-bo")
        await rooms.enter("two")
        entry = await engine.register.get("one")
        assert entry is not None
        assert entry.started_by == Starter("person", "p-anna", None)
        unknown = await engine.register.get("two")
        assert unknown is None or unknown.started_by is None


async def test_a_room_that_its_host_closed_is_opened_again_under_another_epoch() -> None:
    async with RoomEngine() as engine:
        rooms = Rooms(engine, 1)
        await rooms.enter("one")
        before = rooms.epoch("one")
        await engine.close_room("one")
        await rooms.enter("one")
        assert engine.feed("one")
        assert rooms.epoch("one") != before
        rooms.leave("one")
        rooms.leave("one")
        await engine.close_room("one")
        await rooms.enter("two")


async def test_a_standing_ends_when_its_token_expires() -> None:
    began = clock.now()
    await Standing(host=False, until=int(clock.utc().timestamp()) + 40).ended()
    assert 39_000 <= clock.now() - began <= 41_000
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3_600):
            await Standing(host=True).ended()


async def test_an_archived_room_is_gone_for_browsers() -> None:
    async with RoomEngine() as engine:
        rooms = Rooms(engine, 1)
        await engine.archive_room("one")
        with pytest.raises(Refused, match="archived") as refused:
            await rooms.enter("one")
        assert refused.value.status == 410
        await rooms.enter("two")  # nobody's place is taken
