"""A process that is killed while it appends loses no event that it acknowledged."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voiceagent.room.sqlite import SqliteStore

_ROOT = Path(__file__).resolve().parents[2]
_KILLS = 100
_FILES = 5
_MOST_BYTES = 1500


class Appender:
    """The process that forks the ones to be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("appender.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )

    def killed_after(self, file: Path, count: int) -> set[tuple[str, int]]:
        """Kills an appender once it has written `count` bytes of acknowledgements; every (room, index) it acknowledged."""
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
            assert len(heard) == count, "the appender died by itself"
            os.kill(child, signal.SIGKILL)
            while piece := stream.read(65536):
                heard += piece
        lines = heard.decode().split("\n")[:-1]
        return {(line.split()[0], int(line.split()[1])) for line in lines}

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate(timeout=10)
        assert self._process.returncode == 0


@pytest.fixture
def appender(tmp_path: Path) -> Iterator[Appender]:
    made = Appender(tmp_path)
    yield made
    made.close()


async def test_no_acknowledged_event_is_lost_in_a_hundred_kills(appender: Appender, tmp_path: Path) -> None:
    chance = random.Random(9)
    acknowledged: dict[Path, set[tuple[str, int]]] = {tmp_path / f"rooms-{number}.db": set() for number in range(_FILES)}
    for file in list(acknowledged) * (_KILLS // _FILES):
        acknowledged[file] |= appender.killed_after(file, chance.randint(0, _MOST_BYTES))
        store = await SqliteStore.open(file)
        for room in ("a", "b", "c"):
            events = await store.list_events(room)
            indices = [event.index for event in events]
            assert indices == list(range(len(indices)))
            assert all(event.content.body.startswith(f"{room} {event.index} ") for event in events)
            assert {index for name, index in acknowledged[file] if name == room} <= set(indices)
        await store.close()
    assert sum(map(len, acknowledged.values())) > _KILLS * 50
