"""Runs an agent whose job never ends, in a room of a store file, until it is killed; says "running" once the receipt was read."""

import asyncio
import sys
from pathlib import Path

from voiceagent import AIChannel, Channel, ChannelType, InboundMessage, Job, RoomEngine, ScriptedModel, TextContent, ToolCall
from voiceagent.room.sqlite import SqliteStore


async def fetch() -> Job:
    """Fetches for ever."""
    return Job(asyncio.Event().wait, label="Fetching")


async def main(file: Path) -> None:
    """Asks, and waits to be killed."""
    model = ScriptedModel([[ToolCall("c1", "fetch", "{}")], "On it."])
    async with RoomEngine(store=SqliteStore(file)) as kit:
        kit.register_channel(Channel("text", ChannelType.TEXT))
        kit.register_channel(AIChannel("assistant", provider=model, tools=[fetch]))
        await kit.create_room("r")
        for channel in ("text", "assistant"):
            await kit.attach_channel("r", channel)
        feed = kit.feed("r").subscribe()
        await kit.process_inbound(InboundMessage("text", TextContent("go"), "ana"), room_id="r")
        async for line in feed.events():
            if line.type == "generation.finished":
                sys.stdout.write("running\n")
                sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
