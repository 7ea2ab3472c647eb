"""Talks in the rooms of a file until it is killed, and says on a pipe which lines of their feeds a reader was given.

Forked and killed as killing.py says. On the pipe come lines "ROOM SEQ DIGEST", the digest being that of the line's JSON text.
"""

import asyncio
import hashlib
import os
from itertools import count
from pathlib import Path

from tests.wire.killing import serve
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType, InboundMessage, TextContent
from voiceagent.room.feed import Subscription
from voiceagent.room.sqlite import SqliteStore


async def _read(room: str, reader: Subscription, pipe: int) -> None:
    async for line in reader.events():
        if line.seq is not None:
            digest = hashlib.sha256(line.text().encode()).hexdigest()[:16]
            os.write(pipe, f"{room} {line.seq} {digest}\n".encode())


async def _talk(kit: RoomEngine, room: str) -> None:
    feed = kit.feed(room)
    for number in count():
        feed.publish("fact", {"number": number, "words": "x" * (number * 37 % 700)})
        result = await kit.process_inbound(InboundMessage("text", TextContent(f"{number}"), "ana"), room_id=room)
        feed.publish("delta", {}, durable=False)
        feed.publish("names", {"event_ids": [result.event.id if result.event else None]})


async def _live(file: Path, pipe: int) -> None:
    async with RoomEngine(store=await SqliteStore.open(file)) as kit, asyncio.TaskGroup() as group:
        kit.register_channel(Channel("text", ChannelType.TEXT))
        for room in ("a", "b", "c"):
            await kit.create_room(room)
            await kit.attach_channel(room, "text")
            group.create_task(_read(room, kit.feed(room).subscribe(), pipe))
            group.create_task(_talk(kit, room))


if __name__ == "__main__":
    serve(_live)
