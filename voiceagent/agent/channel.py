"""The agent's channel: hears what it is asked, answers in a task of its own, and holds up nobody."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from voiceagent.agent.context import AIContext, AIGenerationEvent, conversation
from voiceagent.agent.generation import Generation, Means
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.strategies import Strategy
from voiceagent.agent.tools import Tool, Toolbox
from voiceagent.llm.model import LanguageModel
from voiceagent.room.channel import Channel, ChannelOutput, RoomContext
from voiceagent.room.events import ChannelType, RoomEvent
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)


class AIChannel(Channel):
    """An agent: give it a model, and what it should know of itself.

    `provider` makes the words. `system_prompt` replaces the settings' one. `tools` are async functions with type hints, or Tool
    values. `strategy` may hand a turn a stand-in for the event it answers. One channel may sit in any number of rooms; answers
    to different messages are made side by side.
    """

    def __init__(
        self,
        channel_id: str,
        *,
        provider: LanguageModel,
        system_prompt: str | None = None,
        tools: Iterable[Tool | Callable[..., Awaitable[object]]] = (),
        settings: AgentSettings | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        super().__init__(channel_id, ChannelType.AI)
        self._settings = settings or AgentSettings()
        prompt = self._settings.system_prompt if system_prompt is None else system_prompt
        self._system_prompt = prompt.replace("{name}", self._settings.name)
        self._means = Means(
            provider, Toolbox(tools, self._settings.tool_timeout_ms), self._settings.apology, self._settings.max_tool_rounds
        )
        self._strategy = strategy
        self._replies: set[Reply] = set()

    async def on_event(self, event: RoomEvent, context: RoomContext) -> ChannelOutput | None:
        """Begins to answer and returns at once; what the turn reads is the conversation as it stands now."""
        stand_in = self._strategy.stand_in(event, context) if self._strategy is not None else None
        read = event if stand_in is None else replace(stand_in, id=event.id, index=event.index)
        messages = conversation(self.channel_id, read, context, self._settings.window)
        ai_context = AIContext(
            messages,
            self._system_prompt,
            self._means.tools.specs,
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
        )
        self.host.spawn(self._answer(event, ai_context), f"answer of {self.channel_id}")
        return None

    def on_detach(self, room_id: str) -> None:
        """Stops what is being answered in a room that the agent leaves."""
        for reply in tuple(self._replies):
            if reply.room_id == room_id:
                reply.cancel("session_ended")

    async def _answer(self, trigger: RoomEvent, ai_context: AIContext) -> None:
        reply = Reply(
            self.host.new_id(),
            trigger.room_id,
            channel_id=self.channel_id,
            responds_to=trigger.id,
            visibility=trigger.response_visibility or "all",
        )
        self._replies.add(reply)
        try:
            await self._generate(trigger, reply, ai_context)
        finally:
            reply.end()
            self._replies.discard(reply)

    async def _generate(self, trigger: RoomEvent, reply: Reply, ai_context: AIContext) -> None:
        asked = AIGenerationEvent(trigger.room_id, self.channel_id, trigger, ai_context, reply.id)
        outcome = await self.host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, trigger.room_id)
        if outcome.blocked_by is not None:
            log.info("room %s: %s does not answer %s: %s", trigger.room_id, self.channel_id, trigger.id, outcome.reason)
            return
        if reply.cancelled is not None:
            return
        generation = Generation(self.host, self._means, reply, trigger)
        reply.when_cancelled(generation.stop)
        self.host.sound(reply)
        error = await generation.run(outcome.payload.ai_context)
        if error is not None:
            failure = ErrorEvent(trigger.room_id, self.channel_id, "generation", error, responds_to=trigger.id)
            self.host.notify(HookTrigger.ON_ERROR, failure, trigger.room_id)
