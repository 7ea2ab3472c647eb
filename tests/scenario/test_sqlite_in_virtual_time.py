"""A file's thread takes no time on the virtual clock."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from voiceagent import clock
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.room.sqlite import SqliteStore

_SOURCE = EventSource("voice", ChannelType.VOICE)


def _event(index: int) -> RoomEvent:
    return RoomEvent(f"e{index}", "r", _SOURCE, TextContent("words"), datetime(2026, 1, 1, tzinfo=UTC), index=index)


async def test_time_stands_still_while_the_database_works(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    timer = asyncio.create_task(asyncio.sleep(0.001))
    began = clock.now()
    for index in range(20):
        await store.append(_event(index))
    listed = await store.list_events("r")
    await store.close()
    assert clock.now() == began
    assert not timer.done()
    assert len(listed) == 20
    await timer
    assert clock.now() == began + 1
