"""An agent that hears everybody and answers some: statements 64 to 68 on the engine."""

import pytest

from tests.scenario.deciding import Watch, deciding, people, spoken
from tests.scenario.rooms import ROOM, Door, say, seat, settled
from voiceagent import clock
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.policy import AlwaysSpeak, MockSpeakPolicy, SpeakPolicy
from voiceagent.judgment.thinker import MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        ("Sylvain", "Sylvain"),
        ("sylvain", "SYLVAIN"),
        (" Sylvain ", "Syl vain"),
        ("Marie Claire", "marieclaire"),
        ("Straße", "STRASSE"),
    ],
)
async def test_s07_064_a_listed_person_is_matched_whatever_case_and_spacing(kit: RoomEngine, listed: str, name: str) -> None:
    inner = MockSpeakPolicy(["speak"])
    nova, _ = deciding(AnswerOnly(inner, people=[listed]))
    await seat(kit, door := Door(), nova)
    await people(kit, name)
    await say(kit, "hello", sender=name.lower())
    await settled()
    assert (spoken(door), len(inner.turns)) == (["Noon."], 1)


async def test_s07_064_the_person_named_is_not_silenced_by_who_took_the_name_first(kit: RoomEngine) -> None:
    inner = MockSpeakPolicy(["speak"])
    nova, _ = deciding(AnswerOnly(inner, people=["Alice"]))
    await seat(kit, Door(), nova)
    await people(kit, "ALICE")
    await kit.join(ROOM, Participant("the real one", "Alice", connected_via=("text",)))
    await say(kit, "first", sender="alice")
    second = await say(kit, "second", sender="the real one")
    await settled()
    assert inner.turns[-1].event.id == second.id
    assert inner.turns[-1].speakers[second.id] == "Alice (2)"


@pytest.mark.parametrize(("name", "sender"), [("Ben", "ben"), (None, "nobody"), ("", None)])
async def test_s07_064_anybody_else_is_only_listened_to(kit: RoomEngine, name: str | None, sender: str | None) -> None:
    watch, inner = Watch(kit), MockSpeakPolicy(["speak"])
    nova, model = deciding(AnswerOnly(inner, people=["Sylvain"]))
    await seat(kit, Door(), nova)
    if name:
        await people(kit, name)
    await say(kit, "hello", sender=sender)
    await settled()
    assert watch.modes == [("silent", "only listened to")]
    assert watch.decisions[0].decision.final
    assert (inner.turns, model.prompts) == ([], [])


async def test_s07_065_who_is_only_listened_to_is_thought_about_and_waited_for_by_nobody(kit: RoomEngine) -> None:
    watch, thinker = Watch(kit), MockThinker([Thought("The news are on.", ("It is false.",))], delay=1.0)
    nova, _ = deciding(AnswerOnly(MockSpeakPolicy(["speak"]), people=["Sylvain"]), thinker=thinker)
    await seat(kit, Door(), nova)
    await people(kit, "Television")
    began = clock.now()
    event = await say(kit, "breaking news", sender="television")
    await settled()
    assert await kit.store.get_event(ROOM, event.id) is not None
    assert watch.decided_at == [began]
    assert [(e.thought.text, e.duration_ms) for e in watch.thoughts] == [("The news are on.", 1_000)]
    ((heard, _),) = thinker.calls
    assert (heard.messages[-1].name, heard.messages[-1].content) == ("Television", "breaking news")


async def test_s07_066_the_wrapped_policy_sees_only_the_people_listed(kit: RoomEngine) -> None:
    inner = MockSpeakPolicy(["silent"])
    nova, _ = deciding(AnswerOnly(inner, people=["Sylvain", "Ana"]))
    await seat(kit, Door(), nova)
    await people(kit, "Television", "Sylvain", "Ben")
    await say(kit, "what did they say?", sender="sylvain")
    await settled()
    assert list(inner.turns[0].people) == ["Sylvain"]


async def test_s07_066_the_speaker_is_among_them_when_the_room_calls_the_microphone_otherwise(kit: RoomEngine) -> None:
    inner = MockSpeakPolicy(["silent"])
    nova, _ = deciding(AnswerOnly(inner, people=["Sylvain"]))
    await seat(kit, Door(), nova)
    await people(kit, "Living room")
    said = InboundMessage("text", TextContent("what did they say?"), "living room", metadata={"sender_name": "Sylvain"})
    await kit.process_inbound(said, room_id=ROOM)
    await settled()
    assert list(inner.turns[0].people) == ["Sylvain"]


def test_s07_067_what_names_nobody_is_refused() -> None:
    with pytest.raises(TypeError, match=r"people=\['Sylvain'\]"):
        AnswerOnly(AlwaysSpeak(), people="Sylvain")
    for nobody in ([], [""], ["  ", "\u200b"]):
        with pytest.raises(ValueError, match="nobody"):
            AnswerOnly(AlwaysSpeak(), people=nobody)


async def test_s07_067_forgetting_and_closing_reach_the_wrapped_policy() -> None:
    class Inner(MockSpeakPolicy):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    inner = Inner()
    async with RoomEngine() as kit:
        await seat(kit, Door(), deciding(AnswerOnly(inner, people=["Sylvain"]))[0])
        assert inner.forgotten == [ROOM]
    assert (inner.forgotten, inner.closed) == ([ROOM, ROOM], 1)


async def test_s07_068_an_instruction_reaches_no_policy_and_is_answered(kit: RoomEngine) -> None:
    watch, inner = Watch(kit), MockSpeakPolicy(["silent"])
    policy: SpeakPolicy = AnswerOnly(inner, people=["Sylvain"])
    await seat(kit, door := Door(), deciding(policy)[0])
    await people(kit, "Ben")
    await kit.deliver(ROOM, "Tell Ben that the job is done.", instruction=True)
    await settled()
    assert (spoken(door), watch.decisions, inner.turns) == (["Noon."], [], [])
