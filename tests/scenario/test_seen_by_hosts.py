"""What hosts are shown of a deciding agent: the decision with its turn, and whether the room only listens."""

from tests.scenario.deciding import deciding, people
from tests.scenario.rooms import ROOM, Door, say, seat, settled
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.listening import Request, listening_in
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import FeedEvent

SCRIPT = ({"listen_request": 0.9}, {"directness": 0.0}, {"lift": 0.9}, {"directness": 0.0})


async def shown(kit: RoomEngine, *types: str) -> list[FeedEvent]:
    reader = kit.feed(ROOM).subscribe(after=0)
    reader.close()
    return [event async for event in reader.events() if event.type in types]


async def listened(kit: RoomEngine, policy: SpeakPolicy) -> list[FeedEvent]:
    nova, _ = deciding(policy)
    await seat(kit, Door(), nova)
    await people(kit, "Ana", "Bo")
    for text in ("just listen", "so", "you can talk again", "fine"):
        await say(kit, text)
        await settled(1_000)
    return await shown(kit, "room.listening", "input.decided")


async def test_a_change_of_the_listening_state_is_told_once(kit: RoomEngine) -> None:
    events = await listened(kit, ClassifierSpeakPolicy(MockClassifier(SCRIPT), agent_name="Nova"))
    states = [event for event in events if event.type == "room.listening"]
    assert [dict(event.data) for event in states] == [
        {"listening": True, "speaker": "Ana", "text": "just listen"},
        {"listening": False},
    ]
    assert {(event.audience, event.channel_id) for event in states} == {("host", "assistant")}
    assert [event.type for event in events][:2] == ["room.listening", "input.decided"]


async def test_it_is_told_through_a_policy_that_wraps_another(kit: RoomEngine) -> None:
    policy = AnswerOnly(ClassifierSpeakPolicy(MockClassifier(SCRIPT), agent_name="Nova"), ["Ana"])
    events = await listened(kit, policy)
    assert [event.data["listening"] for event in events if event.type == "room.listening"] == [True, False]


async def test_a_decision_carries_its_turn_as_an_evaluation_line(kit: RoomEngine) -> None:
    events = await listened(kit, ClassifierSpeakPolicy(MockClassifier(SCRIPT), agent_name="Nova"))
    turns = [event.data["turn"] for event in events if event.type == "input.decided"]
    assert all(isinstance(turn, dict) and turn["agent"] == "Nova" and turn["people"] == ["Ana", "Bo"] for turn in turns)
    assert [isinstance(turn, dict) and "listening" in turn for turn in turns] == [False, True, True, False]
    assert isinstance(turns[1], dict)
    assert turns[1]["history"] == [{"speaker": "Ana", "text": "just listen"}]


class Broken(SpeakPolicy):
    """Cannot tell whether it listens."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        return SpeakDecision("silent", "quiet")

    def listening(self, room_id: str) -> Request | None:
        raise RuntimeError("no")


async def test_a_policy_that_cannot_tell_still_decides(kit: RoomEngine) -> None:
    events = await listened(kit, Broken())
    assert [event.data["reason"] for event in events] == ["quiet"] * 4
    assert listening_in(MockSpeakPolicy(), ROOM) is None
