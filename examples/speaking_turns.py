"""Two people and an agent with a policy of its own: it speaks when named, offers when wondered about, and is silent otherwise."""

import asyncio

from voiceagent import (
    AIChannel,
    Channel,
    ChannelType,
    HookExecution,
    HookTrigger,
    InboundMessage,
    Participant,
    RoomEngine,
    ScriptedModel,
    SpeakDecision,
    SpeakDecisionEvent,
    SpeakPolicy,
    SpeakTurn,
    TextContent,
)

ROOM = "office"
TALK = (
    ("Alice", "The venue wants a headcount by Friday."),
    ("Bob", "I have no idea how many replied."),
    ("Alice", "I wonder whether Nova has the list."),
    ("Bob", "Nova, how many said yes so far?"),
    ("Alice", "That is more than I thought."),
)


class SpeaksWhenNamed(SpeakPolicy):
    """Reads the words of the turn, and nothing else."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """The three modes."""
        text = turn.event.content.body.lower()
        named = {"named": 1.0 if "nova" in text else 0.0}
        if "wonder" in text:
            return SpeakDecision("offer", reason="wondered about", judgments=named)
        if named["named"]:
            return SpeakDecision("speak", reason="named", judgments=named, notes=("Answer in one sentence.",))
        return SpeakDecision("silent", reason="not for me", judgments=named)


async def say(kit: RoomEngine, name: str, text: str) -> None:
    """Says something, and waits until the agent has decided and, if it speaks, answered."""
    feed = kit.feed(ROOM).subscribe()
    print(f"{name}: {text}")
    await kit.process_inbound(InboundMessage("chat", TextContent(text), name.lower()), room_id=ROOM)
    async for event in feed.events():
        if event.type == "input.decided" and event.data["mode"] == "silent":
            break
        if event.type == "generation.finished":
            print(f"Nova: {event.data['text']}")
            break
    feed.close()


async def main() -> None:
    """Plays the talk."""
    answers = ScriptedModel(["I have the list here. Shall I count?", "Seventeen have said yes."])
    async with RoomEngine() as kit:
        kit.register_channel(Channel("chat", ChannelType.TEXT))
        kit.register_channel(AIChannel("nova", provider=answers, speak_policy=SpeaksWhenNamed()))

        @kit.hook(HookTrigger.ON_SPEAK_DECISION, execution=HookExecution.ASYNC)
        async def on_decision(event: SpeakDecisionEvent) -> None:
            print(f"      [{event.decision.mode}: {event.decision.reason}]")

        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "chat")
        await kit.attach_channel(ROOM, "nova")
        for name in ("Alice", "Bob"):
            await kit.join(ROOM, Participant(name.lower(), name, connected_via=("chat",)))
        for name, text in TALK:
            await say(kit, name, text)


if __name__ == "__main__":
    asyncio.run(main())
