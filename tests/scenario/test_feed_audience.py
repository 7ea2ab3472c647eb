"""What participants may read in a room's feed: nothing of what an agent decides, and no words kept from their channels."""

import asyncio
import json
from dataclasses import replace

from tests.scenario.deciding import deciding
from tests.scenario.jobs import CALL, job_after
from tests.scenario.jobs import house as job_house
from tests.scenario.rooms import ROOM, Door, agent, message, say, seat, settled
from tests.scenario.scripted import ROOM as HALL
from tests.scenario.scripted import ScriptedCall, house
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakDecision
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import FeedEvent, Subscription
from voiceagent.room.memory import MemoryStore

SECRET = "the code is 1234"


async def public(feed: Subscription) -> list[FeedEvent]:
    """The lines that everybody may read."""
    feed.close()
    return [line async for line in feed.events() if line.audience == "all"]


def telling(lines: list[FeedEvent], text: str = SECRET) -> list[str]:
    """The types of the lines that hold a text."""
    return [line.type for line in lines if text in json.dumps(line.as_json())]


def audiences(kit: RoomEngine, name: str, room: str = ROOM) -> list[object]:
    """Who may read the entries of a list in the room's snapshot."""
    entries = kit.snapshot(room)[name]
    assert isinstance(entries, list)
    return [one["audience"] for one in entries if isinstance(one, dict)]


async def test_why_an_agent_is_silent_is_for_hosts_alone(kit: RoomEngine) -> None:
    nova, _ = deciding(MockSpeakPolicy([SpeakDecision("silent", reason=SECRET)]))
    await seat(kit, Door(), nova)
    feed = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    lines = await public(feed)
    assert telling(lines) == []
    assert [line.data["disposition"] for line in lines if line.type == "input.settled"] == ["listened"]


async def test_what_an_agents_seat_keeps_from_people_is_not_told_while_it_is_made(kit: RoomEngine) -> None:
    await seat(kit, Door(), staff := Door("staff"), nova := agent(SECRET))
    await kit.attach_channel(ROOM, nova.channel_id, visibility="staff")
    feed = kit.feed(ROOM).subscribe()
    await say(kit, "hello")
    await settled()
    assert staff.texts == ["hello", SECRET]
    assert telling(await public(feed)) == []


async def test_a_job_of_an_agent_whose_seat_is_private_is_for_hosts_alone() -> None:
    make = job_after(100, SECRET, label=SECRET)
    async with job_house(MemoryStore(), make, [CALL], "on it", SECRET) as here:
        here.kit.register_channel(staff := Door("staff"))
        await here.kit.attach_channel(ROOM, "staff")
        await here.kit.attach_channel(ROOM, here.agent.channel_id, visibility="staff")
        await say(here.kit, "go")
        await asyncio.sleep(0.05)
        assert audiences(here.kit, "jobs") == ["host"]
        await settled()
        assert staff.texts[-1] == SECRET
        assert telling(await public(here.feed)) == []


async def test_a_spoken_answer_for_one_channel_is_not_in_everybodys_feed() -> None:
    async with house(agent=agent(SECRET)) as here:
        here.engine.register_channel(door := Door())
        await here.engine.attach_channel(HALL, door.channel_id)
        call = ScriptedCall("s1", [], until_ms=4_000)
        line = asyncio.create_task(here.receive(call))
        await asyncio.sleep(1)
        await here.engine.process_inbound(replace(message("hello"), response_visibility="voice"), room_id=HALL)
        await asyncio.sleep(0.5)
        assert audiences(here.engine, "speeches", HALL) == ["host"]
        await line
        assert SECRET not in door.texts
        lines = await here.read()
        assert "speech.finished" in telling(lines)
        assert telling([one for one in lines if one.audience == "all"]) == []
