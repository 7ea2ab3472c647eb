"""What makes an agent the one it is, the same in every room."""

from dataclasses import dataclass

from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.generation import Means
from voiceagent.agent.memory import MemoryProvider
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.strategies import Delegation, Strategy
from voiceagent.judgment.listening import listening_in
from voiceagent.judgment.thinker import Thinker


@dataclass(frozen=True, slots=True)
class Character:
    """One agent: what it is told of itself, what it makes answers with, and what decides whether it gives them."""

    channel_id: str
    system_prompt: str
    settings: AgentSettings
    means: Means
    memory: MemoryProvider
    deliberation: Deliberation | None = None
    thinker: Thinker | None = None
    think_wait_ms: int = 0
    decide_late: bool = False
    replaces: Strategy | None = None
    delegates: Delegation | None = None

    def listens_only(self, room_id: str) -> bool:
        """Whether it was asked to be quiet in a room."""
        return self.deliberation is not None and listening_in(self.deliberation.policy, room_id) is not None
