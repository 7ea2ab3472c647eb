"""A process that is killed while it talks takes back no line that a reader was given; its feeds equal the store afterwards."""

import hashlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voiceagent.room.events import RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.opening import Opening
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import EventFilter

_ROOT = Path(__file__).resolve().parents[2]
_KILLS = 40
_FILES = 4
_MOST_BYTES = 6_000
_ROOMS = ("a", "b", "c")

Seen = dict[tuple[str, int], str]


class Feeder:
    """The process that forks the ones to be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("feeder.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )

    def killed_after(self, file: Path, count: int) -> Seen:
        """Kills a talker once its readers have said `count` bytes; every line that they were given, by room and number."""
        assert self._process.stdin
        assert self._process.stdout
        self._number += 1
        pipe = self._folder / f"pipe-{self._number}"
        os.mkfifo(pipe)
        self._process.stdin.write(f"{file}\t{pipe}\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        with pipe.open("rb", buffering=0) as stream:
            heard = b""
            while len(heard) < count and (piece := stream.read(count - len(heard))):
                heard += piece
            assert len(heard) == count, "the talker died by itself"
            os.kill(child, signal.SIGKILL)
            while piece := stream.read(65536):
                heard += piece
        lines = [line.split() for line in heard.decode().split("\n")[:-1]]
        return {(room, int(seq)): digest for room, seq, digest in lines}

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=10)
        assert self._process.returncode == 0


@pytest.fixture
def feeder(tmp_path: Path) -> Iterator[Feeder]:
    made = Feeder(tmp_path)
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


async def test_what_a_reader_was_given_is_there_after_a_kill_under_the_same_number(feeder: Feeder, tmp_path: Path) -> None:
    chance = random.Random(4)
    seen: dict[Path, Seen] = {tmp_path / f"rooms-{number}.db": {} for number in range(_FILES)}
    for file in list(seen) * (_KILLS // _FILES):
        new = feeder.killed_after(file, chance.randint(0, _MOST_BYTES))
        assert all(seen[file].get(place, digest) == digest for place, digest in new.items())
        seen[file] |= new
        for room, (lines, events) in (await _opened(file)).items():
            _is_whole(lines, events)
            kept = {(room, line.seq): hashlib.sha256(line.text().encode()).hexdigest()[:16] for line in lines}
            assert {place: digest for place, digest in seen[file].items() if place[0] == room}.items() <= kept.items()
    assert sum(map(len, seen.values())) > _KILLS * 20
