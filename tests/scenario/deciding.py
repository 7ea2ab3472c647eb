"""What scenarios of deciding agents are made of: a watch on hooks, a memory to look into, agents with a policy."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.scenario.rooms import ROOM, Door
from voiceagent import clock
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.agent.deliberation import SpeakDecisionEvent
from voiceagent.agent.mind import ThoughtEvent
from voiceagent.judgment.policy import MockSpeakPolicy, SpeakPolicy
from voiceagent.llm.scripted import ScriptedModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import Participant, RoomEvent
from voiceagent.room.hooks import HookExecution, HookResult, HookTrigger


class Notebook:
    """A memory that writes down what it is given and recalls the lines of a test."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.taken: list[tuple[str, str]] = []
        self.forgotten: list[str] = []
        self.recalled = 0

    async def ingest(self, room_id: str, event: RoomEvent, speaker: str) -> None:
        self.taken.append((speaker, event.content.body))

    async def recall(self, room_id: str, event: RoomEvent) -> Sequence[str]:
        self.recalled += 1
        return self.lines

    def forget_room(self, room_id: str) -> None:
        self.forgotten.append(room_id)


class Watch:
    """Everything that the hooks of an engine are told of decisions, thoughts and model calls, with its time."""

    def __init__(self, kit: RoomEngine) -> None:
        self.decisions: list[SpeakDecisionEvent] = []
        self.thoughts: list[ThoughtEvent] = []
        self.calls: list[AIGenerationEvent] = []
        self.decided_at: list[int] = []

        @kit.hook(HookTrigger.ON_SPEAK_DECISION, execution=HookExecution.ASYNC)
        async def decided(event: SpeakDecisionEvent) -> None:
            self.decisions.append(event)
            self.decided_at.append(clock.now())

        @kit.hook(HookTrigger.ON_THOUGHT, execution=HookExecution.ASYNC)
        async def thought(event: ThoughtEvent) -> None:
            self.thoughts.append(event)

        @kit.hook(HookTrigger.BEFORE_AI_GENERATION)
        async def called(event: AIGenerationEvent) -> HookResult[AIGenerationEvent]:
            self.calls.append(event)
            return HookResult.allow()

    @property
    def modes(self) -> list[tuple[str, str]]:
        return [(event.decision.mode, event.decision.reason) for event in self.decisions]

    @property
    def purposes(self) -> list[str]:
        return [event.purpose for event in self.calls]


class Never(SpeakPolicy):
    """Never decides."""

    async def decide(self, turn: Any) -> Any:
        await asyncio.Event().wait()


def deciding(
    policy: SpeakPolicy | None = None, *turns: Any, channel_id: str = "assistant", **options: Any
) -> tuple[AIChannel, ScriptedModel]:
    """An agent with a policy (always silent by default), and its model."""
    model = ScriptedModel(turns or ("Noon.",))
    policy = policy if policy is not None else MockSpeakPolicy(["silent"])
    return AIChannel(channel_id, provider=model, system_prompt="Be brief.", speak_policy=policy, **options), model


async def people(kit: RoomEngine, *names: str, channel: str = "text") -> None:
    """Has people join through a channel, under their names in small letters."""
    for name in names:
        await kit.join(ROOM, Participant(name.lower(), name, connected_via=(channel,)))


def spoken(door: Door) -> list[str]:
    """What replies of agents said, as a door was handed them."""
    return [reply.text for reply in door.replies]


def last_notes(model: ScriptedModel, call: int = -1) -> tuple[str, ...]:
    """The notes on the last user message of a model call."""
    return next(message.notes for message in reversed(model.prompts[call].messages) if message.role == "user")
