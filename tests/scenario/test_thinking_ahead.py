"""Thinking ahead: an answer is begun while it is not sure that the person has finished, and nothing else changes (case 42)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.scenario.ahead import AHEAD, GOES_ON, MORE, NOT_AHEAD, ONCE, asked, conversation, decided, nova, slow, untimed
from tests.scenario.scripted import AGENT_LEVEL, ScriptedCall, ToneTts, house
from voiceagent import clock
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.agent.job import Job
from voiceagent.agent.memory import RoomMemory
from voiceagent.agent.strategies import Supervisor
from voiceagent.judgment.policy import MockSpeakPolicy, Mode, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thinker import MockThinker
from voiceagent.judgment.thought import Thought
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.events import RoomEvent
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.voice.mouth import SpokenSentence


@pytest.mark.parametrize(("model_ms", "ahead", "after"), [(0, 500, 600), (150, 500, 750), (500, 800, 1_100)])
async def test_the_answer_sounds_as_soon_as_the_turn_is_over_and_it_is_ready(model_ms: int, ahead: int, after: int) -> None:
    turns = [(Pause(model_ms), "Rain.")]
    for how, wait in ((AHEAD, ahead), (NOT_AHEAD, after)):
        _, first = await conversation(how, ONCE, nova(*turns))
        assert first - 1_000 == pytest.approx(wait, abs=20)


@pytest.mark.parametrize("policy", [None, "speak", "offer", "silent"])
@pytest.mark.parametrize("spans", [ONCE, GOES_ON])
async def test_the_feed_is_the_same_but_for_the_times(spans: Sequence[tuple[int, int]], policy: Mode | None) -> None:
    logs = []
    for how in (AHEAD, NOT_AHEAD):
        call = ScriptedCall("s1", spans, until_ms=5_000)
        speaks = None if policy is None else MockSpeakPolicy([policy])
        async with house(how, agent=nova(slow("Rain."), slow("Rain."), policy=speaks)) as here:
            await here.receive(call)
            logs.append((untimed(await here.log()), await here.messages()))
    assert logs[0] == logs[1]


async def test_the_policy_and_the_hooks_are_asked_once_and_told_when_the_turn_is_there() -> None:
    policy = MockSpeakPolicy(delay=0.05)
    async with house(AHEAD, agent=nova("Rain.", policy=policy)) as here:
        asks, decisions = asked(here.engine), decided(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        (started,) = [line for line in await here.read() if line.type == "generation.started"]
    assert asks == [(1_250, True, started.generation_id)]
    assert decisions == [(1_500, 50)]
    assert len(policy.turns) == 1


async def test_a_decision_that_is_still_being_made_is_waited_for_not_made_again() -> None:
    policy = MockSpeakPolicy(delay=0.4)
    async with house(AHEAD, agent=nova("Rain.", policy=policy)) as here:
        decisions = decided(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    assert (decisions, len(policy.turns)) == ([(1_600, 400)], 1)


async def test_a_policy_that_does_not_say_what_it_foresees_is_asked_when_the_turn_is_there() -> None:
    class Plain(SpeakPolicy):
        async def decide(self, turn: SpeakTurn) -> SpeakDecision:
            times.append(clock.now())
            return SpeakDecision("speak")

    times: list[int] = []
    async with house(AHEAD, agent=nova("Rain.", policy=Plain())) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    assert times == [1_500]
    assert [(at, ahead) for at, ahead, _ in asks] == [(1_500, False)]


async def test_a_silent_agent_asks_no_model_and_no_hook_ahead_and_has_nothing_spoken() -> None:
    """Field case 42: no request and no synthesis for what it leaves to others."""
    model, tts = ScriptedModel(["Rain."]), ToneTts()
    async with house(AHEAD, agent=nova(model=model, policy=MockSpeakPolicy(["silent"])), tts=tts) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    assert (asks, model.prompts, tts.spoken) == ([], [], [])


async def test_a_decision_that_its_hooks_change_makes_the_answer_anew() -> None:
    model = ScriptedModel(["Ahead.", "Anew."])
    async with house(AHEAD, agent=nova(model=model, policy=MockSpeakPolicy())) as here:

        @here.engine.hook(HookTrigger.ON_SPEAK_DECISION)
        async def offer(event: SpeakDecisionEvent) -> None:
            event.decision = SpeakDecision("speak", notes=("Say it briefly.",))

        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert (await here.messages())[1] == ("assistant", "Anew.")
    assert len(model.prompts) == 2
    assert model.prompts[1].messages[-1].notes == ("Say it briefly.",)


async def test_what_was_rehearsed_is_what_is_heard_and_is_spoken_once() -> None:
    tts = ToneTts()
    call = ScriptedCall("s1", ONCE, until_ms=4_000)
    async with house(AHEAD, agent=nova("It rains today. Take a coat."), tts=tts) as here:
        await here.receive(call)
    assert tts.spoken == ["It rains today.", "Take a coat."]
    assert call.heard_ms(AGENT_LEVEL) == 50 * (15 + 12) + 10


async def test_a_sentence_that_a_hook_changes_is_not_the_one_that_was_rehearsed() -> None:
    tts = ToneTts()
    call = ScriptedCall("s1", ONCE, until_ms=4_000)
    async with house(AHEAD, agent=nova("It rains today."), tts=tts) as here:

        @here.engine.hook(HookTrigger.BEFORE_TTS)
        async def change(said: SpokenSentence) -> HookResult[SpokenSentence]:
            return HookResult.modify(replace(said, text="It is dry."))

        await here.receive(call)
    assert tts.spoken == ["It rains today.", "It is dry."]
    assert call.heard_ms(AGENT_LEVEL) == 500


async def test_what_the_agent_has_in_mind_is_in_what_is_begun_ahead() -> None:
    model, thinker = ScriptedModel(["Rain."]), MockThinker([Thought("About the weather.", ("It rains.",))])
    policy = MockSpeakPolicy(["silent", "silent", "speak"])
    spans = [*ONCE, (1_200, 0), (600, MORE)]
    async with house(AHEAD, agent=nova(model=model, policy=policy, thinker=thinker)) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", spans, until_ms=5_000))
        assert (await here.messages())[-1] == ("assistant", "Rain.")
    (prompt,) = model.prompts
    assert any("About the weather." in note for note in prompt.messages[-1].notes)
    assert [ahead for _, ahead, _ in asks] == [False, True]  # the thought's, and the answer's
    assert len(policy.turns) == 3


async def test_what_the_agent_remembers_is_in_what_is_begun_ahead() -> None:
    class Remembers(RoomMemory):
        async def recall(self, room_id: str, event: RoomEvent) -> Sequence[str]:
            recalled.append(event.id)
            return ("It rained yesterday.",)

    recalled: list[str] = []
    model = ScriptedModel(["Rain."])
    async with house(AHEAD, agent=nova(model=model, memory=Remembers())) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    (prompt,) = model.prompts
    assert prompt.messages[-1].notes == ("It rained yesterday.",)
    assert ([ahead for _, ahead, _ in asks], len(recalled)) == ([True], 1)


async def test_what_others_work_on_is_not_begun_ahead() -> None:
    model, worker = ScriptedModel(["Rain."]), ScriptedModel(["It rains."], name="weather")
    async with house(AHEAD, agent=nova(model=model, strategy=Supervisor([worker]))) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    assert [ahead for _, ahead, _ in asks] == [False]
    assert (len(model.prompts), len(worker.prompts)) == (1, 1)


async def test_nothing_is_begun_ahead_while_a_job_runs() -> None:
    """Its end changes what the model is told."""

    async def look() -> Job:
        """Looks for it."""
        return Job(asyncio.sleep(60, "found"))

    model = ScriptedModel([[ToolCall("c1", "look", "{}")], "I look for it.", "Yes."])
    spans = [*ONCE, (2_000, 0), (600, MORE)]
    async with house(AHEAD, agent=nova(model=model, tools=[look])) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", spans, until_ms=6_000))
    assert [ahead for _, ahead, _ in asks] == [True, False]
