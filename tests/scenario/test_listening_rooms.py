"""A room that was asked to only be listened to: when that begins and ends, and what fails in it without breaking the silence."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import pytest

from tests.scenario.deciding import Watch, deciding, people, spoken
from tests.scenario.rooms import ROOM, Door, say, seat, settled
from tests.scenario.test_judgment_faults import FAULTS, SLOW, Fault, FaultyOnce, Thinker
from voiceagent import clock
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.classifier.question import Answers, Question, State
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import CutReply, SpeakPolicy, SpeakTurn
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookResult, HookTrigger

CUT = CutReply("It will be sunny and", 900, clock.utc())
LISTEN, LIFT = "Just listen for now.", "You can talk again."


async def goes_on_though_it_is_stopped() -> Any:
    ends = clock.now() + 30_000
    while clock.now() < ends:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(5)


class ByWords:
    """Judges by the words of these tests alone; `fault`, if any, is what the next call comes to."""

    def __init__(self) -> None:
        self.fault: FaultyOnce | None = None

    def classify(self, state: State, questions: Mapping[str, Question]) -> Any:
        said = str(state["last_turn"])
        script = {"listen_request": float(LISTEN in said), "lift": float(LIFT in said), "directness": 3.0 * ("Nova" in said)}
        failed = self.fault() if self.fault is not None else None
        return failed or self._judged(script, questions)

    async def _judged(self, script: Mapping[str, float], questions: Mapping[str, Question]) -> Answers:
        return await MockClassifier(script).classify({}, questions)

    async def close(self) -> None: ...


def judging() -> tuple[ByWords, ClassifierSpeakPolicy]:
    classifier = ByWords()
    return classifier, ClassifierSpeakPolicy(classifier, agent_name="Nova")


async def asked_to_listen(kit: RoomEngine, policy: SpeakPolicy, **options: Any) -> tuple[Door, Watch]:
    """A room with an agent that has just been asked to only listen."""
    watch = Watch(kit)
    await seat(kit, door := Door(), deciding(policy, **options)[0])
    await say(kit, LISTEN)
    await settled()
    assert watch.modes == [("silent", "asked to listen")]
    return door, watch


async def test_s07_082_listening_is_kept_per_room_and_forgotten_on_joining_leaving_and_starting_anew(kit: RoomEngine) -> None:
    _, policy = judging()
    door, watch = await asked_to_listen(kit, policy)
    await kit.create_room("another")
    for channel_id in ("text", "assistant"):
        await kit.attach_channel("another", channel_id)
    assert (policy.listening(ROOM) is not None, policy.listening("another")) == (True, None)
    await kit.detach_channel(ROOM, "assistant")
    assert policy.listening(ROOM) is None
    await kit.attach_channel(ROOM, "assistant")
    await say(kit, "Nova, what time is it?")
    await settled()
    assert watch.modes[-1] == ("speak", "addressed")
    assert spoken(door) == ["Noon."]
    assert judging()[1].listening(ROOM) is None


async def test_s07_085_every_other_turn_is_a_final_silence_that_says_so_until_it_is_lifted(kit: RoomEngine) -> None:
    _, policy = judging()
    door, watch = await asked_to_listen(kit, policy)
    for number in range(10):
        await say(kit, f"Point {number}, Nova has it.")
    await say(kit, LIFT)
    await say(kit, "Nova, what time is it?")
    await settled()
    listened = [event.decision for event in watch.decisions[1:11]]
    assert {(one.mode, one.reason, one.final) for one in listened} == {("silent", "listening", True)}
    assert all(one.judgments["listening"] == 1.0 for one in listened)
    assert watch.modes[11:] == [("silent", "not addressed"), ("speak", "addressed")]
    assert spoken(door) == ["Noon."]


class Resuming(ByWords):
    """Would have every cut answer gone on with."""

    async def _judged(self, script: Mapping[str, float], questions: Mapping[str, Question]) -> Answers:
        assert "resume" not in questions
        return await super()._judged(script, questions)


async def test_s07_087_a_cut_answer_is_not_even_asked_about_while_the_room_listens(kit: RoomEngine) -> None:
    policy = ClassifierSpeakPolicy(Resuming(), agent_name="Nova")
    await asked_to_listen(kit, policy)
    cut = SpeakTurn((await kit.store.list_events(ROOM))[-1], speakers={}, cut=CUT)
    decision = await policy.decide(cut)
    assert (decision.mode, decision.reason, decision.final) == ("silent", "listening", True)


@pytest.mark.parametrize("fault", [*FAULTS, goes_on_though_it_is_stopped], ids=lambda fault: fault.__name__)
async def test_a_faulty_classifier_leaves_the_final_silence_and_the_request(kit: RoomEngine, fault: Fault) -> None:
    classifier, policy = judging()
    door, watch = await asked_to_listen(kit, policy)
    classifier.fault = FaultyOnce(fault)
    began = clock.now()
    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert watch.modes[1:] == [("silent", "listening")] * 2
    assert all(event.decision.final for event in watch.decisions)
    slow = fault in (*SLOW, goes_on_though_it_is_stopped)
    assert began + (1_500 if slow else 0) <= max(watch.decided_at) < began + 2_000
    assert policy.listening(ROOM) is not None
    await say(kit, LIFT)
    await say(kit, "Nova?")
    await settled()
    assert spoken(door) == ["Noon."]


class Around(SpeakPolicy):
    """A policy around another one that fails once, as told."""

    def __init__(self, policy: SpeakPolicy) -> None:
        self.policy = policy
        self.fault: FaultyOnce | None = None

    def decide(self, turn: SpeakTurn) -> Any:
        return (self.fault() if self.fault is not None else None) or self.policy.decide(turn)

    def forget_room(self, room_id: str) -> None:
        self.policy.forget_room(room_id)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_faulty_policy_speaks_by_the_channels_own_bound_and_the_room_listens_on(kit: RoomEngine, fault: Fault) -> None:
    policy = Around(judging()[1])
    door, watch = await asked_to_listen(kit, policy)
    policy.fault = FaultyOnce(fault)
    began = clock.now()
    await say(kit, "one")
    await settled()
    await say(kit, "two")
    await settled()
    assert watch.modes[1:] == [("speak", "fallback"), ("silent", "listening")]
    assert watch.decided_at[1] == began + (2_000 if fault in SLOW else 0)
    assert spoken(door) == ["Noon."]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_a_faulty_thinker_delays_and_changes_nothing(kit: RoomEngine, fault: Fault) -> None:
    thinker = Thinker(fault)
    thinker.once.calls = 1  # sound while the room is asked to listen
    door, watch = await asked_to_listen(kit, judging()[1], thinker=thinker)
    thinker.once.calls = 0
    began = clock.now()
    for text in ("one", "two", "three"):
        await say(kit, text)
    await asyncio.sleep(0.5)
    assert watch.modes[1:] == [("silent", "listening")] * 3
    assert watch.decided_at[1:] == [began] * 3
    await settled(40_000)
    assert thinker.once.calls >= 1
    assert [event.thought.text for event in watch.thoughts] == ["sound"]
    assert spoken(door) == []


@pytest.mark.parametrize("fault", FAULTS[:-1], ids=lambda fault: fault.__name__)
async def test_a_faulty_hook_leaves_the_silence(kit: RoomEngine, fault: Fault) -> None:
    door, watch = await asked_to_listen(kit, judging()[1])
    once = FaultyOnce(fault)

    @kit.hook(HookTrigger.ON_SPEAK_DECISION, timeout=0.5)
    async def faulty(event: SpeakDecisionEvent) -> HookResult[SpeakDecisionEvent] | None:
        result = once()
        return (await result) if result is not None else None

    await say(kit, "one")
    await say(kit, "two")
    await settled()
    assert watch.modes[1:] == [("silent", "listening")] * 2
    assert spoken(door) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
async def test_who_is_only_listened_to_reaches_no_faulty_classifier(kit: RoomEngine, fault: Fault) -> None:
    classifier, policy = judging()
    classifier.fault = FaultyOnce(fault)
    watch = Watch(kit)
    await seat(kit, door := Door(), deciding(AnswerOnly(policy, ["Ana"]))[0])
    await people(kit, "Bo")
    await say(kit, LISTEN, sender="bo")
    await settled()
    assert watch.modes == [("silent", "only listened to")]
    assert (classifier.fault.calls, policy.listening(ROOM), spoken(door)) == (0, None, [])
