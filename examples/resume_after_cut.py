"""An answer is talked over: after "mm-hm" the agent goes on from where it was cut, after a question it answers that."""

import asyncio

from voiceagent import (
    AIChannel,
    Channel,
    ChannelType,
    ClassifierSpeakPolicy,
    InboundMessage,
    MockClassifier,
    Participant,
    RoomEngine,
    RoomEvent,
    ScriptedModel,
    TextContent,
)

ROOM = "kitchen"
FORECAST = "Tomorrow in Quebec it snows in the morning, and in the afternoon the sky clears, with eight degrees below zero."
HEARD = "Tomorrow in Quebec it snows in the morning,"


async def say(kit: RoomEngine, text: str) -> RoomEvent:
    """Says something, and waits until it is answered."""
    feed = kit.feed(ROOM).subscribe()
    print(f"Ana: {text}")
    result = await kit.process_inbound(InboundMessage("telephone", TextContent(text), "ana"), room_id=ROOM)
    assert result.event is not None
    async for event in feed.events():
        if event.type == "input.decided":
            print(f"      [{event.data['mode']}: {event.data['reason']}]")
        if event.type == "generation.finished":
            print(f"Nova: {event.data['text']}")
            break
    feed.close()
    return result.event


async def cut(kit: RoomEngine, telephone: Channel, asked: RoomEvent) -> None:
    """What the voice layer does when somebody talks over an answer: it writes down what was cut, and after how long."""
    record: dict[str, str | int] = {
        "interrupted": True,
        "played_ms": 2_600,
        "answer_channel_id": "nova",
        "answer_responds_to": asked.id,
    }
    await kit.host.write_record(telephone, ROOM, FORECAST, record)
    print(f"      [cut after 2.6 s: {HEARD!r} was heard]")


async def main() -> None:
    """The same cut twice, with two turns behind it."""
    asked = {"directness": 3.0, "request": 0.95}
    judged = MockClassifier([asked, {"resume": 0.9}, asked, {**asked, "resume": 0.05}])
    answers = [
        "As I was saying, in the afternoon the sky clears, with eight degrees below zero.",
        FORECAST,
        "In Montreal it rains.",
    ]
    model = ScriptedModel([FORECAST, *answers])
    async with RoomEngine() as kit:
        telephone = Channel("telephone", ChannelType.VOICE)
        kit.register_channel(telephone)
        kit.register_channel(AIChannel("nova", provider=model, speak_policy=ClassifierSpeakPolicy(judged, agent_name="Nova")))
        await kit.create_room(ROOM)
        await kit.attach_channel(ROOM, "telephone")
        await kit.attach_channel(ROOM, "nova")
        await kit.join(ROOM, Participant("ana", "Ana", connected_via=("telephone",)))
        for reaction in ("Mm-hm.", "Wait, and for Montreal?"):
            asked_event = await say(kit, "Nova, what will the weather be?")
            await cut(kit, telephone, asked_event)
            await say(kit, reaction)
        marked = [m.content.split("\n")[-1] for m in model.prompts[1].messages if m.role == "assistant"]
        print(f"The model read behind the cut answer: {marked[-1]}")


if __name__ == "__main__":
    asyncio.run(main())
