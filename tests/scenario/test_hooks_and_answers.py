"""What a host does to one answer: tools of its own for it alone, and silence though its words are all made."""

from tests.scenario.scripted import ROOM, ScriptedCall, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.tools import Toolbox
from voiceagent.llm.model import ToolCall
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.hooks import HookTrigger

ANN = 1_000
LONG = "This is a long answer of which not all will be heard."


async def weather(city: str) -> str:
    """The host's own."""
    return f"It rains in {city}."


async def clock_tool() -> str:
    """The agent's own."""
    return "noon"


async def test_a_hook_gives_one_answer_tools_of_its_own() -> None:
    call = ToolCall("1", "weather", '{"city": "Graz"}')
    model = ScriptedModel([(call,), "It rains.", "Yes."])
    agent = AIChannel("assistant", provider=model, tools=[clock_tool])
    once = [Toolbox([weather], 1_000)]
    async with house(agent=agent) as here:

        @here.engine.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def give(event: AIGenerationEvent) -> None:
            event.ai_context.more_tools += [once.pop()] if once else []

        await here.receive(ScriptedCall("s1", [(200, 0), (800, ANN), (3_000, 0), (800, ANN)], until_ms=8_000))
        offered = [[tool.name for tool in prompt.tools] for prompt in model.prompts]
        own = ["clock_tool", "ask", "withdraw"]
        assert offered == [["weather", *own], ["weather", *own], own]
        assert model.prompts[1].messages[-1].content == "It rains in Graz."


async def test_an_answer_that_only_sounds_is_stopped_too() -> None:
    agent = AIChannel("assistant", provider=ScriptedModel([LONG]))
    call = ScriptedCall("s1", [(200, 0), (800, ANN)], until_ms=7_000)
    async with house(agent=agent) as here:
        stopped: list[bool] = []
        made: list[str] = []

        @here.engine.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def learn(event: AIGenerationEvent) -> None:
            made.append(event.generation_id)

        @here.engine.hook(HookTrigger.ON_CALL_STARTED)
        async def later(_: object) -> None:
            await clock.sleep_until(clock.now() + 2_500)
            stopped.extend(here.engine.cancel_generation(ROOM, made[0], "explicit") for _ in range(2))

        await here.receive(call)
        lines = await here.read()
        assert stopped == [True, False]
        assert "generation.finished" in [line.type for line in lines]
        (cut,) = [line for line in lines if line.type == "speech.cut"]
        assert cut.data["reason"] == "explicit"
        assert call.heard[-1][0] < 3_000
