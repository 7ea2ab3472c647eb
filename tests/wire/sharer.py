"""A process that talks in a room which other processes talk in, too, and says what it saw there.

    python sharer.py ADDRESS NAME COUNT TOTAL

It opens the room, says "ready", and waits for a line on its standard input; then it sends COUNT messages, five at a time, and
ends once its feed has shown TOTAL events: it prints their words and indices as JSON, in the order of the feed.
"""

import asyncio
import json
import sys

from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.postgres import PostgresStore


async def _send(kit: RoomEngine, name: str, numbers: list[int]) -> None:
    for number in numbers:
        message = InboundMessage(name, TextContent(f"{name} {number}"), idempotency_key=f"{number}")
        result = await kit.process_inbound(message, room_id="r")
        assert result.event is not None
        assert not result.duplicate


async def _share(address: str, name: str, count: int, total: int) -> list[tuple[str, int | None]]:
    store = PostgresStore(address)
    await store.init()
    async with RoomEngine(store=store) as kit:
        kit.register_channel(Channel(name, ChannelType.TEXT))
        await kit.create_room("r")
        await kit.attach_channel("r", name)
        reader = kit.feed("r").subscribe(after=0)
        print("ready", flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)
        async with asyncio.TaskGroup() as group:
            for start in range(5):
                group.create_task(_send(kit, name, list(range(start, count, 5))))
        seen: list[tuple[str, int | None]] = []
        async for line in reader.events():
            if line.event is not None:
                seen.append((line.event.content.body, line.event.index))
            if len(seen) == total:
                break
    await store.close()
    return seen


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_share(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))))  # noqa: T201
