"""The agent's channel: one agent, with a presence in each of its rooms."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping

from voiceagent.agent.character import Character
from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.generation import means_of
from voiceagent.agent.memory import MemoryProvider, RoomMemory
from voiceagent.agent.presence import Presence
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.strategies import Delegation, Strategy
from voiceagent.agent.tools import Tool
from voiceagent.judgment.listening import listening_in
from voiceagent.judgment.policy import SpeakPolicy
from voiceagent.judgment.thinker import Thinker
from voiceagent.llm.model import LanguageModel
from voiceagent.room.bounded import contained
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.events import ChannelType, RoomEvent
from voiceagent.room.questions.question import Question
from voiceagent.values import JSON

log = logging.getLogger(__name__)


class AIChannel(Channel):
    """An agent: give it a model, and what it should know of itself.

    `provider` makes the words. `system_prompt` replaces the settings' one. `tools` are async functions with type hints, or Tool
    values. `speak_policy` decides on every turn whether the agent speaks, within `speak_timeout` seconds; without one it always
    answers. `thinker` keeps a thought while the agent listens, for which a turn waits up to `think_wait` seconds; with
    `decide_late`, hooks are also told how the policy decides on a thought that came later, though no turn follows. `memory` takes
    in every event. `strategy` may hand a turn a stand-in for the event it answers (`Supervisor`, `Loop`). One channel may sit in
    any number of rooms; answers to different messages are made side by side. Raises ValueError for a thinker without a policy, a
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
        strategy: Strategy | Delegation | None = None,
    ) -> None:
        super().__init__(channel_id, ChannelType.AI)
        if thinker is not None and speak_policy is None:
            raise ValueError("a thinker needs a speak policy: the agent thinks about the turns that it leaves to others")
        if speak_timeout <= 0:
            raise ValueError("speak_timeout must be above 0 seconds")
        if think_wait < 0:
            raise ValueError("think_wait must be 0 seconds or more")
        settings = settings or AgentSettings()
        self._policy = speak_policy
        self._memory = memory or RoomMemory()
        self._character = Character(
            channel_id,
            (settings.system_prompt if system_prompt is None else system_prompt).replace("{name}", settings.name),
            settings,
            means_of(provider, tools, settings),
            self._memory,
            Deliberation(speak_policy, round(speak_timeout * 1000), settings.name) if speak_policy is not None else None,
            thinker,
            round(think_wait * 1000),
            decide_late,
            strategy if isinstance(strategy, Strategy) else None,
            strategy if isinstance(strategy, Delegation) else None,
        )
        self._presences: dict[str, Presence] = {}

    def on_attach(self, room_id: str) -> None:
        """Begins in a room with nothing kept of one that had the same id."""
        self._forget(room_id)
        presence = self._presences[room_id] = Presence(self._character, self.host, room_id)
        presence.jobs.results.resume(self.host.jobs.take_left(room_id, self.channel_id))
        presence.asker.resume(self.host.questions.back.take_left(room_id, self.channel_id))

    def on_detach(self, room_id: str) -> None:
        """Stops what is being answered and thought in a room that the agent leaves."""
        self._leave(room_id, "stop")

    async def on_heard(self, event: RoomEvent, context: RoomContext) -> None:
        """Hands every event to the memory, once, whether the agent is asked or not."""
        presence = self._presences.get(context.room_id)
        if presence is not None:
            presence.hear(event, context)

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        """Begins a turn and returns at once."""
        presence = self._presences.get(context.room_id)
        if presence is None:
            return None
        presence.begin(event, context)
        return ChannelOutput(later=True)

    def foresee(self, event_id: str, event: RoomEvent | None, room_id: str) -> None:
        """Thinks ahead of what may have been said, or throws away what was thought of it, unless it has come."""
        presence = self._presences.get(room_id)
        if presence is not None and event is not None:
            presence.foresee(event, self.host.context(room_id))
        elif presence is not None:
            presence.ahead.drop(event_id)

    def cancel_generation(self, room_id: str, generation_id: str, reason: str) -> bool:
        """Stops an answer that the agent is making; False when it makes no such answer."""
        presence = self._presences.get(room_id)
        return presence is not None and presence.answers.cancel(generation_id, reason)

    def withdraw(self, room_id: str, input_id: str) -> bool:
        """Takes back an input that no answer has taken in yet; False when none of this id waits here."""
        presence = self._presences.get(room_id)
        return presence is not None and presence.answers.withdraw(input_id)

    def admits(self, room_id: str, generation_id: str) -> bool:
        """Whether an answer that the agent is making still takes input in."""
        presence = self._presences.get(room_id)
        return presence is not None and presence.answers.admits(generation_id)

    def snapshot(self, room_id: str) -> Mapping[str, JSON]:
        """The answers that the agent is making, its background jobs that run, and who asked it to only listen, if anybody did."""
        presence = self._presences.get(room_id)
        if presence is None:
            return {}
        request = listening_in(self._policy, room_id)
        asked: JSON = None if request is None else {"speaker": request.speaker, "text": request.text}
        return {"generations": presence.answers.snapshot(), "jobs": presence.jobs.active, "listening": asked}

    def cancel_job(self, room_id: str, job_id: str) -> bool:
        """Asks a background job of the agent to stop; False when it runs no such job."""
        presence = self._presences.get(room_id)
        return presence is not None and presence.jobs.cancel(job_id)

    def on_question_ended(self, question: Question) -> bool:
        """Brings the agent what a person did with a question of its."""
        presence = self._presences.get(question.asked_in)
        return presence is not None and presence.asker.ended(question)

    async def close(self) -> None:
        """Leaves every room."""
        for room_id in tuple(self._presences):
            self._leave(room_id, "shutdown")
        if self._policy is not None:
            await self._policy.close()

    def _leave(self, room_id: str, reason: str) -> None:
        presence = self._presences.pop(room_id, None)
        if presence is not None:
            presence.close(reason)
        self._forget(room_id)

    def _forget(self, room_id: str) -> None:
        forgetful = (self._memory, self._policy) if self._policy is not None else (self._memory,)
        for kept in forgetful:
            try:
                with contained():
                    kept.forget_room(room_id)
            except Exception:
                log.exception("room %s: a %s of %s failed to forget it", room_id, type(kept).__name__, self.channel_id)
