"""Whatever is asked of them in whatever order, the file, the database and the memory answer alike."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.wire.cluster import Cluster
from voiceagent.errors import StoreError
from voiceagent.room.events import ChannelType, EventSource, EventStatus, EventType, Participant, RoomEvent, TextContent
from voiceagent.room.memory import MemoryStore
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter, Store, shared

_T = TypeVar("_T")

_ROOMS = st.sampled_from(["a", "b"])
_IDS = st.sampled_from([f"e{number}" for number in range(12)])
_CHANNELS = st.sampled_from(["voice", "text"])
_PEOPLE = st.none() | st.sampled_from(["ana", "ben"])
_KEYS = st.none() | st.sampled_from(["k1", "k2"])
_INDICES = st.integers(0, 12)
_EVENTS = st.builds(
    RoomEvent,
    id=_IDS,
    room_id=_ROOMS,
    source=st.builds(EventSource, _CHANNELS, st.just(ChannelType.VOICE), participant_id=_PEOPLE),
    content=st.builds(TextContent, st.text(max_size=5)),
    created_at=st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    type=st.sampled_from(EventType),
    status=st.sampled_from(EventStatus),
    index=_INDICES,
    responds_to=st.none() | _IDS,
    correlation_id=_KEYS,
    idempotency_key=_KEYS,
    metadata=st.just({}) | st.builds(dict, input_ids=st.lists(_IDS, max_size=3)),
)
_FILTERS = st.none() | st.builds(
    EventFilter,
    responds_to=st.none() | _IDS,
    types=st.none() | st.lists(st.sampled_from(EventType), max_size=3).map(tuple),
    channel_id=st.none() | _CHANNELS,
    participant_id=_PEOPLE,
    correlation_id=_KEYS,
    after_index=st.none() | _INDICES,
    before_index=st.none() | _INDICES,
    blocked=st.booleans(),
    taken_in=st.booleans(),
)


class StoreMachine(RuleBasedStateMachine):
    """Two stores, given the same."""

    def __init__(self, cluster: Cluster | None = None) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.dsn = self.run(cluster.fresh()) if cluster else None
        self.file: Store = self.run(self._open())
        self.memory = MemoryStore()

    async def _open(self) -> Store:
        if self.dsn is None:
            return await SqliteStore.open(Path(self.folder.name, "rooms.db"))
        store = PostgresStore(self.dsn)
        await store.init()
        return store

    def run(self, coroutine: Coroutine[None, None, _T]) -> _T:
        return self.runner.run(coroutine)

    async def _append(self, store: Store, event: RoomEvent) -> bool:
        try:
            await store.append(event)
        except StoreError:
            return False
        return True

    @rule(event=_EVENTS)
    def append(self, event: RoomEvent) -> None:
        assert self.run(self._append(self.file, event)) == self.run(self._append(self.memory, event))

    @precondition(lambda self: shared(self.file) is not None)
    @rule(event=_EVENTS)
    def append_next(self, event: RoomEvent) -> None:
        file = shared(self.file)
        assert file is not None
        last = self.run(self.memory.last_index(event.room_id))
        placed = replace(event, index=0 if last is None else last + 1)
        if self.run(self._append(self.memory, placed)):
            assert self.run(file.append_next(event)) == placed
        else:
            assert not self.run(self._append(self.file, placed))

    @rule(room=_ROOMS, wanted=_FILTERS, limit=st.none() | st.integers(0, 4), newest=st.booleans())
    def list_events(self, room: str, wanted: EventFilter | None, limit: int | None, newest: bool) -> None:
        found = self.run(self.file.list_events(room, event_filter=wanted, limit=limit, newest=newest))
        assert found == self.run(self.memory.list_events(room, event_filter=wanted, limit=limit, newest=newest))

    @rule(room=_ROOMS, event_id=_IDS, channel=_CHANNELS, key=st.sampled_from(["k1", "k2"]))
    def find(self, room: str, event_id: str, channel: str, key: str) -> None:
        assert self.run(self.file.get_event(room, event_id)) == self.run(self.memory.get_event(room, event_id))
        assert self.run(self.file.find_key(room, channel, key)) == self.run(self.memory.find_key(room, channel, key))

    @rule(room=_ROOMS, person=st.builds(Participant, st.sampled_from(["ana", "ben"]), active=st.booleans()))
    def put_participant(self, room: str, person: Participant) -> None:
        self.run(self.file.put_participant(room, person))
        self.run(self.memory.put_participant(room, person))
        assert self.run(self.file.list_participants(room)) == self.run(self.memory.list_participants(room))

    @rule()
    def reopen(self) -> None:
        self.run(self.file.close())
        self.file = self.run(self._open())

    @invariant()
    def same_rooms(self) -> None:
        assert self.run(self.file.list_rooms()) == self.run(self.memory.list_rooms())
        for room in ("a", "b"):
            assert self.run(self.file.last_index(room)) == self.run(self.memory.last_index(room))

    def teardown(self) -> None:
        self.run(self.file.close())
        self.runner.close()
        self.folder.cleanup()


_LENGTH = settings(max_examples=25, stateful_step_count=30, deadline=None)


def test_the_file_answers_like_the_memory() -> None:
    run_state_machine_as_test(StoreMachine, settings=_LENGTH)


def test_the_database_answers_like_the_memory(cluster: Cluster) -> None:
    class OnServer(StoreMachine):
        def __init__(self) -> None:
            super().__init__(cluster)

    run_state_machine_as_test(OnServer, settings=settings(_LENGTH, max_examples=15))
