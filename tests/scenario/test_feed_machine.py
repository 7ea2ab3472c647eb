"""Whatever is published, fails, crashes and opens again in whatever order: no number is missing, the feed equals the store."""

import asyncio
import tempfile
from collections.abc import Coroutine
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.scenario.rooms import Door, message
from tests.scenario.test_feed_kept import DyingStore
from voiceagent.clock import VirtualLoop
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import Feed, FeedEvent, Subscription
from voiceagent.room.store import EventFilter

T = TypeVar("T")
ROOMS = ("a", "b")
LONG = 3.0  # seconds in which the journal has tried again, or has given up at the engine's end


class Reader:
    """Somebody who reads a room, in a task of their own, until the feed ends or they leave."""

    def __init__(self, subscription: Subscription, after: int) -> None:
        self.subscription = subscription
        self.after = after
        self.lines: list[FeedEvent] = []
        self.task = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        async for line in self.subscription.events():
            self.lines.append(line)

    @property
    def durable(self) -> list[FeedEvent]:
        return [line for line in self.lines if line.seq is not None]


class FeedMachine(RuleBasedStateMachine):
    """One file, an engine at a time, two rooms, and readers who come when they like."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner(loop_factory=VirtualLoop)
        self.folder = tempfile.TemporaryDirectory()
        self.numbers = count()
        self.seen: dict[tuple[str, int], str] = {}
        self.readers: list[tuple[str, Reader]] = []
        self.run(self._open())

    def run(self, coroutine: Coroutine[object, object, T]) -> T:
        return self.runner.run(coroutine)

    async def _open(self) -> None:
        self.store = DyingStore(Path(self.folder.name, "rooms.db"))
        self.kit = await RoomEngine(store=self.store).__aenter__()
        self.kit.register_channel(Door())
        for room in ROOMS:
            await self._enter(room)

    async def _enter(self, room: str) -> None:
        await self.kit.create_room(room)
        await self.kit.attach_channel(room, "text")

    async def _leave(self) -> None:
        await self.kit.__aexit__(None, None, None)
        await asyncio.gather(*(reader.task for _, reader in self.readers))
        self._note()
        self.readers.clear()
        await self.store.close()

    def _note(self) -> None:
        """What readers saw is true for ever: no number means something else later."""
        for room, reader in self.readers:
            assert not reader.subscription.lagged
            seqs = [line.seq for line in reader.durable]
            assert seqs == list(range(reader.after + 1, reader.after + 1 + len(seqs)))
            so_far = reader.after
            for line in reader.lines:
                assert line.after == so_far
                so_far = line.seq or so_far
                if line.seq is not None:
                    assert self.seen.setdefault((room, line.seq), line.text()) == line.text()

    @rule(room=st.sampled_from(ROOMS), kinds=st.lists(st.booleans(), min_size=1, max_size=5))
    def publish(self, room: str, kinds: list[bool]) -> None:
        async def publish() -> None:
            for durable in kinds:
                self.kit.feed(room).publish("fact", {"number": next(self.numbers)}, durable=durable)

        self.run(publish())

    @rule(room=st.sampled_from(ROOMS), several=st.integers(1, 3))
    def say(self, room: str, several: int) -> None:
        """Each message is told of by its own line, and then by one that names it."""

        async def say() -> None:
            for _ in range(several):
                result = await self.kit.process_inbound(message(f"{next(self.numbers)}"), room_id=room)
                assert result.event is not None
                self.kit.feed(room).publish("names", {"event_ids": [result.event.id]})

        self.run(say())

    @rule(room=st.sampled_from(ROOMS), back=st.none() | st.integers(0, 30))
    def subscribe(self, room: str, back: int | None) -> None:
        async def subscribe() -> None:
            feed = self.kit.feed(room)
            after = feed.seq if back is None else max(0, feed.seq - back)
            self.readers.append((room, Reader(feed.subscribe(None if back is None else after), after)))

        self.run(subscribe())

    @precondition(lambda self: not self.store.dying.dead)
    @rule()
    def fail(self) -> None:
        self.store.dying.dead = True

    @precondition(lambda self: self.store.dying.dead)
    @rule()
    def work_again(self) -> None:
        self.store.dying.dead = False

    @rule(seconds=st.sampled_from([0.0, 0.001, 0.01, LONG]))
    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    @rule(room=st.sampled_from(ROOMS))
    def reopen_room(self, room: str) -> None:
        async def reopen() -> None:
            await self.kit.close_room(room)
            await self._enter(room)

        self.run(reopen())

    @rule(crash=st.booleans())
    def restart(self, crash: bool) -> None:
        async def restart() -> None:
            self.store.dying.dead |= crash
            await self._leave()
            await self._open()

        self.run(restart())

    @invariant()
    def readers_see_the_truth(self) -> None:
        self._note()

    @precondition(lambda self: not self.store.dying.dead)
    @invariant()
    def the_feed_equals_the_store(self) -> None:
        self.run(self._check())

    async def _check(self) -> None:
        await asyncio.sleep(LONG)
        for room in ROOMS:
            lines = await lines_of(self.kit.feed(room))
            assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
            events = await self.store.list_events(room, event_filter=EventFilter(blocked=True))
            assert [line.event.id for line in lines if line.event is not None] == [event.id for event in events]
            told: set[str] = set()
            for line in lines:
                if line.event is not None:
                    told.add(line.event.id)
                ids = line.data.get("event_ids", [])
                assert isinstance(ids, list)
                assert set(ids) <= told
            for number, line in enumerate(lines, 1):
                assert self.seen.setdefault((room, number), line.text()) == line.text()
            opened = [line.input_id for line in lines if line.type == "input.accepted"]
            settled = [line.input_id for line in lines if line.type == "input.settled"]
            assert sorted(settled, key=str) == sorted(opened, key=str)

    def teardown(self) -> None:
        self.run(self._leave())
        self.runner.close()
        self.folder.cleanup()


async def lines_of(feed: Feed) -> list[FeedEvent]:
    reader = feed.subscribe(0)
    reader.close()
    return [line async for line in reader.events()]


_LENGTH = settings(max_examples=200, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))


def test_the_feed_equals_the_store_whatever_happens() -> None:
    run_state_machine_as_test(FeedMachine, settings=_LENGTH)


@pytest.mark.long
def test_the_feed_equals_the_store_whatever_happens_ten_thousand_times() -> None:
    run_state_machine_as_test(FeedMachine, settings=settings(_LENGTH, max_examples=10_000))
