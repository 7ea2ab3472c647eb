"""A process that is killed while it appends loses no event that it acknowledged."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.killing import Killer
from voiceagent.room.sqlite import SqliteStore

_KILLS = 100
_FILES = 5
_MOST_BYTES = 1500


@pytest.fixture
def appender(tmp_path: Path) -> Iterator[Killer]:
    made = Killer("appender.py", tmp_path)
    yield made
    made.close()


async def test_no_acknowledged_event_is_lost_in_a_hundred_kills(appender: Killer, tmp_path: Path) -> None:
    chance = random.Random(9)
    acknowledged: dict[Path, set[tuple[str, int]]] = {tmp_path / f"rooms-{number}.db": set() for number in range(_FILES)}
    for file in list(acknowledged) * (_KILLS // _FILES):
        said = appender.killed_after(file, chance.randint(0, _MOST_BYTES))
        acknowledged[file] |= {(room, int(index)) for room, index, *_ in said}
        store = await SqliteStore.open(file)
        for room in ("a", "b", "c"):
            events = await store.list_events(room)
            indices = [event.index for event in events]
            assert indices == list(range(len(indices)))
            assert all(event.content.body.startswith(f"{room} {event.index} ") for event in events)
            assert {index for name, index in acknowledged[file] if name == room} <= set(indices)
        await store.close()
    assert sum(map(len, acknowledged.values())) > _KILLS * 50
