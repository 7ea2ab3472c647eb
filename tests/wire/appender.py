"""Appends events to a store file until it is killed, and says on a pipe which ones were acknowledged.

Forked and killed as killing.py says. Acknowledgements are lines "ROOM INDEX", written after `append` has returned.
"""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path

from tests.wire.killing import serve
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.sqlite import SqliteStore

_SOURCE = EventSource("voice", ChannelType.VOICE)
_AT = datetime(2026, 1, 1, tzinfo=UTC)


async def _append_to_room(store: SqliteStore, room: str, acknowledgements: int) -> None:
    last = await store.last_index(room)
    index = 0 if last is None else last + 1
    while True:
        words = TextContent(f"{room} {index} " + "x" * (index * 37 % 700))
        await store.append(
            RoomEvent(f"{room}-{index}", room, _SOURCE, words, _AT, index=index, responds_to=f"{room}-{index - 1}")
        )
        os.write(acknowledgements, f"{room} {index}\n".encode())
        index += 1


async def _append(file: Path, acknowledgements: int) -> None:
    store = await SqliteStore.open(file)
    async with asyncio.TaskGroup() as group:
        for room in ("a", "b", "c"):
            group.create_task(_append_to_room(store, room, acknowledgements))


if __name__ == "__main__":
    serve(_append)
