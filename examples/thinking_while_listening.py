"""Two people look for a price: the agent listens, thinks, raises its hand, and tells what it thinks when asked."""

import asyncio

from voiceagent import (
    AIChannel,
    Channel,
    ChannelType,
    ClassifierSpeakPolicy,
    HookExecution,
    HookTrigger,
    InboundMessage,
    MockClassifier,
    MockThinker,
    Participant,
    RoomEngine,
    ScriptedModel,
    SpeakDecisionEvent,
    TextContent,
    Thought,
    ThoughtEvent,
)

ROOM = "meeting"
TALK = (
    ("Alice", "Let us go through the budget."),
    ("Bob", "What does a licence cost? I cannot find it."),
    ("Alice", "Nova, what are you thinking about?"),
)
JUDGED = (
    {"directness": 0.0},
    {"directness": 0.1},
    {"directness": 0.1, "answers": 0.92},
    {"directness": 3.0, "request": 0.97},
)
THOUGHTS = (
    Thought("Alice opens the budget."),
    Thought("Bob is looking for the price of a licence.", ("A licence costs 1,200 $ a year.",)),
)


async def say(kit: RoomEngine, name: str, text: str, ends: str) -> None:
    """Says something, and waits for the kind of event that ends the turn."""
    feed = kit.feed(ROOM).subscribe()
    print(f"{name}: {text}")
    await kit.process_inbound(InboundMessage("chat", TextContent(text), name.lower()), room_id=ROOM)
    async for event in feed.events():
        if event.type == ends:
            if ends == "generation.finished":
                print(f"Nova: {event.data['text']}")
            break
    feed.close()


async def main() -> None:
    """Plays the talk with scripted judgments and thoughts; with a key, put JevClassifier() and LLMThinker(provider) here."""
    nova = AIChannel(
        "nova",
        provider=ScriptedModel(["I may have that price. Shall I?", "That you are looking for the price of a licence."]),
        system_prompt="You are Nova, the team's assistant. A licence costs 1,200 $ a year.",
        speak_policy=ClassifierSpeakPolicy(MockClassifier(JUDGED), agent_name="Nova"),
        thinker=MockThinker(THOUGHTS),
        think_wait=1.5,
    )
    async with RoomEngine() as kit:
        kit.register_channel(Channel("chat", ChannelType.TEXT))
        kit.register_channel(nova)

        @kit.hook(HookTrigger.ON_THOUGHT, execution=HookExecution.ASYNC)
        async def on_thought(event: ThoughtEvent) -> None:
            took = f"{event.duration_ms} ms" if event.duration_ms is not None else "spoken"
            print(f"      (thinks, {took}: {event.thought.text} {list(event.thought.want_to_say)})")

        @kit.hook(HookTrigger.ON_SPEAK_DECISION, execution=HookExecution.ASYNC)
        async def on_decision(event: SpeakDecisionEvent) -> None:
            print(f"      [{event.decision.mode}: {event.decision.reason}{', asked again' if event.asked_again else ''}]")

        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "chat")
        await kit.attach_channel(ROOM, "nova")
        for name in ("Alice", "Bob"):
            await kit.join(ROOM, Participant(name.lower(), name, connected_via=("chat",)))
        for (name, text), ends in zip(TALK, ("thought.updated", "generation.finished", "generation.finished"), strict=True):
            await say(kit, name, text, ends)


if __name__ == "__main__":
    asyncio.run(main())
