"""A policy on judgments: what a classifier makes of each turn of a small meeting, and what the rules make of that.

Runs on this machine without a key. With one: python examples/speaking_judgments.py jev (or openai).
"""

import asyncio
import sys

import voiceagent
from voiceagent import (
    AIChannel,
    Channel,
    ChannelType,
    Classifier,
    ClassifierSpeakPolicy,
    EchoModel,
    EmbeddedClassifier,
    InboundMessage,
    Participant,
    RoomEngine,
    TextContent,
)

ROOM = "meeting"
TALK = (
    ("Marie", "Shall we start with the numbers?"),
    ("Marie", "Paul, do you have the September numbers?"),
    ("Paul", "Not yet. I could ask Nova later."),
    ("Paul", "Maybe Nova would know."),
    ("Marie", "Nova, what were the sales in September?"),
    ("Paul", "And could you also, um,"),
    ("Marie", "Nova, just listen for now."),
    ("Paul", "What is the base URL of the test server?"),
    ("Marie", "Nova, what time is it?"),
    ("Marie", "You can talk again, Nova."),
)


def classifier(name: str) -> Classifier:
    """The classifier of that name."""
    match name:
        case "jev":
            return voiceagent.JevClassifier()
        case "openai":
            return voiceagent.OpenAIClassifier()
        case "embedded":
            return EmbeddedClassifier()
        case _:
            raise SystemExit(f"no classifier is called {name!r}: give embedded, jev or openai")


async def say(kit: RoomEngine, name: str, text: str) -> None:
    """Says something, and prints what was decided, and the weightiest of why."""
    feed = kit.feed(ROOM).subscribe()
    await kit.process_inbound(InboundMessage("chat", TextContent(text), name.lower()), room_id=ROOM)
    async for event in feed.events():
        if event.type != "input.decided":
            continue
        weighed = event.data["judgments"]
        assert isinstance(weighed, dict)
        shown = [f"{key} {value:.2f}" for key, value in weighed.items() if isinstance(value, float) and value >= 0.2]
        print(f"{name + ': ' + text:52} {event.data['mode']!s:6} {event.data['reason']!s:22} {', '.join(shown)}")
        break
    feed.close()


async def main(name: str = "embedded") -> None:
    """Plays the meeting."""
    judge = classifier(name)
    policy = ClassifierSpeakPolicy(judge, agent_name="Nova", agent_role="the team's assistant")
    async with RoomEngine() as kit:
        kit.register_channel(Channel("chat", ChannelType.TEXT))
        kit.register_channel(AIChannel("nova", provider=EchoModel(), speak_policy=policy))
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "chat")
        await kit.attach_channel(ROOM, "nova")
        for person in ("Marie", "Paul"):
            await kit.join(ROOM, Participant(person.lower(), person, connected_via=("chat",)))
        for person, text in TALK:
            await say(kit, person, text)
    await judge.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2]))
