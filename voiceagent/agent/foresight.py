"""What an agent has ready for what somebody may have said: the decision, what the model would be asked, and its words so far."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from voiceagent.agent.context import AIContext, AIGenerationEvent, equip, prompt_of
from voiceagent.agent.deliberation import Deliberation, Forethought
from voiceagent.agent.generation import Means
from voiceagent.agent.headstart import HeadStart
from voiceagent.agent.notes import add_turn_note
from voiceagent.agent.recollection import Recollection
from voiceagent.agent.turn import Turn
from voiceagent.judgment.policy import SpeakDecision
from voiceagent.llm.model import KeepsPlace
from voiceagent.room.channel import Host
from voiceagent.room.events import RoomEvent
from voiceagent.room.hooks import HookTrigger
from voiceagent.room.reply import Reply

log = logging.getLogger(__name__)

OPEN: Final = 8
"""Utterances of one room that an agent thinks ahead of at once."""

DECISIONS: Final = 3
"""How often a policy is asked about one utterance before it is there."""

MEASURED: Final = frozenset({"start_ms", "end_ms", "voiced_ms", "audio_ms", "replaces", "loudspeaker"})
"""Metadata that is measured of the sound anew when the utterance is over, and that nothing said depends on."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What thinking ahead in one room is made of. `notes_of` are the turn's notes of a decision (None: there is no policy)."""

    host: Host
    room_id: str
    channel_id: str
    means: Means
    deliberation: Deliberation | None
    memory: Recollection
    notes_of: Callable[[SpeakDecision | None], tuple[str, ...]]


@dataclass(slots=True, eq=False)
class Foresight:
    """One utterance's. `decided` is set once `forethought` is as it stays, `asked` once `context` is; both are None where it came
    to nothing. `notes` are those that `context` holds."""

    turn: Turn
    draft: Reply
    forethought: Forethought | None = None
    notes: tuple[str, ...] = ()
    context: AIContext | None = None
    start: HeadStart | None = None
    decided: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    async def decision(self) -> Forethought | None:
        """What the policy decided, as soon as it has."""
        await self.decided.wait()
        return self.forethought

    async def context_with(self, notes: tuple[str, ...]) -> AIContext | None:
        """What the model is asked when these are the notes; None when others were foreseen."""
        await self.decided.wait()
        if self.notes != notes:
            return None
        await self.asked.wait()
        return self.context

    def end(self) -> None:
        """Nothing more will be known of it."""
        self.decided.set()
        self.asked.set()


class Foresights:
    """One agent's in one room. Nothing of them is stored, told or heard; what is thrown away is counted."""

    __slots__ = ("_asks", "_closed", "_costs", "_grounds", "_open", "_taken")

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._open: dict[str, Foresight] = {}
        self._taken: dict[str, Foresight] = {}
        self._costs: dict[str, dict[str, int]] = {}
        self._asks: dict[str, int] = {}
        self._closed = False

    def begin(self, turn: Turn, draft: Reply) -> None:
        """Thinks ahead of a turn whose answer would have the draft's id, unless that was done; of other words for it, too, but no
        model is asked a second time before the turn is there."""
        input_id = turn.trigger.id
        known = self._open.get(input_id)
        if self._closed or (known is not None and _same(known.turn, turn)):
            return
        self.drop(input_id)
        self._asks[input_id] = self._asks.get(input_id, 0) + 1
        _bound(self._asks)
        if self._asks[input_id] > DECISIONS:
            return
        if len(self._open) >= OPEN:
            self.drop(next(iter(self._open)))
        one = self._open[input_id] = Foresight(turn, draft)
        one.task = self._grounds.host.spawn(self._run(one), f"foresight of {self._grounds.channel_id}")
        one.task.add_done_callback(lambda _: one.end())

    def take(self, turn: Turn) -> str | None:
        """The turn is there: returns the id under which its answer was begun, None when nothing fits it."""
        one = self._open.pop(turn.trigger.id, None)
        self._asks.pop(turn.trigger.id, None)
        if one is None:
            return None
        if not _same(one.turn, turn):
            self._throw_away(one)
            return None
        self._taken[one.draft.id] = one
        return one.draft.id

    def of(self, generation_id: str) -> Foresight | None:
        """What was ready for the turn with this answer."""
        return self._taken.get(generation_id)

    def start(self, generation_id: str, context: AIContext) -> HeadStart | None:
        """The request that was begun with this context; where none fits, what was begun is thrown away."""
        one = self._taken.get(generation_id)
        if one is not None and one.context is context and one.start is not None and one.start.fits:
            return one.start
        self.over(generation_id)
        return None

    def over(self, generation_id: str) -> None:
        """That turn is over; what was not used of it is thrown away."""
        one = self._taken.pop(generation_id, None)
        if one is not None:
            self._throw_away(one)

    def cost(self, input_id: str) -> Mapping[str, int]:
        """What was thrown away for an input, told once."""
        return self._costs.pop(input_id, {})

    def drop(self, input_id: str) -> None:
        """The person went on, or said something else; nothing when nothing was thought."""
        one = self._open.pop(input_id, None)
        if one is not None:
            self._throw_away(one)

    def close(self) -> None:
        """The agent leaves the room."""
        self._closed = True
        for input_id in tuple(self._open):
            self.drop(input_id)
        for generation_id in tuple(self._taken):
            self.over(generation_id)
        self._costs.clear()
        self._asks.clear()

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _throw_away(self, one: Foresight) -> None:
        if one.task is not None:
            one.task.cancel()
        one.end()
        start = one.start
        if start is None or start.taken:
            return
        start.drop()
        cost = {f"discarded_{kind}": spent for kind, spent in {"requests": 1, **start.cost}.items()}
        self._costs[one.turn.trigger.id] = cost
        _bound(self._costs)
        self._grounds.host.turns(self._grounds.room_id).discarded(start.cost)

    async def _run(self, one: Foresight) -> None:
        try:
            if await self._decide(one) and one.turn.trigger.id not in self._costs:
                await self._ask(one)
        except Exception:
            log.exception("room %s: %s thinks ahead no further", self._grounds.room_id, self._grounds.channel_id)

    async def _decide(self, one: Foresight) -> bool:
        """Whether the agent would speak."""
        grounds, decision = self._grounds, None
        if grounds.deliberation is not None and one.turn.speak is not None:
            one.forethought = await grounds.deliberation.foresee(one.turn.speak)
            if one.forethought is None or one.forethought.decision.mode == "silent":
                one.decided.set()
                return False
            decision = one.forethought.decision
        one.notes = grounds.notes_of(decision)
        one.decided.set()
        return True

    async def _ask(self, one: Foresight) -> None:
        """What the model is asked, past the hooks; then it is. A hook that blocks wants to be asked again when all is sure."""
        grounds, turn, model = self._grounds, one.turn, self._grounds.means.model
        if isinstance(model, KeepsPlace) and model.keeps_place:
            return
        recalled = await grounds.memory.recall(turn.trigger)
        own = turn.ai_context
        context = replace(own, messages=list(own.messages), tools=list(own.tools), more_tools=list(own.more_tools))
        for note in (*recalled, *one.notes):
            context.messages = add_turn_note(context.messages, note)
        asked = AIGenerationEvent(grounds.room_id, grounds.channel_id, turn.trigger, context, one.draft.id, speculative=True)
        outcome = await grounds.host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, grounds.room_id)
        if outcome.blocked_by is not None:
            return
        context = equip(outcome.payload.ai_context)
        prompt = prompt_of(context, context.messages, with_tools=grounds.means.max_tool_rounds > 0)
        one.context = context
        one.start = HeadStart(model, prompt, one.draft)
        one.asked.set()
        one.start.begin(grounds.host.spawn)
        grounds.host.ahead.prepare(one.draft)


def _same(before: Turn, now: Turn) -> bool:
    """Whether what was foreseen is what came: to the one who decides, and to the model."""
    if not _says_the_same(before.trigger, now.trigger) or before.ai_context != now.ai_context:
        return False
    if before.speak is None or now.speak is None:
        return before.speak is now.speak
    return replace(before.speak, event=now.trigger) == replace(now.speak, event=now.trigger)


def _says_the_same(before: RoomEvent, now: RoomEvent) -> bool:
    kept = {
        name: getattr(now, name) for name in ("index", "created_at", "status", "metadata", "idempotency_key", "correlation_id")
    }
    return replace(before, **kept) == now and _said(before) == _said(now)


def _said(event: RoomEvent) -> dict[str, object]:
    return {name: value for name, value in event.metadata.items() if name not in MEASURED}


def _bound(kept: dict[str, int] | dict[str, dict[str, int]]) -> None:
    while len(kept) > 2 * OPEN:
        del kept[next(iter(kept))]
