"""One agent in one room: whether it takes a turn, what it has in mind, and the answers it is making."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.agent.context import AIContext, AIGenerationEvent, conversation
from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.generation import Generation, Means
from voiceagent.agent.memory import MemoryProvider
from voiceagent.agent.mind import Mind
from voiceagent.agent.notes import add_turn_note
from voiceagent.agent.recollection import Recollection
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.strategies import Strategy
from voiceagent.agent.turn import Turn, speak_turn
from voiceagent.judgment.policy import SpeakDecision, SpeakTurn
from voiceagent.judgment.thinker import Heard, Thinker
from voiceagent.judgment.thought import Thought
from voiceagent.llm import turn_notes
from voiceagent.room.bounded import contained
from voiceagent.room.channel import Host, RoomContext
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)

OFFER: Final = turn_notes.OFFER


@dataclass(frozen=True, slots=True)
class Character:
    """What makes an agent the one it is, the same in every room."""

    channel_id: str
    system_prompt: str
    settings: AgentSettings
    means: Means
    memory: MemoryProvider
    deliberation: Deliberation | None = None
    thinker: Thinker | None = None
    think_wait_ms: int = 0
    decide_late: bool = False
    strategy: Strategy | None = None


class Presence:
    """Takes turns in one room, each in a task of its own; nothing it does holds anybody up."""

    def __init__(self, character: Character, host: Host, room_id: str) -> None:
        self._who = character
        self._host = host
        self._room_id = room_id
        self._replies: set[Reply] = set()
        self._aloud: dict[Reply, RoomEvent] = {}
        self._memory = Recollection(character.memory, host, room_id, character.channel_id)
        self._mind: Mind | None = None
        if character.thinker is not None:
            self._mind = Mind(character.thinker, host, room_id, character.channel_id)

    def hear(self, event: RoomEvent, room: RoomContext) -> None:
        """Takes an event in, its own included, whether asked about it or not."""
        speaker = self._who.settings.name
        if event.source.channel_id != self._who.channel_id:
            said_by = room.speaker(event)
            speaker = said_by.label if said_by is not None else ""
        self._memory.take(event, speaker)

    def begin(self, event: RoomEvent, room: RoomContext) -> None:
        """Starts a turn on an event, from the room as it stands now."""
        reply = Reply(
            self._host.new_id(),
            self._room_id,
            channel_id=self._who.channel_id,
            responds_to=event.id,
            visibility=event.response_visibility or "all",
        )
        self._replies.add(reply)
        task = self._host.spawn(self._run(self._read(event, room), reply), f"turn of {self._who.channel_id}")
        task.add_done_callback(lambda _: self._replies.discard(reply))
        reply.when_cancelled(task.cancel)

    def close(self) -> None:
        """Leaves the room: what is being answered stops."""
        for reply in tuple(self._replies):
            reply.cancel("session_ended")
        self._memory.close()
        if self._mind is not None:
            self._mind.close()

    def _read(self, event: RoomEvent, room: RoomContext) -> Turn:
        who = self._who
        stand_in = who.strategy.stand_in(event, room) if who.strategy is not None else None
        ai_context = self._context(event, room, stand_in)
        if who.deliberation is None or stand_in is not None or event.type is EventType.INSTRUCTION:
            return Turn(event, ai_context)
        answering = [begun for reply, begun in self._aloud.items() if reply.cancelled is None]
        asked = speak_turn(who.channel_id, event, room, who.settings.window, answering)
        if self._mind is None:
            return Turn(event, ai_context, asked)
        asked = asked.having_thought(self._mind.thought)
        return Turn(event, ai_context, asked, self._context(event, room, None, name_all=True), self._mind.moment)

    def _context(self, event: RoomEvent, room: RoomContext, stand_in: RoomEvent | None, *, name_all: bool = False) -> AIContext:
        settings = self._who.settings
        messages = conversation(self._who.channel_id, event, room, settings.window, stand_in=stand_in, name_all=name_all)
        tools = self._who.means.tools.specs
        return AIContext(messages, self._who.system_prompt, tools, settings.temperature, settings.max_tokens)

    async def _run(self, turn: Turn, reply: Reply) -> None:
        try:
            with contained():
                await self._take(turn, reply)
        except Exception as error:
            log.exception("room %s: a turn of %s failed", self._room_id, self._who.channel_id)
            self._failed(turn.trigger, "turn", error)
        finally:
            reply.end()

    async def _take(self, turn: Turn, reply: Reply) -> None:
        if turn.speak is None or self._who.deliberation is None:
            await self._answer(turn, reply, ())
            return
        decision = await self._who.deliberation.decide(self._host, turn.speak)
        if decision.mode == "silent" and self._mind is not None:
            decision = await self._think(turn, decision, self._who.deliberation, self._mind)
        if decision.mode == "silent":
            return
        notes = (*decision.notes, OFFER) if decision.mode == "offer" else decision.notes
        if self._mind is None:
            await self._answer(turn, reply, notes)
            return
        thought = self._mind.thought.note()
        self._mind.speaks()
        try:
            await self._answer(turn, reply, (thought, *notes) if thought else notes)
        finally:
            self._mind.spoke()

    async def _think(self, turn: Turn, decision: SpeakDecision, deliberation: Deliberation, mind: Mind) -> SpeakDecision:
        """Has the silent agent think, and the policy decide again if the thought is back in time and wants to be said."""
        assert turn.speak is not None and turn.heard is not None
        asked = AIGenerationEvent(self._room_id, self._who.channel_id, turn.trigger, turn.heard, "", purpose="thought")
        outcome = await self._host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, self._room_id)
        if outcome.blocked_by is not None:
            return decision
        heard = outcome.payload.ai_context
        settled = mind.consider(Heard(heard.system_prompt, tuple(heard.messages)), turn.moment)
        if not decision.final and self._who.think_wait_ms > 0:
            await asyncio.wait((settled,), timeout=self._who.think_wait_ms / 1000)
            if settled.done():
                thought = settled.result()
                if thought is None or not thought.want_to_say:
                    return decision
                return await deliberation.decide(self._host, turn.speak.having_thought(thought), asked_again=True)
        if self._who.decide_late:
            self._host.spawn(
                self._decide_late(settled, turn.speak, deliberation, mind), f"late decision of {self._who.channel_id}"
            )
        return decision

    async def _decide_late(
        self, settled: asyncio.Future[Thought | None], asked: SpeakTurn, deliberation: Deliberation, mind: Mind
    ) -> None:
        """Has the policy decide once more when a thought is back too late for the turn: for the hooks alone, no turn follows."""
        thought = await settled
        if thought is not None and thought.want_to_say and mind.is_newest(settled):
            await deliberation.decide(self._host, asked.having_thought(thought), asked_again=True, late=True)

    async def _answer(self, turn: Turn, reply: Reply, notes: Sequence[str]) -> None:
        trigger, channel_id = turn.trigger, self._who.channel_id
        recalled = () if trigger.metadata.get("standalone") is True else await self._memory.recall(trigger)
        for note in (*recalled, *notes):
            turn.ai_context.messages = add_turn_note(turn.ai_context.messages, note)
        asked = AIGenerationEvent(self._room_id, channel_id, trigger, turn.ai_context, reply.id)
        outcome = await self._host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, self._room_id)
        if outcome.blocked_by is not None:
            log.info("room %s: %s does not answer %s: %s", self._room_id, channel_id, trigger.id, outcome.reason)
            return
        if reply.cancelled is not None:
            return
        self._aloud[reply] = trigger
        self._host.sound(reply)
        generation = Generation(self._host, self._who.means, reply, trigger)
        reply.when_cancelled(generation.stop)
        try:
            error = await generation.run(outcome.payload.ai_context)
        finally:
            del self._aloud[reply]
        if error is not None:
            self._failed(trigger, "generation", error)

    def _failed(self, trigger: RoomEvent, stage: str, error: Exception) -> None:
        failure = ErrorEvent(self._room_id, self._who.channel_id, stage, error, responds_to=trigger.id)
        self._host.notify(HookTrigger.ON_ERROR, failure, self._room_id)
