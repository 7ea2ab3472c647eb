"""The agent's channel: one agent, with a presence in each of its rooms."""

from collections.abc import Awaitable, Callable, Iterable

from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.generation import means_of
from voiceagent.agent.memory import MemoryProvider, RoomMemory
from voiceagent.agent.presence import Character, Presence
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.strategies import Strategy
from voiceagent.agent.tools import Tool
from voiceagent.judgment.policy import SpeakPolicy
from voiceagent.judgment.thinker import Thinker
from voiceagent.llm.model import LanguageModel
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.events import ChannelType, RoomEvent


class AIChannel(Channel):
    """An agent: give it a model, and what it should know of itself.

    `provider` makes the words. `system_prompt` replaces the settings' one. `tools` are async functions with type hints, or Tool
    values. `speak_policy` decides on every turn whether the agent speaks, within `speak_timeout` seconds; without one it always
    answers. `thinker` keeps a thought while the agent listens, for which a turn waits up to `think_wait` seconds; with
    `decide_late`, hooks are also told how the policy decides on a thought that came later, though no turn follows. `memory` takes
    in every event. `strategy` may hand a turn a stand-in for the event it answers. One channel may sit in any number of
    rooms; answers to different messages are made side by side. Raises ValueError for a thinker without a policy, a
    `speak_timeout` that is not above 0, or a `think_wait` below 0.
    """

    def __init__(
        self,
        channel_id: str,
        *,
        provider: LanguageModel,
        system_prompt: str | None = None,
        tools: Iterable[Tool | Callable[..., Awaitable[object]]] = (),
        speak_policy: SpeakPolicy | None = None,
        speak_timeout: float = 2.0,
        thinker: Thinker | None = None,
        think_wait: float = 1.5,
        decide_late: bool = False,
        memory: MemoryProvider | None = None,
        settings: AgentSettings | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        super().__init__(channel_id, ChannelType.AI)
        if thinker is not None and speak_policy is None:
            raise ValueError("a thinker needs a speak policy: the agent thinks about the turns that it leaves to others")
        if speak_timeout <= 0:
            raise ValueError("speak_timeout must be above 0 seconds")
        if think_wait < 0:
            raise ValueError("think_wait must be 0 seconds or more")
        settings = settings or AgentSettings()
        prompt = settings.system_prompt if system_prompt is None else system_prompt
        self._policy = speak_policy
        self._memory = memory or RoomMemory()
        self._character = Character(
            channel_id,
            prompt.replace("{name}", settings.name),
            settings,
            means_of(provider, tools, settings),
            self._memory,
            Deliberation(speak_policy, round(speak_timeout * 1000), settings.name) if speak_policy is not None else None,
            thinker,
            round(think_wait * 1000),
            decide_late,
            strategy,
        )
        self._presences: dict[str, Presence] = {}

    def on_attach(self, room_id: str) -> None:
        """Begins in a room with nothing kept of one that had the same id."""
        self._forget(room_id)
        self._presences[room_id] = Presence(self._character, self.host, room_id)

    def on_detach(self, room_id: str) -> None:
        """Stops what is being answered and thought in a room that the agent leaves."""
        presence = self._presences.pop(room_id, None)
        if presence is not None:
            presence.close()
        self._forget(room_id)

    async def on_heard(self, event: RoomEvent, context: RoomContext) -> None:
        """Hands every event to the memory, once, whether the agent is asked or not."""
        presence = self._presences.get(context.room_id)
        if presence is not None:
            presence.hear(event, context)

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        """Begins a turn and returns at once."""
        presence = self._presences.get(context.room_id)
        if presence is not None:
            presence.begin(event, context)
        return None

    async def close(self) -> None:
        """Leaves every room."""
        for room_id in tuple(self._presences):
            self.on_detach(room_id)
        if self._policy is not None:
            await self._policy.close()

    def _forget(self, room_id: str) -> None:
        self._memory.forget_room(room_id)
        if self._policy is not None:
            self._policy.forget_room(room_id)
