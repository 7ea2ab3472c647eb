"""One agent in one room: whether it takes a turn, what it has in mind, and the answers it is making."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from voiceagent.agent.announcer import Purpose
from voiceagent.agent.answers import Answer, Answers
from voiceagent.agent.asking import Asker
from voiceagent.agent.asktools import AskTools, offered
from voiceagent.agent.character import Character
from voiceagent.agent.compactor import Compactor
from voiceagent.agent.context import AIContext, AIGenerationEvent, as_read, conversation, equip
from voiceagent.agent.deliberation import Deliberation
from voiceagent.agent.foresight import Foresights, Grounds
from voiceagent.agent.generation import Ending, Generation
from voiceagent.agent.inbox import Given
from voiceagent.agent.jobs import Jobs
from voiceagent.agent.mind import Mind
from voiceagent.agent.notes import add_turn_note
from voiceagent.agent.recollection import Recollection
from voiceagent.agent.tools import Several, joined
from voiceagent.agent.turn import Turn, speak_turn
from voiceagent.judgment.classifier.backchannel import Backchannels
from voiceagent.judgment.policy import SpeakDecision, SpeakTurn
from voiceagent.judgment.thinker import Heard
from voiceagent.judgment.thought import Thought
from voiceagent.llm import turn_notes
from voiceagent.room.bounded import contained
from voiceagent.room.channel import Host, RoomContext
from voiceagent.room.events import EventType, RoomEvent
from voiceagent.room.hooks import ErrorEvent, HookTrigger
from voiceagent.room.ledger import ONLY_STOPS, STEER, Disposition
from voiceagent.room.origin import CAUSED_BY
from voiceagent.room.reply import Reply
from voiceagent.room.visibility import ALL, narrow

log = logging.getLogger(__name__)

OFFER: Final = turn_notes.OFFER
_BACKCHANNELS: Final = Backchannels()


class Presence:
    """Takes turns in one room, each in a task of its own; nothing it does holds anybody up."""

    __slots__ = (
        "_arrivals",
        "_compactor",
        "_host",
        "_memory",
        "_mind",
        "_replies",
        "_room_id",
        "_undecided",
        "_who",
        "ahead",
        "answers",
        "asker",
        "jobs",
    )

    def __init__(self, character: Character, host: Host, room_id: str) -> None:
        self._who = character
        self._host = host
        self._room_id = room_id
        self.answers = Answers(host, room_id, character.channel_id, self._again)
        self.asker = Asker(host, room_id, character.channel_id)
        self.jobs = Jobs(host, room_id, character.channel_id, character.settings.max_jobs)
        self._replies: dict[Reply, None] = {}
        self._undecided: dict[str, None] = {}
        self._arrivals = count(1)
        self._compactor = Compactor(
            host, room_id, character.channel_id, character.means.model, after=character.settings.compact_after
        )
        self._memory = Recollection(character.memory, host, room_id, character.channel_id)
        self._mind: Mind | None = None
        if character.thinker is not None:
            self._mind = Mind(character.thinker, host, room_id, character.channel_id)
        who = (character.channel_id, character.means, character.deliberation)
        self.ahead = Foresights(Grounds(host, room_id, *who, self._memory, self._notes))

    def hear(self, event: RoomEvent, room: RoomContext) -> None:
        """Takes an event in, its own included, whether asked about it or not."""
        self.jobs.heard(event)
        speaker = self._who.settings.name
        if event.source.channel_id != self._who.channel_id:
            said_by = room.speaker(event)
            speaker = said_by.label if said_by is not None else ""
        self._memory.take(event, speaker)

    def begin(self, event: RoomEvent, room: RoomContext) -> None:
        """Starts a turn on an event, from the room as it stands now; or takes it into the answer that it is meant for."""
        turn = replace(self._read(event, room), arrival=next(self._arrivals))
        anchor = event.metadata.get(STEER)
        if isinstance(anchor, str):
            self.answers.anchor(Given(turn, anchored=True), anchor)
            return
        self._undecided[event.id] = None
        reply = self._reply(turn, self.ahead.take(turn))
        self._start(self._run(turn, reply), reply)

    def foresee(self, event: RoomEvent, room: RoomContext) -> None:
        """Thinks ahead of what may have been said, as far as that shows nothing: not for those whose turns others work on, nor
        while a job of the agent runs, since its end changes what the model is told."""
        if self._who.replaces is None and self._who.delegates is None and not self.jobs.active_ids:
            turn = self._read(event, room)
            self.ahead.begin(turn, self._reply(turn))

    def close(self, reason: str) -> None:
        """Leaves the room: what is being answered stops, and ends."""
        self.answers.close(reason)
        self.ahead.close()
        self.jobs.close()
        self.asker.close()
        self._compactor.close()
        for input_id in tuple(self._undecided):
            self._decided(input_id, "held", reason)
        for reply in tuple(self._replies):
            reply.cancel("session_ended")
        self._memory.close()
        if self._mind is not None:
            self._mind.close()

    def _again(self, given: Given, earlier: tuple[RoomEvent, ...]) -> None:
        """Starts a turn on inputs that were to go into an answer which ended before it took them in: they are decided on."""
        reply = self._reply(given.turn)
        self._start(self._guarded(given.turn, self._place(given, reply, "answer", earlier), reply), reply)

    def _reply(self, turn: Turn, generation_id: str | None = None) -> Reply:
        seats = self._host.context(self._room_id).bindings
        own = next((one.visibility for one in seats if one.channel_id == self._who.channel_id), ALL)
        return Reply(
            generation_id or self._host.new_id(),
            self._room_id,
            channel_id=self._who.channel_id,
            responds_to=turn.trigger.id,
            visibility=narrow(turn.trigger.response_visibility or ALL, own, {one.channel_id: one.channel_type for one in seats}),
        )

    def _start(self, turn: Coroutine[object, object, None], reply: Reply) -> None:
        self._replies[reply] = None
        task = self._host.spawn(turn, f"turn of {self._who.channel_id}")
        task.add_done_callback(lambda _: self._over(reply))
        reply.when_cancelled(task.cancel)

    def _over(self, reply: Reply) -> None:
        self._replies.pop(reply, None)
        self.ahead.over(reply.id)
        self.ahead.cost(reply.responds_to or "")

    def _read(self, event: RoomEvent, room: RoomContext) -> Turn:
        who = self._who
        stand_in = who.replaces.stand_in(event, room) if who.replaces is not None else None
        taken_over = stand_in is not None or who.delegates is not None
        ai_context = self._context(event, room, stand_in)
        if who.deliberation is None or taken_over or event.type is EventType.INSTRUCTION or STEER in event.metadata:
            return Turn(event, ai_context)
        asked = speak_turn(who.channel_id, event, room, who.settings.window, self.answers.aloud())
        if self._mind is None:
            return Turn(event, ai_context, asked)
        asked = asked.having_thought(self._mind.thought)
        return Turn(event, ai_context, asked, self._context(event, room, None, name_all=True), self._mind.moment)

    def _context(self, event: RoomEvent, room: RoomContext, stand_in: RoomEvent | None, *, name_all: bool = False) -> AIContext:
        settings = self._who.settings
        messages = conversation(self._who.channel_id, event, room, settings.window, stand_in=stand_in, name_all=name_all)
        tools = joined(self._who.means.tools.specs, offered(settings))
        return AIContext(messages, self._who.system_prompt, tools, settings.temperature, settings.max_tokens)

    async def _run(self, turn: Turn, reply: Reply) -> None:
        await self._guarded(turn, self._take(turn, reply), reply)

    async def _guarded(self, turn: Turn, work: Coroutine[object, object, None], reply: Reply) -> None:
        """A turn that fails is reported; whatever happens to it, what it was to answer has an end."""
        input_id = turn.trigger.id
        try:
            with contained():
                await work
        except Exception as error:
            log.exception("room %s: a turn of %s failed", self._room_id, self._who.channel_id)
            self._failed(turn.trigger, "turn", error)
            self._decided(input_id, "failed", "turn")
        finally:
            reply.end()
            self._decided(input_id, "held", reply.cancelled or "stopped")

    def _decided(self, input_id: str, disposition: Disposition | None = None, reason: str | None = None) -> None:
        """An input has found its way, or its end; nothing when it had before."""
        if input_id in self._undecided:
            del self._undecided[input_id]
            if disposition is not None:
                self._host.settle(self._room_id, input_id, self._who.channel_id, disposition, reason=reason)

    async def _take(self, turn: Turn, reply: Reply) -> None:
        stops = turn.trigger.metadata.get(ONLY_STOPS) is True
        if turn.speak is None or self._who.deliberation is None:
            if stops:
                self._listened(turn)
            else:
                await self._place(Given(turn), reply, _purpose(turn.trigger))
            return
        ahead = self.ahead.of(reply.id)
        forethought = await ahead.decision() if ahead is not None else None
        decision = await self._who.deliberation.decide(self._host, turn.speak, ahead=forethought)
        if decision.final:
            self._listened(turn)  # what the hooks of its thought take holds up nobody
        if decision.mode == "silent" and self._mind is not None:
            decision = await self._think(turn, decision, self._who.deliberation, self._mind)
        if stops or decision.mode == "silent":  # whoever stops an answer may ask to be listened to besides
            self._listened(turn)
            return
        await self._place(Given(turn, _notes_of(decision)), reply, "offer" if decision.mode == "offer" else "answer")

    def _listened(self, turn: Turn) -> None:
        """The agent leaves an input to others; why is `input.decided`'s, for hosts."""
        murmur = _BACKCHANNELS.is_one(turn.trigger.content.body)
        self._decided(turn.trigger.id, "backchannel" if murmur else "listened")

    async def _place(self, given: Given, reply: Reply, purpose: Purpose, earlier: tuple[RoomEvent, ...] = ()) -> None:
        """Answers an input, unless it finds its way into an answer that is being made."""
        room = self._host.context(self._room_id)
        if "withdrawn" in room.unanswered.values():  # perhaps since the turn began
            given = replace(given, turn=replace(self._read(given.turn.trigger, room), arrival=given.turn.arrival))
        answer = await self.answers.place(given, reply, purpose, earlier)
        self._decided(given.input_id)
        if answer is None:
            return
        if self._mind is None or given.turn.speak is None:
            await self._answer(answer, given.notes)
            return
        notes = self._with_thought(given.notes)
        self._mind.speaks()
        try:
            await self._answer(answer, notes)
        finally:
            self._mind.spoke()

    def _with_thought(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        thought = self._mind.thought.note() if self._mind is not None else None
        return (thought, *notes) if thought else notes

    def _notes(self, decision: SpeakDecision | None) -> tuple[str, ...]:
        """A turn's notes, if this is what is decided on it; None: nobody decides."""
        return self._with_thought(_notes_of(decision)) if decision is not None else ()

    async def _think(self, turn: Turn, decision: SpeakDecision, deliberation: Deliberation, mind: Mind) -> SpeakDecision:
        """Has the silent agent think, and the policy decide again if the thought is back in time and wants to be said."""
        assert turn.speak is not None and turn.heard is not None
        asked = AIGenerationEvent(self._room_id, self._who.channel_id, turn.trigger, turn.heard, "", purpose="thought")
        outcome = await self._host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, self._room_id)
        if outcome.blocked_by is not None:
            return decision
        try:
            heard = Heard(outcome.payload.ai_context.system_prompt, tuple(outcome.payload.ai_context.messages))
        except Exception:
            log.exception("room %s: hooks left %s nothing to think about; its thought stays", self._room_id, self._who.channel_id)
            return decision
        settled = mind.consider(heard, turn.moment, turn.arrival)
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

    async def _answer(self, answer: Answer, notes: Sequence[str]) -> None:
        trigger, ending = answer.turn.trigger, None
        self.jobs.results.replying(trigger, answer.reply.id)
        try:
            ending = await self._make(answer, notes)
        except Exception:
            self.answers.settle(answer, "failed", "turn")
            raise
        finally:
            self.answers.settle(answer, "held", answer.reply.cancelled or "stopped")
            await self.jobs.results.replied(trigger, answer.reply, ending.kind if ending is not None else None)
        self._compactor.consider()
        if ending is not None and ending.kind == "finished":
            self.asker.again()

    async def _make(self, answer: Answer, notes: Sequence[str]) -> Ending | None:
        reply, trigger = answer.reply, answer.turn.trigger
        context = await self._context_of(answer, tuple(notes))
        if context is None or reply.cancelled is not None:
            return None
        start = self.ahead.start(reply.id, context)
        several = Several(*context.more_tools, self._who.means.tools)
        tools = AskTools(self.asker, several, self._who.settings, reply, trigger)
        generation = Generation(
            self._host,
            replace(self._who.means, tools=self.jobs.tools(tools, reply, trigger)),
            reply,
            answer.opening,
            jobs=lambda: self.jobs.active_ids,
            asked=lambda: tools.asked,
            start=start,
            spent=self.ahead.cost(trigger.id),
        )
        self.answers.begin(answer, generation)
        if not (_is_answer_to_question(trigger) and self._who.listens_only(self._room_id)):
            self._host.sound(reply)
        reply.when_cancelled(generation.stop)
        ending = await generation.run(context)
        self.answers.ended(answer, ending)
        if ending.error is not None:
            self._failed(trigger, "generation", ending.error)
        return ending

    async def _context_of(self, answer: Answer, notes: tuple[str, ...]) -> AIContext | None:
        """What the model is asked: as it was foreseen, or as it is made now. None when a hook blocks it."""
        turn, reply, trigger = answer.turn, answer.reply, answer.turn.trigger
        ahead = self.ahead.of(reply.id)
        told = await self.jobs.notes() if ahead is not None else []
        if ahead is not None and not told and (foreseen := await ahead.context_with(notes)) is not None:
            return foreseen
        recalled = () if trigger.metadata.get("standalone") is True else await self._memory.recall(trigger)
        await self._delegate(turn)
        for note in (*recalled, *(told or await self.jobs.notes()), *notes):
            turn.ai_context.messages = add_turn_note(turn.ai_context.messages, note)
        asked = AIGenerationEvent(self._room_id, self._who.channel_id, trigger, turn.ai_context, reply.id)
        outcome = await self._host.run_hooks(HookTrigger.BEFORE_AI_GENERATION, asked, self._room_id)
        if outcome.blocked_by is None:
            return equip(outcome.payload.ai_context)
        log.info("room %s: %s does not answer %s: %s", self._room_id, self._who.channel_id, trigger.id, outcome.reason)
        self.answers.settle(answer, "rejected", "blocked")
        return None

    async def _delegate(self, turn: Turn) -> None:
        """Has others work on what is to be answered, where the agent's strategy says so."""
        if self._who.delegates is None:
            return
        messages = turn.ai_context.messages
        stand_in = await self._who.delegates.delegate(turn.trigger, tuple(messages))
        if stand_in is not None:
            turn.ai_context.messages = [*messages[:-1], as_read(stand_in, messages[-1].name)]

    def _failed(self, trigger: RoomEvent, stage: str, error: Exception) -> None:
        failure = ErrorEvent(self._room_id, self._who.channel_id, stage, error, responds_to=trigger.id)
        self._host.notify(HookTrigger.ON_ERROR, failure, self._room_id)


def _notes_of(decision: SpeakDecision) -> tuple[str, ...]:
    return (*decision.notes, OFFER) if decision.mode == "offer" else decision.notes


def _is_answer_to_question(trigger: RoomEvent) -> bool:
    """Whether it brings what a person has answered, or seems to have: acted on in a room that only listens, too, but not said
    there."""
    caused_by = trigger.metadata.get(CAUSED_BY)
    return isinstance(caused_by, dict) and caused_by.get("kind") in ("question_answered", "question_proposed")


def _purpose(trigger: RoomEvent) -> Purpose:
    """What an answer without a decision is for: a job's result handed back, or an answer like others."""
    caused_by = trigger.metadata.get(CAUSED_BY)
    return "handback" if isinstance(caused_by, dict) and "job_id" in caused_by else "answer"
