"""One client's session: what it is told of its room, and what of its wishes goes into the agent's answers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from voiceagent import clock
from voiceagent.agent.context import AIGenerationEvent
from voiceagent.llm.model import ToolCall
from voiceagent.room.engine import RoomEngine
from voiceagent.room.events import InboundMessage, Participant, TextContent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.frozen import whole_text
from voiceagent.transport.socket import SocketCall
from voiceagent.values import JSON
from voiceagent.web.realtime.answers import Answers
from voiceagent.web.realtime.asked import Mistake
from voiceagent.web.realtime.functions import Functions
from voiceagent.web.realtime.items import Event, Items
from voiceagent.web.realtime.pending import Pending
from voiceagent.web.realtime.request import Request
from voiceagent.web.realtime.response import Style
from voiceagent.web.realtime.spoken import Spoken
from voiceagent.web.realtime.terms import Terms, format_json
from voiceagent.web.rooms import TEXT_CHANNEL
from voiceagent.web.standing import Standing

_GENERATION_ENDS: Final = frozenset({"generation.finished", "generation.failed", "generation.detached"})


@dataclass(frozen=True, slots=True)
class Guest:
    """Who is at the client, in which room, what they may, and what the client calls its model."""

    room: str
    participant: Participant
    standing: Standing
    model: str


class Session:
    """Lives as long as the connection. `tell` takes events in order; whatever happens in the room comes in by `take`."""

    def __init__(self, engine: RoomEngine, guest: Guest, call: SocketCall) -> None:
        self.engine = engine
        self.guest = guest
        self.call = call
        self.terms = Terms()
        self.items = Items()
        self.answers = Answers(self.items, self._style)
        self.spoken = Spoken(self.items, lambda: self.terms.transcripts)
        self.functions = Functions(self._called)
        self.pending = Pending()
        self.request: Request | None = None
        self.notes: dict[str, str] = {}
        self._next: dict[str, str] | None = None
        self._tell: Callable[[Iterable[Event]], object] = list

    def tells(self, tell: Callable[[Iterable[Event]], None]) -> None:
        """Names who takes the events."""
        self._tell = tell

    def tell(self, *events: Event) -> None:
        """Events for the client."""
        self._tell(events)

    def as_json(self) -> dict[str, JSON]:
        """The session as events show it."""
        return self.terms.as_json({"id": f"sess_{self.call.session_id}", "model": self.guest.model})

    # -- what happens in the room -----------------------------------------------------------------------------------------

    def take(self, line: FeedEvent) -> None:
        """One line of the room's feed."""
        events: list[Event] = []
        if line.type == "speech.cut":
            events += self.spoken.announced()  # before the sound that it stopped is over: a player stops by it
        events += self.answers.take(line, clock.now())
        events += self.spoken.take(line)
        if self.answers.target is None:
            events += self.spoken.announced()
        self._tell(events)
        generation_id, call_id = line.generation_id, line.data.get("call_id")
        if line.type == "tool.started" and generation_id is not None and isinstance(call_id, str):
            self.functions.seen(generation_id, call_id)
        elif line.type in _GENERATION_ENDS and generation_id is not None:
            self.functions.forget(generation_id)
        elif line.type == "input.accepted" and line.data.get("participant_id") == self.guest.participant.id:
            self.go_on({})
        self._follow_request(line)
        self._go_on()

    def tick(self) -> None:
        """Time has gone by."""
        self._tell(self.answers.tick(clock.now()))
        self._go_on()

    def speech_started(self, input_id: str, at_ms: int) -> None:
        """The person begins to speak."""
        self._tell(self.spoken.started(input_id, at_ms, sounding=self.answers.target is not None))

    def speech_ended(self, input_id: str, at_ms: int) -> None:
        """The person has stopped."""
        self._tell(self.spoken.stopped(input_id, at_ms))

    async def said(self, input_id: str, text: str) -> bool:
        """The words of what the person said aloud, before they are the room's; False when they wait for the client's wish."""
        if not self.spoken.knows(input_id):
            return True
        if not self.terms.answers:
            self.pending.text(input_id, text)
            self._tell(self.spoken.transcribed(input_id, text))
            return False
        for item_id, words in await self.pending.take():
            await self.put(item_id, words)
        return True

    def adapt(self, event: AIGenerationEvent) -> bool:
        """An answer is about to be made: what the client has asked for goes into it, if it is the client's own. False: it would
        be made ahead of a wish that the client has yet to tell."""
        request = self.request
        asked = request is not None and request.is_of(event.trigger)
        if event.purpose != "answer" or not (asked or event.trigger.source.participant_id == self.guest.participant.id):
            return True
        if event.speculative and not self.terms.answers:
            return False
        context, terms = event.ai_context, self.terms
        prompt = terms.instructions or context.system_prompt
        if request is not None and asked:
            request.generation_id = event.generation_id
            self.answers.claim(event.generation_id, request.metadata)
            prompt = whole_text(request.instructions or prompt)
            context.max_tokens = request.max_tokens or context.max_tokens
        context.system_prompt = "\n\n".join(text for text in (prompt, *self.notes.values()) if text)
        context.max_tokens = terms.max_tokens or context.max_tokens
        if terms.tools and terms.use_tools:
            context.more_tools.append(self.functions.of(event.generation_id, terms.tools))
        return True

    # -- what the client does ---------------------------------------------------------------------------------------------

    def go_on(self, metadata: dict[str, str]) -> bool:
        """Lets an answer go on for which a function's result has come, once it has been heard to there; False when there is
        none."""
        generation_id = self.functions.ready
        if generation_id is None:
            return False
        self._next = metadata
        self._go_on()
        return True

    def cancel(self, response_id: str | None) -> bool:
        """Stops a response, the conversation's own by default; False when there is none."""
        active = self.answers.active
        wanted = response_id or (active.id if active is not None else "")
        generation_id = self.answers.generation_of(wanted)
        if generation_id is None:
            return False
        self.stop(generation_id)
        return True

    def stop(self, generation_id: str) -> None:
        """Stops an answer as the client wishes."""
        self.answers.cancelled(generation_id)
        if not self.engine.cancel_generation(self.guest.room, generation_id, "explicit"):
            self._tell(self.answers.give_up(generation_id))

    def key(self, item_id: str) -> str:
        """Under which an item is handed to the room."""
        return f"{self.call.session_id}:{item_id}"

    async def put(self, item_id: str, words: str) -> None:
        """What the person wrote becomes the room's; no agent is asked to answer it."""
        self.spoken.own(self.key(item_id))
        message = InboundMessage(
            TEXT_CHANNEL,
            TextContent(words),
            sender_id=self.guest.participant.id,
            addressed_to=(),
            idempotency_key=self.key(item_id),
        )
        await self.engine.process_inbound(message, room_id=self.guest.room)

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        generation_id, metadata = self.functions.ready, self._next
        if metadata is not None and generation_id is not None and not self.answers.drains(generation_id):
            self._next = None
            self.functions.release()
            self._tell(self.answers.resumed(generation_id, metadata))

    def _style(self) -> Style:
        return Style(f"conv_{self.call.session_id}", not self.terms.text_only, format_json(self.terms.output))

    def _called(self, generation_id: str, call_id: str, call: ToolCall) -> None:
        self._tell(self.answers.called(generation_id, call_id, call.name, call.arguments or "{}"))

    def _follow_request(self, line: FeedEvent) -> None:
        """A response that was asked for has begun, or will not."""
        request = self.request
        if request is None:
            return
        request.learn(line)
        if line.type == "generation.started" and line.generation_id == request.generation_id:
            self.request = None
        elif line.type == "input.settled" and line.data.get("input_id") == request.input_id:
            self.request = None
            if not line.data.get("generation_ids"):
                self.refuse(request, str(line.data.get("reason") or line.data.get("disposition")))

    def refuse(self, request: Request, why: str) -> None:
        """A response that was asked for is not made."""
        self.request = None
        self.tell(Mistake(f"response.create: the room made no answer: {why}", "response_create_failed").as_json(request.event_id))
