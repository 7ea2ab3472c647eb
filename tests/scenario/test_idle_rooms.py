"""What a room costs in which nobody has said anything yet."""

import tracemalloc

from voiceagent.agent.channel import AIChannel
from voiceagent.llm.scripted import EchoModel
from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import ChannelType

ROOMS = 200
MOST_BYTES = 3_200  # 2,400 when this was written; a queue or an event that is made before it is needed costs 700


async def test_an_idle_room_keeps_nothing_that_waits_for_something_to_happen() -> None:
    async with RoomEngine() as kit:
        kit.register_channel(Channel("text", ChannelType.TEXT))
        kit.register_channel(AIChannel("assistant", provider=EchoModel()))

        async def seat(first: int, last: int) -> None:
            for number in range(first, last):
                room = await kit.create_room(f"room-{number}")
                await kit.attach_channel(room, "text")
                await kit.attach_channel(room, "assistant")

        await seat(0, 10)
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            await seat(10, 10 + ROOMS)
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (after - before) / ROOMS < MOST_BYTES
