"""A feed that goes on after its engine has ended: the same numbers, nothing left out, nothing told twice, nothing left open."""

from collections.abc import Sequence
from pathlib import Path

from tests.scenario.rooms import ROOM, Door, agent, say, seat, settled
from voiceagent.errors import StoreError
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import RoomEvent
from voiceagent.room.feed import Feed
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.store import FeedEnd, LineStore
from voiceagent.room.memory import MemoryStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter, Store


class DyingLines:
    """Lines of a file, until the process is as good as dead: then nothing is written any more."""

    def __init__(self, lines: LineStore) -> None:
        self._lines = lines
        self.dead = False

    async def append(self, lines: Sequence[FeedEvent]) -> list[int | None]:
        if self.dead:
            raise StoreError("dead")
        return await self._lines.append(lines)

    async def after(self, room_id: str, seq: int, limit: int) -> list[FeedEvent]:
        return await self._lines.after(room_id, seq, limit)

    async def end(self, room_id: str) -> FeedEnd:
        return await self._lines.end(room_id)

    async def claim(self, room_id: str) -> list[FeedEvent]:
        return await self._lines.claim(room_id)


class DyingStore(SqliteStore):
    """A file whose lines stop at some moment, as a crash stops them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.dying = DyingLines(super().feed_lines)

    @property
    def feed_lines(self) -> LineStore:
        return self.dying


async def lines_of(feed: Feed, after: int = 0) -> list[FeedEvent]:
    """Every durable line, once all are stored."""
    await settled(1_500)
    reader = feed.subscribe(after)
    assert reader.gap is None
    reader.close()
    return [line async for line in reader.events()]


def told(lines: Sequence[FeedEvent]) -> list[str]:
    return [line.event.id for line in lines if line.event is not None]


async def stored(store: Store) -> list[str]:
    return [event.id for event in await store.list_events(ROOM, event_filter=EventFilter(blocked=True))]


async def test_a_room_that_is_opened_again_goes_on_with_its_numbers(store: Store) -> None:
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door(), agent("noon"))
        await say(kit, "what time is it?")
        before = await lines_of(kit.feed(ROOM))
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "text")
        await say(kit, "thanks")
        lines = await lines_of(kit.feed(ROOM))
        assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
        assert [line.text() for line in lines[: len(before)]] == [line.text() for line in before]
        assert told(lines) == await stored(store)
        assert [line.at_ms for line in lines] == sorted(line.at_ms for line in lines)


async def test_another_engine_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    seen: list[str] = []
    for text in ("one", "two", "three"):
        store = SqliteStore(path)
        async with RoomEngine(store=store) as kit:
            await seat(kit, Door(), agent("noon"))
            lines = await lines_of(kit.feed(ROOM))
            assert [line.text() for line in lines][: len(seen)] == seen
            await say(kit, text)
            lines = await lines_of(kit.feed(ROOM))
            assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
            assert told(lines) == await stored(store)
            seen = [line.text() for line in lines]
        await store.close()
    assert sum("input.settled" in line for line in seen) == 3


async def test_what_a_crash_has_left_out_or_open_is_told_and_ended_when_the_room_opens(tmp_path: Path) -> None:
    path = tmp_path / "rooms.db"
    dying = DyingStore(path)
    async with RoomEngine(store=dying) as kit:
        await seat(kit, Door(), agent([Pause(60_000), "too late"]))
        asked = await say(kit, "what time is it?")
        before = await lines_of(kit.feed(ROOM))
        opened = next(line for line in before if line.type == "generation.started")
        dying.dying.dead = True
        await say(kit, "anybody there?")
    await dying.close()
    store = SqliteStore(path)
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door())
        lines = await lines_of(kit.feed(ROOM))
        rest = lines[len(before) :]
        assert [line.text() for line in lines[: len(before)]] == [line.text() for line in before]
        assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
        assert told(lines) == await stored(store)
        ends = [line for line in rest if line.event is None]
        assert [line.type for line in ends] == ["generation.detached", "input.unknown", "input.settled"]
        assert (ends[0].generation_id, ends[0].responds_to) == (opened.generation_id, asked.id)
        assert ends[0].data["reason"] == "shutdown"
        assert ends[0].data["cancellation"] == "unconfirmed"
        assert (ends[2].data["input_id"], ends[2].data["disposition"]) == (asked.id, "unknown")
    await store.close()
    again = SqliteStore(path)
    async with RoomEngine(store=again) as kit:
        await kit.create_room(ROOM)
        assert [line.text() for line in await lines_of(kit.feed(ROOM))] == [line.text() for line in lines]
    await again.close()


async def test_a_store_that_takes_no_lines_holds_up_no_room_and_no_end(tmp_path: Path) -> None:
    store = DyingStore(tmp_path / "rooms.db")
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door(), other := Door("other"), agent("noon"))
        reader = kit.feed(ROOM).subscribe()
        await settled()
        store.dying.dead = True
        await say(kit, "what time is it?")
        await settled()
        assert other.texts == ["what time is it?", "noon"]
        store.dying.dead = False
        await settled()
        assert told(await lines_of(kit.feed(ROOM))) == await stored(store)
        reader.close()
        seen = [line async for line in reader.events()]
        assert told(seen) == await stored(store)
        numbers = [line.seq for line in seen if line.seq is not None]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        deltas = [number for number, line in enumerate(seen) if line.type == "text.delta"]
        started = [number for number, line in enumerate(seen) if line.type == "generation.started"]
        assert deltas
        assert min(deltas) > started[0]
    await store.close()


async def test_a_store_without_lines_has_a_feed_for_as_long_as_the_room_is_open() -> None:
    class Plain:
        def __init__(self) -> None:
            self._store = MemoryStore()

        def __getattr__(self, name: str) -> object:
            return getattr(self._store, name)

    plain = Plain()
    async with RoomEngine(store=plain) as kit:  # type: ignore[arg-type]
        await seat(kit, Door())
        await say(kit, "one")
        assert not kit.feed(ROOM).durable
        assert kit.feed(ROOM).seq > 0
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        assert kit.feed(ROOM).seq == 0


async def test_a_room_that_is_opened_again_at_once_has_no_gap(store: Store) -> None:
    """Its last lines were still on their way to the store when it was closed."""
    async with RoomEngine(store=store) as kit:
        await seat(kit, Door(), agent([Pause(10_000), "noon"]))
        first = kit.feed(ROOM).subscribe(0)
        await say(kit, "what time is it?")
        await settled(100)
        await kit.close_room(ROOM)
        await kit.create_room(ROOM)
        before = [line async for line in first.events()]
        again = kit.feed(ROOM).subscribe(before[-1].seq)
        await kit.attach_channel(ROOM, "text")
        await say(kit, "and now?")
        await settled(100)
        again.close()
        assert again.gap is None
        behind = [line.seq async for line in again.events()]
    assert behind == list(range((before[-1].seq or 0) + 1, len(before) + len(behind) + 1))


async def test_a_reader_is_told_what_was_on_its_way_when_the_program_ends(store: Store) -> None:
    async with RoomEngine(store=store) as kit:

        @kit.hook(HookTrigger.BEFORE_BROADCAST)
        async def dawdle(event: RoomEvent) -> HookResult[RoomEvent]:
            await settled(300)
            return HookResult.allow()

        await seat(kit, Door(), agent("noon"))
        reader = kit.feed(ROOM).subscribe()
        await say(kit, "what time is it?")
        await settled(100)
    lines = [line async for line in reader.events()]
    assert lines[-1].type == "generation.detached"
    assert told(lines) == await stored(store)
