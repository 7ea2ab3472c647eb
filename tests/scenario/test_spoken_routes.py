"""A person who goes on speaking while the agent decides, thinks or works: what sounds then, and what is answered."""

import asyncio

from tests.scenario.scripted import AGENT_LEVEL, ROOM, ScriptedCall, ScriptedStt, house
from voiceagent.agent.channel import AIChannel
from voiceagent.judgment.policy import MockSpeakPolicy
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.voice.settings import VoiceSettings

ANN, OVER = 1_000, 2_000
TURN = [(200, 0), (800, ANN)]
"""Its words are the room's at 1500 ms."""


def planner(model: ScriptedModel, work_ms: int) -> AIChannel:
    async def look() -> str:
        """Looks into the calendar."""
        await asyncio.sleep(work_ms / 1000)
        return "Monday is free"

    return AIChannel("assistant", provider=model, system_prompt="", tools=[look])


async def test_who_goes_on_while_a_tool_runs_cuts_nothing_and_joins_the_answer() -> None:
    model = ScriptedModel([["Wait.", ToolCall("c1", "look", "{}")], "Tuesday it is."])
    call = ScriptedCall("s1", [*TURN, (1_500, 0), (800, OVER)], until_ms=9_000)
    async with house(agent=planner(model, 4_000)) as here:
        await here.receive(call)
        said = [row.id for row in await here.engine.store.list_events(ROOM) if row.source.participant_id == "ann"][-2:]
        log = [line for line in await here.log() if "speech." in line and "queued" not in line]
        assert log == ["1500 speech.started", "6240 speech.finished Wait. Tuesday it is."]
        assert [line.data["input_ids"] for line in here.events if line.type == "generation.finished"] == [said]
    assert [message.content for message in model.prompts[1].messages if message.role == "user"] == [
        "hello there",
        "and the weather",
    ]
    assert call.heard_ms(AGENT_LEVEL) == 250 + 700 + 10


async def test_what_a_tool_brings_waits_for_who_speaks() -> None:
    """The tool is done at 2500 ms, in the middle of their words."""
    model = ScriptedModel([["Wait.", ToolCall("c1", "look", "{}")], "Monday it is.", "Tuesday then."])
    call = ScriptedCall("s1", [*TURN, (1_200, 0), (1_000, OVER)], until_ms=9_000)
    async with house(agent=planner(model, 1_000)) as here:
        await here.receive(call)
        cuts = [line for line in await here.log() if "speech.cut" in line]
        assert cuts == []
    speaking = [at for at, level in call.heard if level == AGENT_LEVEL and 2_200 <= at < 3_200 + 20]
    assert speaking == []


async def test_a_ready_answer_waits_until_it_is_known_whether_it_is_wanted() -> None:
    """The first answer is ready when the second utterance becomes the room's; the policy takes 300 ms about that."""
    model = ScriptedModel([[Pause(200), "Only the first."], "Both."])
    agent = AIChannel("assistant", provider=model, system_prompt="", speak_policy=MockSpeakPolicy(delay=0.3))
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER)], until_ms=6_000)
    async with house(VoiceSettings(greeting="", think_ahead=False), agent=agent) as here:
        await here.receive(call)
        log = [line for line in await here.log() if "speech." in line and "queued" not in line]
        assert [line.split(maxsplit=1)[1] for line in log] == [
            "speech.dropped superseded",
            "speech.started",
            "speech.finished Both.",
        ]
        assert [line.data["disposition"] for line in here.events if line.type == "input.settled"] == ["answered", "answered"]
        for generation in {line.generation_id for line in here.events if line.generation_id is not None}:
            told = [line.type for line in here.events if line.generation_id == generation]
            assert told[0] == "generation.started"


async def test_a_silent_second_thought_leaves_the_first_answer_standing() -> None:
    model = ScriptedModel([[Pause(200), "The first."]])
    policy = MockSpeakPolicy(["speak", "silent"], delay=0.3)
    call = ScriptedCall("s1", [*TURN, (600, 0), (800, OVER)], until_ms=6_000)
    agent = AIChannel("assistant", provider=model, system_prompt="", speak_policy=policy)
    stt = ScriptedStt({ANN: "hello there", OVER: "mm-hm"})
    async with house(agent=agent, stt=stt) as here:
        await here.receive(call)
        log = await here.log()
        assert not [line for line in log if "speech.dropped" in line or "speech.cut" in line]
        assert [line.split(maxsplit=1)[1] for line in log if "speech.finished" in line] == ["speech.finished The first."]
        assert [line.split(maxsplit=1)[1] for line in log if "settled" in line] == [
            "input.settled answered",
            "input.settled backchannel",
        ]
