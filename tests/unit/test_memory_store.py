"""The memory store's own promises: speed that does not depend on length, and rooms that cost nothing until used."""

import tracemalloc
from datetime import UTC, datetime

import pytest

from voiceagent.room.events import ChannelType, EventSource, Participant, RoomEvent, TextContent
from voiceagent.room.memory import MemoryStore
from voiceagent.room.store import EventFilter

_SOURCE = EventSource("voice", ChannelType.VOICE)
_AT = datetime(2026, 1, 1, tzinfo=UTC)


def _event(index: int, room: str = "r", responds_to: str | None = None) -> RoomEvent:
    return RoomEvent(f"{room}-{index}", room, _SOURCE, TextContent("words"), _AT, index=index, responds_to=responds_to)


async def test_answers_are_found_without_looking_at_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    for index in range(1000):
        await store.append(_event(index, responds_to="q" if index % 500 == 7 else None))
    looked_at = 0

    def counting(event: RoomEvent, wanted: EventFilter) -> bool:
        nonlocal looked_at
        looked_at += 1
        return True

    monkeypatch.setattr("voiceagent.room.memory._fits", counting)
    answers = await store.list_events("r", event_filter=EventFilter(responds_to="q"))
    assert [event.index for event in answers] == [7, 507]
    assert looked_at == 2
    await store.list_events("r", limit=3, newest=True)
    await store.list_events("r", event_filter=EventFilter(after_index=990))
    assert looked_at == 2 + 3 + 9


async def test_events_that_come_out_of_order_are_listed_in_order() -> None:
    store = MemoryStore()
    for index in (5, 1, 9, 3):
        await store.append(_event(index, responds_to="q"))
    assert [event.index for event in await store.list_events("r")] == [1, 3, 5, 9]
    answers = await store.list_events("r", event_filter=EventFilter(responds_to="q", after_index=1, before_index=9))
    assert [event.index for event in answers] == [3, 5]


async def test_asking_about_a_room_does_not_make_it() -> None:
    store = MemoryStore()
    await store.list_events("r")
    await store.last_index("r")
    await store.find_key("r", "voice", "k")
    await store.list_participants("r")
    assert await store.list_rooms() == []


async def test_a_thousand_idle_rooms_fit_in_half_a_megabyte() -> None:
    store = MemoryStore()
    people = [Participant(f"p{number}") for number in range(1000)]
    names = [f"room-{number}" for number in range(1000)]
    tracemalloc.start()
    try:
        for name, person in zip(names, people, strict=True):
            await store.put_participant(name, person)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < 500_000
