"""Thinking ahead of what was not said: nothing of it is left, whatever ends it (field cases 37, 38)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenario.ahead import (
    AHEAD,
    ANN,
    GOES_ON,
    MORE,
    NOT_AHEAD,
    ONCE,
    asked,
    decided,
    expect,
    nova,
)
from tests.scenario.rooms import Door, errors_of
from tests.scenario.scripted import AGENT_LEVEL, ROOM, House, ScriptedCall, ScriptedStt, ToneTts, house
from tests.unit.turns import run, turn
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.deliberation import Deliberation
from voiceagent.errors import LanguageModelError
from voiceagent.judgment.classifier.mock import MockClassifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.policy import AlwaysSpeak, Foreseen, MockSpeakPolicy, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.llm.model import Done, ToolCall
from voiceagent.llm.scripted import CannedLine, CannedModel, Pause, ScriptedModel, Step
from voiceagent.room.events import InboundMessage, RoomEvent, TextContent
from voiceagent.room.hooks import HookResult, HookTrigger
from voiceagent.trace.witness import Witness
from voiceagent.voice.inputs import Transcription


@pytest.mark.parametrize(
    "first", ["Wrong.", (Pause(50), "Wrong.", Pause(60_000)), (Pause(600_000),)], ids=["fast", "slow", "hangs"]
)
async def test_nothing_is_left_of_an_answer_to_half_a_sentence(first: str | Sequence[Step]) -> None:
    model, call = ScriptedModel([first, "Right."]), ScriptedCall("s1", GOES_ON, until_ms=5_000)
    async with house(AHEAD, agent=nova(model=model)) as here, asyncio.TaskGroup() as tasks:
        tasks.create_task(expect(1_400, lambda: model.closed == (0 if first == "Wrong." else 1)))
        await here.receive(call)
        lines = await here.read()
        assert await here.messages() == [("ann", "and the weather"), ("assistant", "Right.")]
    assert not any("Wrong" in str(line.data) for line in lines)
    assert [line.type for line in lines].count("generation.started") == 1
    assert call.heard_ms(AGENT_LEVEL) == 300
    assert len(model.prompts) == 2
    (made,) = [line for line in lines if line.type == "generation.finished"]
    written = 0 if first == (Pause(600_000),) else 6
    assert made.data["usage"] == {"discarded_requests": 1, "discarded_characters": written}


@pytest.mark.parametrize("policy", [None, MockSpeakPolicy()])
async def test_no_turn_begins_more_than_two_requests(policy: SpeakPolicy | None) -> None:
    """Field case 38."""
    model = ScriptedModel(["One.", "Two.", "Three.", "Four."])
    spans = [(200, 0), (800, ANN), (300, 0), (600, MORE), (300, 0), (600, MORE), (300, 0), (600, MORE)]
    async with house(AHEAD, agent=nova(model=model, policy=policy)) as here:
        await here.receive(ScriptedCall("s1", spans, until_ms=6_000))
        assert await here.messages() == [("ann", "and the weather"), ("assistant", "Two.")]
    assert len(model.prompts) == 2


async def test_a_policy_is_asked_ahead_about_an_utterance_three_times_at_most() -> None:
    class Counts(AlwaysSpeak):
        async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
            times.append(clock.now())
            return Foreseen(SpeakDecision("silent"))

    times: list[int] = []
    spans = [(200, 0), *([(600, MORE), (300, 0)] * 6)]
    async with house(AHEAD, agent=nova("Rain.", policy=Counts())) as here:
        await here.receive(ScriptedCall("s1", spans, until_ms=8_000))
    assert len(times) == 3


async def test_a_decision_thrown_away_changes_no_policy() -> None:
    policy = ClassifierSpeakPolicy(MockClassifier([{"listen_request": 1.0}, {"directness": 2.0}]), agent_name="Nova")
    async with house(AHEAD, agent=nova("Rain.", policy=policy)) as here:
        decisions = decided(here.engine)
        await here.receive(ScriptedCall("s1", GOES_ON, until_ms=5_000))
        assert policy.listening(ROOM) is None
        lines = await here.read()
        assert (await here.messages())[-1] == ("assistant", "Rain.")
    assert len(decisions) == 1
    assert not any(line.type == "room.listening" for line in lines)


async def test_a_request_to_listen_is_kept_when_it_has_been_made() -> None:
    policy = ClassifierSpeakPolicy(MockClassifier({"listen_request": 1.0}), agent_name="Nova")
    async with house(AHEAD, agent=nova("Rain.", policy=policy)) as here:
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert policy.listening(ROOM) is not None
        assert [line.at_ms for line in await here.read() if line.type == "room.listening"] == [1_500]


async def test_words_that_change_are_answered_anew() -> None:
    model = ScriptedModel(["Ahead.", "Anew."])
    async with house(AHEAD, agent=nova(model=model)) as here:

        @here.engine.hook(HookTrigger.ON_TRANSCRIPTION, fail_closed=False)
        async def change(said: Transcription) -> HookResult[Transcription]:
            return HookResult.modify(replace(said, text="hello Nova"))

        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert await here.messages() == [("ann", "hello Nova"), ("assistant", "Anew.")]
    assert [prompt.messages[-1].content for prompt in model.prompts] == ["hello there", "hello Nova"]


@pytest.mark.parametrize("trigger", [HookTrigger.ON_TRANSCRIPTION, HookTrigger.BEFORE_BROADCAST])
async def test_no_model_reads_words_that_a_guard_has_not_let_pass(trigger: HookTrigger) -> None:
    model = ScriptedModel(["Rain."])
    async with house(AHEAD, agent=nova(model=model)) as here:

        @here.engine.hook(trigger, fail_closed=True)
        async def guard(said: object) -> HookResult[object]:
            return HookResult.block("private")

        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert await here.messages() == []
    assert model.prompts == []


async def test_words_that_a_hook_refuses_leave_nothing_behind() -> None:
    model = ScriptedModel([("Rain.", Pause(60_000)), "Never."])
    async with house(AHEAD, agent=nova(model=model)) as here, asyncio.TaskGroup() as tasks:

        @here.engine.hook(HookTrigger.BEFORE_BROADCAST)
        async def refuse(event: RoomEvent) -> HookResult[RoomEvent]:
            return HookResult.block("not now")

        tasks.create_task(expect(1_600, lambda: model.closed == 1))
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        lines = await here.read()
    assert not any(line.type.startswith(("generation.", "speech.")) for line in lines)
    assert len(model.prompts) == 1


async def test_what_others_say_meanwhile_makes_the_answer_anew() -> None:
    model, door = ScriptedModel(["Ahead.", "Anew."]), Door()
    async with house(AHEAD, agent=nova(model=model)) as here:
        here.engine.register_channel(door)
        await here.engine.attach_channel(ROOM, door.channel_id)

        async def type_between() -> None:
            await clock.sleep_until(1_400)
            await here.engine.process_inbound(InboundMessage("text", TextContent("psst"), "bo", addressed_to=()), room_id=ROOM)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(type_between())
            await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert (await here.messages())[-1] == ("assistant", "Anew.")
    assert [len(prompt.messages) for prompt in model.prompts] == [1, 2]


# -- effects, failures, ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spans", "at"), [(ONCE, 1_500), (GOES_ON, 2_400)])
async def test_a_tool_runs_when_the_turn_is_there_and_once(spans: Sequence[tuple[int, int]], at: int) -> None:
    async def order(item: str) -> str:
        """Orders it."""
        times.append(clock.now())
        return "done"

    times: list[int] = []
    call = ToolCall("c1", "order", '{"item": "tea"}')
    turns: list[Sequence[Step]] = [(call,), ("Ordered.",)] if spans is ONCE else [(call,), (call,), ("Ordered.",)]
    async with house(AHEAD, agent=nova(*turns, tools=[order])) as here:
        await here.receive(ScriptedCall("s1", spans, until_ms=5_000))
        assert (await here.messages())[-1] == ("assistant", "Ordered.")
    assert times == [at]


async def test_a_model_that_fails_ahead_is_asked_once_more_and_nobody_is_told() -> None:
    model = ScriptedModel([[LanguageModelError("no", "server")], "Rain."])
    async with house(AHEAD, agent=nova(model=model)) as here:
        errors = errors_of(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert (await here.messages())[-1] == ("assistant", "Rain.")
        (made,) = [line for line in await here.read() if line.type == "generation.finished"]
    assert (errors, len(model.prompts)) == ([], 2)
    assert made.data["usage"] == {"discarded_requests": 1, "discarded_characters": 0}


async def test_a_policy_or_hook_that_fails_ahead_costs_nothing() -> None:
    policy = MockSpeakPolicy(error=RuntimeError("down"))
    model = ScriptedModel(["Rain."])
    async with house(AHEAD, agent=nova(model=model, policy=policy)) as here:
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert (await here.messages())[-1] == ("assistant", "Rain.")
    assert (len(model.prompts), len(policy.turns)) == (1, 1)


async def test_a_hook_that_blocks_ahead_is_asked_again_when_it_is_sure() -> None:
    async with house(AHEAD, agent=nova("Rain.")) as here:
        seen: list[bool] = []

        @here.engine.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def careful(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
            seen.append(event.speculative)
            return HookResult.block("not yet") if event.speculative else HookResult.allow()

        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
        assert (await here.messages())[-1] == ("assistant", "Rain.")
    assert seen == [True, False]


async def test_a_model_that_keeps_its_place_is_not_asked_ahead() -> None:
    model = CannedModel([CannedLine("First."), CannedLine("Second.")])
    agent = AIChannel("assistant", provider=model, system_prompt="")
    async with house(AHEAD, agent=agent) as here:
        await here.receive(ScriptedCall("s1", GOES_ON, until_ms=4_000))
        assert (await here.messages())[-1] == ("assistant", "First.")


@pytest.mark.parametrize("at", [1_220, 1_450, 1_500, 1_520])
async def test_a_room_that_is_closed_meanwhile_leaves_nothing_behind(at: int) -> None:
    model = ScriptedModel([(Pause(100), "It rains.", Pause(60_000), "Still.")])
    async with house(AHEAD, agent=nova(model=model)) as here:

        async def close() -> None:
            await clock.sleep_until(at)
            await here.engine.close_room(ROOM)
            await expect(at + 100, lambda: model.closed == 1)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(close())
            await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))
    assert len(model.prompts) == 1


async def test_a_call_that_is_given_up_in_the_pause_stops_what_was_begun() -> None:
    model = ScriptedModel([("It rains.", Pause(60_000))])
    async with house(AHEAD, agent=nova(model=model)) as here:
        calling = asyncio.create_task(here.receive(ScriptedCall("s1", ONCE, until_ms=3_000)))
        await clock.sleep_until(1_300)
        calling.cancel()
        await asyncio.wait((calling,))
        await expect(1_400, lambda: (len(model.prompts), model.closed) == (1, 1))


async def test_an_answer_begun_ahead_that_is_stopped_later_stops_at_its_source() -> None:
    model = ScriptedModel([("It rains.", Pause(60_000))])
    async with house(AHEAD, agent=nova(model=model)) as here, asyncio.TaskGroup() as tasks:
        asks = asked(here.engine)

        async def stop() -> None:
            await clock.sleep_until(1_600)
            assert here.engine.cancel_generation(ROOM, asks[0][2])
            await expect(1_620, lambda: model.closed == 1)

        tasks.create_task(stop())
        await here.receive(ScriptedCall("s1", ONCE, until_ms=3_000))


@pytest.mark.parametrize("words", ["I would like to order and", "my number is", "it is four five one"])
async def test_words_that_want_to_be_gone_on_with_begin_nothing(words: str) -> None:
    stt = ScriptedStt({ANN: words})
    async with house(AHEAD, agent=nova("Rain."), stt=stt) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", ONCE, until_ms=5_000))
    assert [ahead for _, ahead, _ in asks] == [False]


async def test_what_is_thrown_away_is_counted() -> None:
    counted: list[Mapping[str, int]] = []
    witness = Witness(discards=(lambda cost: counted.append(dict(cost)),))
    model = ScriptedModel([("Wrong.", Done(usage={"input": 9, "output": 2})), "Right."])
    async with house(AHEAD, agent=nova(model=model), witness=witness) as here:
        await here.receive(ScriptedCall("s1", GOES_ON, until_ms=5_000))
    assert counted == [{"characters": 6, "input": 9, "output": 2}]


async def test_a_rehearsal_for_nothing_is_spoken_no_further() -> None:
    tts = ToneTts(piece_ms=40)
    async with house(AHEAD, agent=nova("This is a long sentence that nobody will hear.", "Right."), tts=tts) as here:
        made: list[int] = []

        async def look() -> None:
            for at in (1_300, 1_400, 1_800):
                await clock.sleep_until(at)
                made.append(tts.made)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(look())
            await here.receive(ScriptedCall("s1", GOES_ON, until_ms=4_000))
    assert 0 < made[0] <= made[1] == made[2]


async def test_a_decision_made_while_the_room_still_talked_is_made_anew_once_it_listens() -> None:
    policy = ClassifierSpeakPolicy(MockClassifier([{"directness": 2.0}, {"listen_request": 1.0}, {}]), agent_name="Nova")
    deliberation = Deliberation(policy, 1_000)
    async with house(AHEAD) as here:
        foreseen = await deliberation.foresee(turn("Nova, what is the time?", room=ROOM))
        await policy.decide(turn("Only listen from now on.", room=ROOM))
        decided = await deliberation.decide(here.engine.host, turn("Nova, what is the time?", room=ROOM), ahead=foreseen)
    assert (foreseen is not None and foreseen.decision.mode, decided.mode, decided.reason) == ("speak", "silent", "listening")


async def test_a_hang_up_in_the_pause_still_has_its_words_answered() -> None:
    model = ScriptedModel(["Rain."])
    async with house(AHEAD, agent=nova(model=model)) as here:
        await here.receive(ScriptedCall("s1", ONCE, until_ms=1_300))
        await clock.sleep_until(3_000)
        assert await here.messages() == [("ann", "hello there"), ("assistant", "Rain.")]


async def test_nothing_is_thought_ahead_while_an_answer_sounds() -> None:
    model = ScriptedModel(["This is a long answer of which not all will be heard.", "Good."])
    spans = [*ONCE, (1_000, 0), (200, MORE)]
    async with house(AHEAD, agent=nova(model=model), stt=ScriptedStt({ANN: "hello there", MORE: "okay"})) as here:
        asks = asked(here.engine)
        await here.receive(ScriptedCall("s1", spans, until_ms=7_000))
    assert [at for at, ahead, _ in asks if ahead] == [1_200]


# -- whatever comes in between ---------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from([200, 600]), st.sampled_from([220, 300, 420, 900]), st.booleans()), min_size=1, max_size=4
)


@settings(max_examples=15, deadline=None)
@given(STEPS, st.sampled_from([0, 40, 250, 700]))
def test_nothing_is_doubled_or_left_whatever_comes_in_between(steps: list[tuple[int, int, bool]], model_ms: int) -> None:
    """Speech and silences of any length, and what others write in some of them."""

    async def talk(ahead: bool) -> tuple[list[tuple[str, str]], int, int]:
        spans = [(200, 0), *((ms, level) for said, quiet, _ in steps for ms, level in ((said, ANN), (quiet, 0)))]
        model, door = ScriptedModel([(Pause(model_ms), "Yes.")]), Door()
        agent = nova(model=model)
        async with house(AHEAD if ahead else NOT_AHEAD, agent=agent) as here:
            here.engine.register_channel(door)
            await here.engine.attach_channel(ROOM, door.channel_id)
            async with asyncio.TaskGroup() as tasks:
                at = 200
                for said, quiet, writes in steps:
                    at += said + quiet
                    if writes:
                        tasks.create_task(write(here, at - quiet // 4))
                await here.receive(ScriptedCall("s1", spans, until_ms=at + 3_000))
            lines = await here.read()
            turns = sum(line.type == "input.accepted" and line.data["source"] == "voice" for line in lines)
            settled = [line.data["input_id"] for line in lines if line.type == "input.settled"]
            assert len(settled) == len(set(settled))
            assert sum(line.type == "generation.started" for line in lines) == sum(
                line.type in ("generation.finished", "generation.detached") for line in lines
            )
            assert len({line.generation_id for line in lines if line.type == "speech.started"}) <= turns
            said_by_people = [said for said in await here.messages() if said[0] != "assistant"]
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert left == []
        return said_by_people, turns, len(model.prompts)

    people, turns, requests = run(talk(True))
    assert (people, turns) == run(talk(False))[:2]
    assert requests <= 2 * turns


async def write(here: House, at: int) -> None:
    await clock.sleep_until(at)
    await here.engine.process_inbound(InboundMessage("text", TextContent("psst"), "bo", addressed_to=()), room_id=ROOM)
