"""How far agents go on by themselves: counted, waiting in order, let go by a person's own message, and by nothing else."""

import asyncio
from dataclasses import replace

import pytest

from voiceagent import clock
from voiceagent.room.events import ChannelType, EventSource, EventStatus, EventType, RoomEvent, TextContent
from voiceagent.room.leash import MOST, Leash

SAID = RoomEvent("e1", "r", EventSource("text", ChannelType.TEXT, participant_id="ana"), TextContent("go on"), clock.utc())


async def taut() -> tuple[Leash, list[int], list[asyncio.Task[None]]]:
    """A leash that is used up, and two that wait; who was let go is written down."""
    leash, gone = Leash(), list[int]()
    for _ in range(MOST):
        await asyncio.wait_for(leash.turn(), 1)

    async def wait(number: int) -> None:
        await leash.turn()
        gone.append(number)

    tasks = [asyncio.ensure_future(wait(number)) for number in range(2)]
    await asyncio.sleep(0)
    return leash, gone, tasks


async def test_who_waits_goes_in_order_once_a_person_has_said_something() -> None:
    leash, gone, tasks = await taut()
    assert gone == []
    leash.heard(SAID)
    await asyncio.gather(*tasks)
    assert gone == [0, 1]
    for _ in range(MOST - 2):
        await asyncio.wait_for(leash.turn(), 1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(leash.turn(), 1)


@pytest.mark.parametrize(
    "event",
    [
        replace(SAID, source=EventSource("nova", ChannelType.AI, participant_id="nova")),
        replace(SAID, source=EventSource("system", ChannelType.SYSTEM)),
        replace(SAID, status=EventStatus.BLOCKED),
        replace(SAID, type=EventType.SYSTEM),
    ],
)
async def test_nothing_else_lets_them_go(event: RoomEvent) -> None:
    leash, gone, tasks = await taut()
    leash.heard(event)
    await asyncio.sleep(1)
    assert gone == []
    leash.end()
    await asyncio.gather(*tasks)


async def test_who_gives_up_waiting_takes_nobodys_turn() -> None:
    leash, gone, tasks = await taut()
    tasks[0].cancel()
    await asyncio.sleep(0)
    leash.heard(SAID)
    await tasks[1]
    assert gone == [1]
