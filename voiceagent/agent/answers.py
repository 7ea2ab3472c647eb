"""The answers that an agent is making in one room: how each new input finds its way among them, and what becomes of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from voiceagent.agent.announcer import Opening, Purpose
from voiceagent.agent.generation import Ending, Generation
from voiceagent.agent.inbox import Given
from voiceagent.agent.routes import Arrival, Running, Way, way_of
from voiceagent.agent.turn import Turn
from voiceagent.room.channel import Host
from voiceagent.room.events import EventType, RoomEvent, TextContent
from voiceagent.room.ledger import STEER, Disposition
from voiceagent.room.origin import CAUSED_BY
from voiceagent.room.reply import Reply
from voiceagent.values import JSON

UNHEARD: Final = 16
"""Answers that are made and wait to sound, which may still be given up."""


@dataclass(slots=True, eq=False)
class Answer:
    """One answer from the moment that it is decided on until something of it has sounded.

    `joined` are the inputs that came to it later, `carried` those that another answer has taken over from it. `over`: what it
    took in has its verdict.
    """

    turn: Turn
    reply: Reply
    earlier: tuple[RoomEvent, ...] = ()
    purpose: Purpose = "answer"
    way: Way = field(default_factory=lambda: Way("new_turn"))
    generation: Generation | None = None
    joined: list[RoomEvent] = field(default_factory=list)
    carried: frozenset[str] = frozenset()
    over: bool = False

    @property
    def opening(self) -> Opening:
        """What its generation begins with."""
        return Opening(self.turn.trigger, self.earlier, self.purpose, "parallel" if self.way.route == "parallel" else "new_turn")

    @property
    def open(self) -> bool:
        """Whether its generation has begun and takes input."""
        return self.generation is not None and not self.over and self.reply.cancelled is None and not self.generation.inbox.closed

    @property
    def replaceable(self) -> bool:
        """Whether another may still take its place: it is being made, or made and not yet sounding."""
        return self.reply.cancelled is None and not self.reply.heard and (not self.over or bool(self.reply.text.strip()))


class Answers:
    """One agent's answers in one room. `again` starts a turn on inputs that their answer left behind."""

    __slots__ = ("_again", "_answers", "_channel_id", "_host", "_ledger", "_room_id")

    def __init__(self, host: Host, room_id: str, channel_id: str, again: Callable[[Given, tuple[RoomEvent, ...]], None]) -> None:
        self._host = host
        self._room_id = room_id
        self._channel_id = channel_id
        self._ledger = host.ledger(room_id)
        self._again = again
        self._answers: list[Answer] = []

    # -- the way of an input --------------------------------------------------------------------------------------------

    async def place(self, given: Given, reply: Reply, purpose: Purpose, earlier: tuple[RoomEvent, ...] = ()) -> Answer | None:
        """An input that is to be answered: returns the answer to be made, None when it has joined another."""
        arrival = self._arrival(given.turn.trigger)
        self._prune(arrival.spoken)
        found = tuple(self._answers)
        way = way_of(arrival, [self._running(answer, given.turn.trigger) for answer in found])
        if way.route == "native" and way.into is not None:
            way = await self._steer_live(found[way.into], given)
        if way.route == "request_boundary" and way.into is not None:
            self._join(found[way.into], given)
            return None
        if way.route == "none":
            return None
        taken = (event for place in way.instead for event in self._give_up(found[place]))
        before = {event.id: event for event in (*taken, *earlier)}
        answer = Answer(given.turn, reply, tuple(before.values()), purpose, way)
        self._answers.append(answer)
        self._ledger.queued(given.input_id, self._channel_id, answer.opening.delivery)
        return answer

    def anchor(self, given: Given, generation_id: str) -> None:
        """An input for one answer alone: it goes in there, or nowhere."""
        answer = self._find(generation_id)
        if answer is None or not answer.open:
            self._settle(given.input_id, "held", reason="generation_ended")
        else:
            self._join(answer, given)

    def begin(self, answer: Answer, generation: Generation) -> None:
        """Its generation starts."""
        answer.generation = generation
        generation.begin()

    # -- the end of an answer -------------------------------------------------------------------------------------------

    def ended(self, answer: Answer, ending: Ending) -> None:
        """Gives everything that an answer took in, or was to take in, its verdict or its next way; once."""
        if answer.over:
            return
        answer.over = True
        verdict = _verdict(answer, ending)
        for input_id in ending.inputs:
            if input_id not in answer.carried:
                self._settle(input_id, verdict, answer, ending.reason or None)
        for input_id in ending.unsure:
            self._settle(input_id, "unknown", answer, "not_applied")
        left = [given for given in ending.left if not given.anchored and ending.reason not in ("stop", "shutdown")]
        for given in ending.left:
            if given not in left:
                self._settle(given.input_id, "held", reason=ending.reason or ending.kind)
        if left:
            self._again(left[-1], tuple(given.turn.trigger for given in left[:-1]))

    def settle(self, answer: Answer, disposition: Disposition, reason: str) -> None:
        """What an answer was to answer, when it never began or nobody could tell its end."""
        if answer.over:
            return
        answer.over = True
        verdict = "unknown" if answer.generation is not None and disposition == "held" else disposition
        for input_id in answer.opening.inputs:
            if input_id not in answer.carried:
                self._settle(input_id, verdict, answer, reason)

    def close(self, reason: str) -> None:
        """The agent leaves: every answer ends here, whatever of it still runs."""
        for answer in tuple(self._answers):
            if answer.over:
                continue
            if answer.generation is None:
                self.settle(answer, "held", reason)
            else:
                self.ended(answer, answer.generation.abandon(reason))

    # -- looking in -----------------------------------------------------------------------------------------------------

    def cancel(self, generation_id: str, reason: str) -> bool:
        """Stops an answer that is being made."""
        answer = self._find(generation_id)
        return answer is not None and answer.reply.cancel(reason)

    def withdraw(self, input_id: str) -> bool:
        """Takes back an input that waits for an answer's next request; False when none of this id waits."""
        for answer in self._answers:
            given = answer.generation.inbox.withdraw(input_id) if answer.generation is not None else None
            if given is not None:
                answer.joined = [event for event in answer.joined if event.id != input_id]
                self._settle(input_id, "withdrawn")
                return True
        return False

    def admits(self, generation_id: str) -> bool:
        """Whether an answer still takes input in."""
        answer = self._find(generation_id)
        return answer is not None and answer.open

    def aloud(self) -> list[RoomEvent]:
        """What the agent answers just now."""
        return [a.turn.trigger for a in self._answers if a.generation is not None and not a.over and a.reply.cancelled is None]

    def snapshot(self) -> list[JSON]:
        """The answers that are being made."""
        return [dict(a.generation.snapshot()) for a in self._answers if a.generation is not None and not a.over]

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _arrival(self, event: RoomEvent) -> Arrival:
        room = self._host.context(self._room_id)
        return Arrival(
            spoken=any(binding.channel_type.sounds and binding.can_read for binding in room.bindings),
            replaces=event.metadata.get("replaces") is not False and _asked_in(event) is None,
            steers=STEER in event.metadata or _asked_in(event) is not None,
            plain=isinstance(event.content, TextContent),
        )

    def _running(self, answer: Answer, event: RoomEvent) -> Running:
        generation = answer.generation
        return Running(
            same_person=_continues(event, answer.turn.trigger) or answer.reply.id == _asked_in(event),
            open=answer.open,
            boundary=answer.open and generation is not None and generation.boundary,
            native=answer.open and generation is not None and generation.steerable,
            heard=not answer.replaceable,
        )

    async def _steer_live(self, answer: Answer, given: Given) -> Way:
        """Hands an input to the request that runs; returns the way that is left when nothing came of it."""
        generation = answer.generation
        assert generation is not None
        self._ledger.queued(given.input_id, self._channel_id, "native", answer.reply.id)
        match await generation.steer(given):
            case "refused":
                open_ = self._answers.index(answer) if answer in self._answers and answer.open else None
                if open_ is None:
                    return Way("new_turn")
                self._join(answer, given)
                return Way("none")
            case "sent" if not answer.over:
                return Way("none")
            case _:
                self._settle(given.input_id, "unknown", answer, "native")
                return Way("none")

    def _join(self, answer: Answer, given: Given) -> None:
        assert answer.generation is not None
        self._ledger.queued(given.input_id, self._channel_id, "request_boundary", answer.reply.id)
        answer.generation.inbox.offer(given)
        if not given.anchored:
            answer.joined.append(given.turn.trigger)

    def _give_up(self, answer: Answer) -> tuple[RoomEvent, ...]:
        """Stops an answer of which nothing was heard; returns what the next one answers besides."""
        if answer.generation is not None:
            for given in answer.generation.inbox.close():
                if given.anchored:
                    self._settle(given.input_id, "held", reason="superseded")
        taken = (*answer.earlier, answer.turn.trigger, *answer.joined)
        answer.carried = frozenset(event.id for event in taken)
        answer.reply.cancel("superseded")
        return taken

    def _settle(self, input_id: str, disposition: Disposition, answer: Answer | None = None, reason: str | None = None) -> None:
        began = answer is not None and answer.generation is not None
        generation_id = answer.reply.id if began and answer is not None and disposition != "held" else None
        self._host.settle(self._room_id, input_id, self._channel_id, disposition, generation_id=generation_id, reason=reason)

    def _find(self, generation_id: str) -> Answer | None:
        return next((a for a in self._answers if a.reply.id == generation_id and not a.over), None)

    def _prune(self, spoken: bool) -> None:
        """Forgets what has ended and been heard, or will not be: where no answer sounds, all that has ended."""
        over = [answer for answer in self._answers if answer.over and answer.replaceable] if spoken else ()
        kept = set(over[-UNHEARD:])
        self._answers = [answer for answer in self._answers if not answer.over or answer in kept]


def _continues(event: RoomEvent, before: RoomEvent) -> bool:
    """Whether an event comes of the one who is being answered. The application's own steering is meant for any answer."""
    if EventType.INSTRUCTION in (event.type, before.type):
        return False
    if STEER in event.metadata and event.source.participant_id is None:
        return True
    person, other = event.source.participant_id, before.source.participant_id
    return person == other and (person is not None or event.source.channel_id == before.source.channel_id)


def _asked_in(event: RoomEvent) -> str | None:
    """The answer that asked what an instruction brings a person's word on."""
    cause = event.metadata.get(CAUSED_BY)
    asked_in = cause.get("generation_id") if event.type is EventType.INSTRUCTION and isinstance(cause, dict) else None
    return asked_in if isinstance(asked_in, str) else None


def _verdict(answer: Answer, ending: Ending) -> Disposition:
    match ending.kind, ending.reason:
        case "finished", _:
            return "answered"
        case "failed", _:
            return "failed"
        case _, "barge_in" | "host" if answer.reply.heard:
            return "answered"
        case _, "barge_in" | "superseded":
            return "superseded"
        case _:
            return "unknown"
