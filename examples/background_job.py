"""A tool whose work takes long: the agent says that it is on it, goes on talking, and comes back with the result by itself."""

import asyncio

from voiceagent import (
    AIChannel,
    Channel,
    ChannelType,
    EventType,
    InboundMessage,
    Job,
    RoomContext,
    RoomEngine,
    RoomEvent,
    ScriptedModel,
    TextContent,
    ToolCall,
)

ROOM = "room-1"


async def search_trains(to: str) -> Job:
    """Searches for trains; this takes a while."""

    async def work() -> str:
        await asyncio.sleep(0.5)
        return f"to {to}: 16:05 and 17:35"

    return Job(work, label=f"Searching for trains to {to}")


class Screen(Channel):
    """Prints what is said, and hands it on."""

    def __init__(self) -> None:
        super().__init__("screen", ChannelType.TEXT)
        self.said: asyncio.Queue[str] = asyncio.Queue()

    async def on_event(self, event: RoomEvent, context: RoomContext) -> None:
        """Something was said."""
        if event.type is EventType.MESSAGE:
            print(f"agent: {event.content.body}")
            self.said.put_nowait(event.content.body)


async def main() -> None:
    """Asks for trains, then for something else, and waits for the trains."""
    call = ToolCall("call-1", "search_trains", '{"to": "Lyon"}')
    looking, noon, found = "I am looking; it will take a moment.", "It is noon.", "The next trains leave at 16:05 and 17:35."
    model = ScriptedModel([[call], looking, noon, found])
    async with RoomEngine() as kit:
        kit.register_channel(screen := Screen())
        kit.register_channel(AIChannel("assistant", provider=model, tools=[search_trains]))
        await kit.create_room(ROOM)
        for channel in ("screen", "assistant"):
            await kit.attach_channel(ROOM, channel)
        feed = kit.feed(ROOM).subscribe()
        for question in ("Which trains go to Lyon?", "What time is it?"):
            print(f"ana: {question}")
            await kit.process_inbound(InboundMessage("screen", TextContent(question), "ana"), room_id=ROOM)
            await screen.said.get()
        await screen.said.get()
        async for line in feed.events():
            if line.type.startswith("job.") or line.type == "generation.finished":
                print(f"  {line.type} {line.data.get('label', line.data.get('active_job_ids'))}")
            if line.data.get("status") == "completed":
                break
        feed.close()


if __name__ == "__main__":
    asyncio.run(main())
