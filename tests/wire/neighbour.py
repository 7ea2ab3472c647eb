"""Another process at a store's file: holds its lock, gives out an index of its own, or fills a disk that has no more space.

    python neighbour.py hold|append|fill|die|open FILE [LOCKING MODE]

It speaks a line on its standard output for each thing done, and `hold` lets go at a line on its standard input.
"""

import asyncio
import json
import os
import resource
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from voiceagent.errors import StoreError
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.sqlite import SqliteStore

_SOURCE = EventSource("voice", ChannelType.VOICE)
_NOBODY = 65534
_SPACE = 400_000


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _event(index: int, id: str, body: str) -> RoomEvent:
    return RoomEvent(id, "r", _SOURCE, TextContent(body), datetime(2026, 1, 1, tzinfo=UTC), index=index)


def _hold(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA locking_mode = {sys.argv[3]}")
        db.execute("BEGIN EXCLUSIVE")
        _say("held")
        sys.stdin.readline()
        db.execute("COMMIT")
    _say("free")


async def _append(path: Path) -> None:
    store = await SqliteStore.open(path)
    await store.append(_event(0, "theirs", "words"))
    await store.close()
    _say("done")


async def _until_refused(store: SqliteStore, start: int, most: int) -> tuple[int, str | None]:
    """The next free index, and why the one before it was refused."""
    for index in range(start, start + most):
        try:
            await store.append(_event(index, f"e{index}", "x" * 3000))
        except StoreError as error:
            return index, str(error)
    return start + most, None


async def _fill(path: Path) -> None:
    """Says how many were kept, the refusal, how many were readable then, and how far it came when there was space again."""
    store = await SqliteStore.open(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_SPACE, resource.RLIM_INFINITY))
    kept, error = await _until_refused(store, 0, 10_000)
    readable = len(await store.list_events("r"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    after, second = await _until_refused(store, kept, 20)
    await store.close()
    _say([kept, error, readable, after, second])


async def _die(path: Path) -> None:
    store = await SqliteStore.open(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_SPACE, _SPACE))
    _say((await _until_refused(store, 0, 10_000))[0])
    os._exit(0)


async def _open(path: Path) -> None:
    """Opens as somebody who is not root, for root may write anywhere."""
    if os.geteuid() == 0:
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    try:
        await (await SqliteStore.open(path)).close()
    except StoreError as error:
        _say(str(error))
    else:
        _say("opened")


def main() -> None:
    """Does the one thing it was started for."""
    path = Path(sys.argv[2])
    if sys.argv[1] == "hold":
        _hold(path)
        return
    works: dict[str, Callable[[Path], object]] = {
        "append": lambda file: asyncio.run(_append(file)),
        "fill": lambda file: asyncio.run(_fill(file)),
        "die": lambda file: asyncio.run(_die(file)),
        "open": lambda file: asyncio.run(_open(file)),
    }
    works[sys.argv[1]](path)


if __name__ == "__main__":
    main()
