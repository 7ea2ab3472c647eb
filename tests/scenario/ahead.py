"""What scenarios of thinking ahead are made of: a call that ends or goes on, the real agent, and what hooks were asked when."""

from collections.abc import Callable, Sequence

from tests.scenario.scripted import AGENT_LEVEL, ScriptedCall, ToneTts, house
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.judgment.policy import SpeakPolicy
from voiceagent.llm.scripted import Pause, ScriptedModel, Step
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookTrigger
from voiceagent.voice.settings import VoiceSettings

ANN = 1_000
MORE = 2_000
AHEAD = VoiceSettings(greeting="")
NOT_AHEAD = VoiceSettings(greeting="", think_ahead=False)
ONCE = [(200, 0), (800, ANN)]
"""Speech that ends at 1000 ms."""
GOES_ON = [(200, 0), (800, ANN), (300, 0), (600, MORE)]
"""A pause of 300 ms in which its words are known, and then more; ends at 1900 ms."""


def nova(
    *turns: str | Sequence[Step], policy: SpeakPolicy | None = None, model: ScriptedModel | None = None, **more: object
) -> AIChannel:
    """The real agent, with a model that says these turns."""
    provider = model or ScriptedModel(turns)
    return AIChannel("assistant", provider=provider, system_prompt="", speak_policy=policy, **more)  # type: ignore[arg-type]


def slow(text: str) -> tuple[Step, ...]:
    """A model that takes 150 ms to its first word."""
    return (Pause(150), text)


def untimed(log: Sequence[str]) -> list[str]:
    """A log's lines without when, and without how long the person waited."""
    return [line.split(" ", 1)[1] for line in log if " turn.latency " not in line]


async def conversation(how: VoiceSettings, spans: Sequence[tuple[int, int]], agent: AIChannel) -> tuple[list[str], int]:
    """What is told of a call, and after how many ms of it the agent was heard first."""
    call = ScriptedCall("s1", spans, until_ms=8_000)
    async with house(how, agent=agent, tts=ToneTts(first_ms=100)) as here:
        began = clock.now()
        await here.receive(call)
        return await here.log(), next(at for at, level in call.heard if level == AGENT_LEVEL) - began


async def expect(at: int, holds: Callable[[], bool]) -> None:
    """Fails unless it holds at that time."""
    await clock.sleep_until(at)
    assert holds()


def asked(kit: RoomEngine) -> list[tuple[int, bool, str]]:
    """When BEFORE_AI_GENERATION hooks were asked, whether ahead, and for which answer."""
    seen: list[tuple[int, bool, str]] = []

    @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
    async def note(event: AIGenerationEvent) -> None:
        seen.append((clock.now(), event.speculative, event.generation_id))

    return seen


def decided(kit: RoomEngine) -> list[tuple[int, int]]:
    """When ON_SPEAK_DECISION hooks were asked, and how long the policy had taken."""
    seen: list[tuple[int, int]] = []

    @kit.hook(HookTrigger.ON_SPEAK_DECISION)
    async def note(event: SpeakDecisionEvent) -> None:
        seen.append((clock.now(), event.duration_ms))

    return seen
