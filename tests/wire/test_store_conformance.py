"""What every store promises, on each of them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from voiceagent.errors import StoreError
from voiceagent.room.events import (
    ChannelType,
    EventSource,
    EventStatus,
    EventType,
    Participant,
    Role,
    RoomEvent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.store import EventFilter, Store
from voiceagent.values import JSON

_PERSON = EventSource("voice", ChannelType.VOICE, participant_id="ana")
_AGENT = EventSource("assistant", ChannelType.AI)


def _event(index: int, room: str = "r") -> RoomEvent:
    words = TextContent(f"line {index}")
    return RoomEvent(f"{room}-{index}", room, _PERSON, words, datetime(2026, 1, 1, tzinfo=UTC), index=index)


def _answer(index: int, responds_to: str | None, room: str = "r") -> RoomEvent:
    return replace(_event(index, room), source=_AGENT, responds_to=responds_to)


def _took_in(index: int, responds_to: str | None, *others: str, room: str = "r") -> RoomEvent:
    return replace(_answer(index, responds_to, room), metadata={"input_ids": list(others)})


async def _indices(store: Store, wanted: EventFilter | None = None, limit: int | None = None, newest: bool = False) -> list[int]:
    return [event.index or 0 for event in await store.list_events("r", event_filter=wanted, limit=limit, newest=newest)]


class TestStore:
    async def test_an_event_comes_back_equal(self, store: Store) -> None:
        event = RoomEvent(
            id="ид-\N{SNOWMAN}",
            room_id="salón \x00 \u202e",
            source=EventSource("voice", ChannelType.VOICE, participant_id="ana"),
            content=ToolCallContent("c1", "look_up", '{"a": 1}', result="x" * 100_000),
            created_at=datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
            type=EventType.TOOL_CALL_END,
            status=EventStatus.DELIVERED,
            blocked_by="hook",
            visibility="voice,text",
            addressed_to=(),
            response_visibility="internal",
            index=41,
            chain_depth=3,
            parent_event_id="root",
            responds_to="q",
            correlation_id="reply",
            idempotency_key="k",
            metadata={"played_ms": 1200, "nested": {"a": [1, 2.5, None, True]}},
        )
        await store.append(event)
        assert await store.list_events(event.room_id) == [event]
        assert await store.get_event(event.room_id, event.id) == event

    async def test_responds_to_lists_exactly_the_answers(self, store: Store) -> None:
        await store.append(_event(0))
        await store.append(_event(1))
        await store.append(_answer(2, "r-1"))
        await store.append(_answer(3, "r-0"))
        await store.append(replace(_answer(4, "r-0"), type=EventType.TOOL_CALL_START))
        await store.append(_answer(5, None))
        await store.append(_answer(6, "r-0", room="other"))
        await store.append(replace(_answer(7, "r-0"), status=EventStatus.BLOCKED))
        assert await _indices(store, EventFilter(responds_to="r-0")) == [3, 4]
        assert await _indices(store, EventFilter(responds_to="r-0", blocked=True)) == [3, 4, 7]
        assert await _indices(store, EventFilter(responds_to="r-1")) == [2]
        assert await _indices(store, EventFilter(responds_to="nobody")) == []

    async def test_those_that_took_a_request_in_later_are_listed_when_asked_for(self, store: Store) -> None:
        await store.append(_event(0))
        await store.append(_event(1))
        await store.append(_took_in(2, "r-0", "r-0", "r-1", "r-1"))
        await store.append(_answer(3, "r-1"))
        await store.append(_took_in(4, None, "r-0", 'odd "\\0 id\0'))
        await store.append(replace(_took_in(5, "r-0", "r-1"), status=EventStatus.BLOCKED))
        await store.append(_took_in(6, "r-0", "r-1", room="other"))
        assert await _indices(store, EventFilter(responds_to="r-1")) == [3]
        assert await _indices(store, EventFilter(responds_to="r-1", taken_in=True)) == [2, 3]
        assert await _indices(store, EventFilter(responds_to="r-1", taken_in=True, blocked=True)) == [2, 3, 5]
        assert await _indices(store, EventFilter(responds_to="r-0", taken_in=True)) == [2, 4]
        assert await _indices(store, EventFilter(responds_to='odd "\\0 id\0', taken_in=True)) == [4]
        assert await _indices(store, EventFilter(responds_to="r-1", taken_in=True, after_index=2)) == [3]
        assert await _indices(store, EventFilter(responds_to="r-1", taken_in=True), limit=1, newest=True) == [3]
        assert await _indices(store, EventFilter(responds_to="nobody", taken_in=True)) == []
        assert await _indices(store, EventFilter(taken_in=True)) == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize("ids", ["r-0", 1, None, {"r-0": 1}, [1, None, ["r-0"]]])
    async def test_what_is_no_list_of_ids_took_nothing_in(self, store: Store, ids: JSON) -> None:
        await store.append(replace(_event(0), metadata={"input_ids": ids}))
        assert await _indices(store, EventFilter(responds_to="r-0", taken_in=True)) == []
        assert await _indices(store) == [0]

    async def test_an_answer_may_name_what_was_never_stored(self, store: Store) -> None:
        await store.append(_answer(0, "an-instruction"))
        assert await _indices(store, EventFilter(responds_to="an-instruction")) == [0]

    async def test_blocked_rows_take_an_index_and_no_default_page_lists_them(self, store: Store) -> None:
        await store.append(_event(0))
        blocked = replace(_event(1), status=EventStatus.BLOCKED, blocked_by="filter")
        await store.append(blocked)
        await store.append(_event(2))
        assert await _indices(store) == [0, 2]
        assert await _indices(store, EventFilter()) == [0, 2]
        assert await _indices(store, limit=2, newest=True) == [0, 2]
        assert await _indices(store, EventFilter(blocked=True)) == [0, 1, 2]
        assert await store.get_event("r", "r-1") == blocked
        await store.append(replace(_event(3), status=EventStatus.BLOCKED))
        assert await store.last_index("r") == 3

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (EventFilter(types=(EventType.SYSTEM, EventType.MESSAGE)), [0, 1, 2, 4]),
            (EventFilter(types=()), []),
            (EventFilter(channel_id="assistant"), [1, 3]),
            (EventFilter(participant_id="ana"), [0, 2, 4]),
            (EventFilter(correlation_id="reply"), [1, 3]),
            (EventFilter(after_index=1), [2, 3, 4]),
            (EventFilter(before_index=2), [0, 1]),
            (EventFilter(after_index=0, before_index=4), [1, 2, 3]),
            (EventFilter(correlation_id="reply", types=(EventType.TOOL_CALL_END,)), [3]),
            (EventFilter(after_index=99), []),
        ],
    )
    async def test_every_field_of_the_filter_must_fit(self, store: Store, wanted: EventFilter, found: list[int]) -> None:
        await store.append(_event(0))
        await store.append(replace(_answer(1, "r-0"), correlation_id="reply"))
        await store.append(replace(_event(2), type=EventType.SYSTEM))
        await store.append(replace(_answer(3, "r-0"), correlation_id="reply", type=EventType.TOOL_CALL_END))
        await store.append(_event(4))
        assert await _indices(store, wanted) == found

    async def test_limit_and_newest(self, store: Store) -> None:
        for index in range(6):
            await store.append(_event(index))
        assert await _indices(store, limit=2) == [0, 1]
        assert await _indices(store, limit=2, newest=True) == [4, 5]
        assert await _indices(store, EventFilter(before_index=4), limit=2, newest=True) == [2, 3]
        assert await _indices(store, newest=True) == [0, 1, 2, 3, 4, 5]
        assert await _indices(store, limit=0) == []
        assert await _indices(store, limit=0, newest=True) == []
        with pytest.raises(StoreError, match="limit"):
            await store.list_events("r", limit=-1)

    async def test_long_rooms_are_listed_whole(self, store: Store) -> None:
        for index in range(450):
            await store.append(_event(index))
        assert await _indices(store) == list(range(450))

    async def test_an_index_is_given_once_a_room(self, store: Store) -> None:
        await store.append(_event(0))
        with pytest.raises(StoreError, match="'r' already has an event with index 0"):
            await store.append(replace(_event(0), id="another"))
        await store.append(_event(0, room="other"))
        assert await store.list_events("r") == [_event(0)]

    async def test_an_id_is_given_once(self, store: Store) -> None:
        await store.append(_event(0))
        with pytest.raises(StoreError, match="id 'r-0' is already stored"):
            await store.append(replace(_event(1), id="r-0", room_id="other"))
        assert await store.list_rooms() == ["r"]

    async def test_a_key_is_used_once_a_channel_and_room(self, store: Store) -> None:
        first = replace(_event(0), idempotency_key="k")
        await store.append(first)
        with pytest.raises(StoreError, match="'voice' already stored an event under the idempotency key 'k'"):
            await store.append(replace(_event(1), idempotency_key="k"))
        await store.append(replace(_answer(1, None), idempotency_key="k"))
        await store.append(replace(_event(0, room="other"), idempotency_key="k"))
        assert await store.find_key("r", "voice", "k") == first
        assert (await store.find_key("r", "assistant", "k") or first).index == 1
        assert await store.find_key("r", "voice", "never") is None
        assert await store.find_key("nowhere", "voice", "k") is None
        assert await _indices(store) == [0, 1]

    async def test_a_refused_event_leaves_nothing_behind(self, store: Store) -> None:
        await store.append(replace(_event(0), idempotency_key="k"))
        with pytest.raises(StoreError):
            await store.append(replace(_event(1), idempotency_key="k", responds_to="q"))
        await store.append(replace(_event(1), responds_to="q"))
        assert await _indices(store, EventFilter(responds_to="q")) == [1]

    async def test_only_committed_events_are_stored(self, store: Store) -> None:
        with pytest.raises(StoreError, match="no index"):
            await store.append(replace(_event(0), index=None))
        assert await store.list_rooms() == []

    async def test_an_event_belongs_to_its_room(self, store: Store) -> None:
        await store.append(_event(0))
        assert await store.get_event("other", "r-0") is None
        assert await store.get_event("r", "r-1") is None
        assert await store.list_events("other") == []
        assert await store.last_index("other") is None

    async def test_participants_keep_their_order_of_joining(self, store: Store) -> None:
        ana, ben = Participant("ana", "Ana", Role.OWNER, ("voice", "text")), Participant("ben")
        await store.put_participant("r", ana)
        await store.put_participant("r", ben)
        await store.put_participant("other", ben)
        left = replace(ana, active=False)
        await store.put_participant("r", left)
        assert await store.list_participants("r") == [left, ben]
        assert await store.list_participants("other") == [ben]
        assert await store.list_participants("nowhere") == []

    async def test_rooms_are_known_by_an_event_or_a_participant(self, store: Store) -> None:
        assert await store.list_rooms() == []
        await store.append(_event(0, room="b"))
        await store.append(_event(1, room="b"))
        await store.append(_event(0, room="d"))
        await store.put_participant("a", Participant("p"))
        await store.put_participant("b", Participant("p"))
        await store.put_participant("c", Participant("p"))
        assert await store.list_rooms() == ["a", "b", "c", "d"]

    async def test_close_may_be_called_twice(self, store: Store) -> None:
        await store.append(_event(0))
        await store.close()
        await store.close()
