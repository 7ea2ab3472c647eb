"""A process that is killed while it talks takes back no line that a reader was given; its feeds equal the store afterwards."""

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.killing import Killer
from voiceagent.room.events import RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.opening import Opening
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter

_KILLS = 40
_FILES = 4
_MOST_BYTES = 6_000
_ROOMS = ("a", "b", "c")

Seen = dict[tuple[str, int], str]


@pytest.fixture
def feeder(tmp_path: Path) -> Iterator[Killer]:
    made = Killer("feeder.py", tmp_path)
    yield made
    made.close()


async def _opened(file: Path) -> dict[str, tuple[list[FeedEvent], list[RoomEvent]]]:
    """Every room's kept lines and its events, after it has been opened once."""
    store = await SqliteStore.open(file)
    opening = Opening(store)
    found = {}
    for room in _ROOMS:
        await opening.room(room)
        await opening.flush()
        lines = await store.feed_lines.after(room, 0, 100_000)
        found[room] = (lines, await store.list_events(room, event_filter=EventFilter(blocked=True)))
    await opening.close()
    await store.close()
    return found


def _is_whole(lines: list[FeedEvent], events: list[RoomEvent]) -> None:
    """Numbers without a gap; each event told once, in order, and before what names it; each input settled once."""
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert [line.event.id for line in lines if line.event is not None] == [event.id for event in events]
    told: set[str] = set()
    for line in lines:
        if line.event is not None:
            told.add(line.event.id)
        named = line.data.get("event_ids", ())
        assert isinstance(named, list | tuple)
        assert set(named) <= told
    accepted = [line.input_id for line in lines if line.type == "input.accepted"]
    assert sorted(line.input_id or "" for line in lines if line.type == "input.settled") == sorted(one or "" for one in accepted)


async def test_what_a_reader_was_given_is_there_after_a_kill_under_the_same_number(feeder: Killer, tmp_path: Path) -> None:
    chance = random.Random(4)
    seen: dict[Path, Seen] = {tmp_path / f"rooms-{number}.db": {} for number in range(_FILES)}
    for file in list(seen) * (_KILLS // _FILES):
        said = feeder.killed_after(file, chance.randint(0, _MOST_BYTES))
        new: Seen = {(room, int(seq)): digest for room, seq, digest in said}
        assert all(seen[file].get(place, digest) == digest for place, digest in new.items())
        seen[file] |= new
        for room, (lines, events) in (await _opened(file)).items():
            _is_whole(lines, events)
            kept = {(room, line.seq): hashlib.sha256(line.text().encode()).hexdigest()[:16] for line in lines}
            assert {place: digest for place, digest in seen[file].items() if place[0] == room}.items() <= kept.items()
    assert sum(map(len, seen.values())) > _KILLS * 20
