"""A stored room gone through again gives a policy the turns that it was asked about then, as it read them."""

from tests.scenario.deciding import deciding, people
from tests.scenario.rooms import ROOM, Door, rows, say, seat, settled
from voiceagent.agent.past import PastRoom
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakTurn
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import EventType

TEXTS = ("The venue wants a headcount.", "Nova, how many?", "Thanks.")


def read(turn: SpeakTurn) -> tuple[object, ...]:
    return (
        turn.event.id,
        [event.id for event in turn.recent],
        list(turn.people),
        dict(turn.speakers),
        turn.channel_id,
        turn.cut,
    )


async def lived(kit: RoomEngine) -> MockSpeakPolicy:
    policy = MockSpeakPolicy(["silent", "speak", "silent", "silent"])
    nova, _ = deciding(policy)
    await seat(kit, Door(), nova)
    await people(kit, "Ana", "Bo", "Cleo")
    for text, sender in zip(TEXTS, ("ana", "bo", "ana"), strict=True):
        await say(kit, text, sender=sender)
        await settled(1_000)
    await kit.leave(ROOM, "cleo")
    await say(kit, "Are you there?", sender="ana")
    await settled(1_000)
    return policy


async def past(kit: RoomEngine) -> PastRoom:
    return PastRoom(ROOM, await rows(kit), await kit.store.list_participants(ROOM))


async def test_the_turns_are_the_ones_that_were_judged(kit: RoomEngine) -> None:
    policy = await lived(kit)
    again = [one.turn for one in (await past(kit)).turns("assistant", 50)]
    assert [read(turn) for turn in again] == [read(turn) for turn in policy.turns]
    assert [len(turn.people) for turn in again] == [3, 3, 3, 2]


async def test_it_knows_what_was_answered(kit: RoomEngine) -> None:
    await lived(kit)
    turns = list((await past(kit)).turns("assistant", 50))
    assert [one.answered for one in turns] == [False, True, False, False]
    assert (turns[1].answer, turns[1].speaker) == ("Noon.", "Bo")


async def test_a_room_without_that_agent_is_gone_through_too(kit: RoomEngine) -> None:
    await seat(kit, Door())
    await people(kit, "Ana")
    await say(kit, "Hello?")
    room = await past(kit)
    turns = list(room.turns("assistant", 50))
    assert room.agents == ["assistant"]
    assert [(one.turn.event.content.body, one.answered, list(one.turn.people)) for one in turns] == [("Hello?", False, ["Ana"])]


async def test_without_comings_and_goings_everybody_is_there(kit: RoomEngine) -> None:
    await lived(kit)
    events = [event for event in await rows(kit) if event.type is not EventType.SYSTEM]
    turns = list(PastRoom(ROOM, events, await kit.store.list_participants(ROOM)).turns("assistant", 50))
    assert {tuple(one.turn.people) for one in turns} == {("Ana", "Bo", "Cleo")}
