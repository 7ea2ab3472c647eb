"""A question and an instruction side by side: what each turn answers, and how to find the answers to one question."""

import asyncio

from voiceagent import (
    AIChannel,
    AIGenerationEvent,
    Channel,
    ChannelType,
    EventFilter,
    EventType,
    HookResult,
    HookTrigger,
    InboundMessage,
    Participant,
    RoomEngine,
    ScriptedModel,
    TextContent,
    add_turn_note,
    fence,
)

ROOM = "room-1"


async def answered(kit: RoomEngine, count: int) -> None:
    """Returns once so many turns have been answered since the room began."""
    feed = kit.feed(ROOM).subscribe(after=0)
    async for event in feed.events():
        count -= event.type == "generation.finished"
        if count == 0:
            break
    feed.close()


async def main() -> None:
    """Asks, instructs, and looks the answers up."""
    model = ScriptedModel(["Il est midi.", "La météo est arrivée : 8 degrés demain."])
    async with RoomEngine() as kit:
        kit.register_channel(Channel("ws-user", ChannelType.TEXT))
        kit.register_channel(AIChannel("assistant", provider=model))

        @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def scope_the_turn(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
            trigger = event.trigger
            print(f"turn of {event.channel_id} answers {trigger.id[:8]} ({trigger.type}): {trigger.content.body!r}")
            note = "This turn answers the message below. Answer that only.\n" + fence("message", trigger.content.body)
            event.ai_context.messages = add_turn_note(event.ai_context.messages, note)
            return HookResult.allow()

        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "ws-user")
        await kit.attach_channel(ROOM, "assistant")
        await kit.join(ROOM, Participant("ana", "Ana", connected_via=("ws-user",)))

        asked = await kit.process_inbound(InboundMessage("ws-user", TextContent("Quelle heure est-il ?"), "ana"), room_id=ROOM)
        assert asked.event is not None
        await answered(kit, 1)
        await kit.deliver(ROOM, "Share the weather result: 8 degrees tomorrow.", instruction=True)
        await answered(kit, 2)

        for event in await kit.store.list_events(ROOM, event_filter=EventFilter(types=(EventType.MESSAGE,))):
            answers = f" → answers {event.responds_to[:8]}" if event.responds_to else ""
            print(f"  #{event.index} {event.source.channel_id}: {event.content.body!r}{answers}")
        found = await kit.store.list_events(ROOM, event_filter=EventFilter(responds_to=asked.event.id))
        print(f"Answers to {asked.event.id[:8]}: {[event.content.body for event in found]}")


if __name__ == "__main__":
    asyncio.run(main())
