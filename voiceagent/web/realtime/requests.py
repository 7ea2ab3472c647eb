"""What one client asks for, done: its sound heard, its items kept, its responses begun and stopped."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable

import numpy as np

from voiceagent.audio.frame import Samples, to_samples
from voiceagent.errors import VoiceAgentError, WebError
from voiceagent.room.frozen import whole_text
from voiceagent.room.hooks import HookTrigger
from voiceagent.voice.inputs import Transcription
from voiceagent.web.realtime import items as made
from voiceagent.web.realtime.answers import truncated
from voiceagent.web.realtime.asked import (
    Append,
    CancelResponse,
    Clear,
    ClearOutput,
    Commit,
    CreateItem,
    CreateResponse,
    DeleteItem,
    Event,
    Item,
    Mistake,
    RetrieveItem,
    TruncateItem,
    UpdateSession,
    Wish,
)
from voiceagent.web.realtime.buffer import LEAST_MS, Buffer
from voiceagent.web.realtime.request import Request
from voiceagent.web.realtime.session import Session
from voiceagent.web.realtime.sound import Format, SoundIn

GO_ON = "Say what there is to say now, in answer to the conversation so far."
"""What the agent is told when a response is asked for and nobody has said anything new."""

LONGEST = 16_000
"""Characters of one message."""

MOST_NOTES = 64
"""Messages of the system in one session."""

END_MS = 1_500
"""Silence that ends what is being said, for a client who says that it is over before the line has found so."""

Words = Callable[[Samples], Awaitable[str]]
"""The words of a message that was recorded whole; raises VoiceAgentError."""


class Requests:
    """One client's. `do` returns at once; what takes long goes on in `tasks`."""

    def __init__(self, session: Session, tasks: asyncio.TaskGroup, words: Words | None, shape: Callable[[Format], None]) -> None:
        """`words` None: nobody knows the words of a message that the client ends itself. `shape` is told of the sound wanted."""
        self._session = session
        self._tasks = tasks
        self._words = words
        self._shape = shape
        self._buffer = Buffer()
        self._sound = SoundIn(Format.PCM)

    def do(self, asked: Event) -> None:
        """One client event. Raises Mistake."""
        match asked:
            case Append():
                self._append(asked)
            case UpdateSession():
                self._update(asked)
            case Commit():
                self._commit()
            case Clear():
                self._buffer.take()
                self._session.call.forget()
                self._session.tell({"type": "input_audio_buffer.cleared"})
            case CreateResponse():
                self._create(asked)
            case CancelResponse():
                if not self._session.cancel(asked.response_id):
                    raise Mistake("there is no active response to cancel", "response_cancel_not_active", "response_id")
            case ClearOutput():
                self._session.cancel(None)
                self._session.tell({"type": "output_audio_buffer.cleared"})
            case _:
                self._do_item(asked)

    def _do_item(self, asked: Event) -> None:
        match asked:
            case CreateItem():
                self._item(asked.item)
            case TruncateItem():
                self._truncate(asked)
            case DeleteItem():
                self._known(asked.item_id)
                self._session.items.delete(asked.item_id)
                self._session.pending.delete(asked.item_id)
                self._session.notes.pop(asked.item_id, None)
                self._session.tell({"type": "conversation.item.deleted", "item_id": asked.item_id})
            case RetrieveItem():
                self._known(asked.item_id)
                item = self._session.items.get(asked.item_id)
                self._session.tell({"type": "conversation.item.retrieved", "item": item})
            case _:
                raise Mistake(f"{asked.type} is not done here", "unsupported", "type")

    # -- the session ----------------------------------------------------------------------------------------------------

    def _update(self, asked: UpdateSession) -> None:
        session = self._session
        terms = session.terms.updated(asked.session)
        if not session.guest.standing.host and (terms.tools or terms.instructions):
            raise Mistake(
                "only a host's token may give the agent instructions and tools",
                "insufficient_permissions",
                "session.instructions",
            )
        if terms.input is not self._sound.format:
            self._sound = SoundIn(terms.input)
        session.terms = terms
        session.call.deaf = terms.text_only
        self._shape(terms.output)
        session.tell({"type": "session.updated", "session": session.as_json()})

    # -- sound ----------------------------------------------------------------------------------------------------------

    def _append(self, asked: Append) -> None:
        try:
            samples = self._sound.read(asked.audio)
        except WebError as error:
            raise Mistake(str(error), "invalid_value", "audio") from error
        whole = self._session.call.hear(samples) if self._session.terms.turns else self._buffer.add(samples)
        if not whole:
            raise Mistake("too much sound waits to be heard: this piece is left out", "input_audio_buffer_full", "audio")

    def _commit(self) -> None:
        if self._session.terms.turns is not None:
            self._session.call.hear(self._sound.rest())
            self._session.call.hear(np.zeros(to_samples(END_MS), dtype=np.int16))
            return
        if self._session.pending.full:
            raise Mistake("too many messages wait to be answered: ask for a response", "too_many_items")
        if self._buffer.ms < LEAST_MS:
            least = f"the buffer holds {self._buffer.ms} ms, and a message has {LEAST_MS} ms or more"
            raise Mistake(least, "input_audio_buffer_commit_empty")
        if self._words is None:
            raise Mistake("nobody here knows the words of a recording: leave turn_detection on", "unsupported")
        self._buffer.add(self._sound.rest())
        item_id = f"item_{secrets.token_hex(10)}"
        self._session.tell(*self._session.spoken.committed(item_id))
        self._listen(item_id, self._buffer.take(), self._words)

    def _listen(self, item_id: str, sound: Samples, words: Words) -> None:
        known = self._session.pending.sound(item_id)

        async def listen() -> None:
            text = ""
            try:
                text = await self._asked(item_id, (await words(sound)).strip())
                self._session.tell(*self._session.spoken.transcribed(item_id, text, sound.size / to_samples(1000)))
            except VoiceAgentError:
                self._session.tell(*self._session.spoken.untranscribed(item_id, "stt"))
            finally:
                known.set_result(text)

        self._tasks.create_task(listen(), name=f"words of {item_id}")

    async def _asked(self, item_id: str, text: str) -> str:
        """The words as ON_TRANSCRIPTION hooks leave them; none when one blocks."""
        session, guest = self._session, self._session.guest
        said = Transcription(text, guest.room, session.call.session_id, guest.participant.id, item_id, 0, 0)
        outcome = await session.engine.host.run_hooks(HookTrigger.ON_TRANSCRIPTION, said, guest.room)
        return "" if outcome.blocked_by is not None else outcome.payload.text.strip()

    # -- items ----------------------------------------------------------------------------------------------------------

    def _item(self, item: Item) -> None:
        session = self._session
        item_id = item.id or f"item_{secrets.token_hex(10)}"
        if item_id in session.items:
            raise Mistake("there is an item of this id already", "item_id_taken", "item.id")
        if len(_written(item)) > LONGEST:
            raise Mistake(f"a message has {LONGEST} characters at most", "string_above_max_length", "item.content")
        if session.pending.full or len(session.notes) >= MOST_NOTES:
            raise Mistake("too many messages wait to be answered: ask for a response", "too_many_items", "item")
        match item.type, item.role:
            case "function_call_output", _:
                if item.call_id is None or not session.functions.answer(item.call_id, item.output):
                    raise Mistake("no call of this id waits for its result", "invalid_value", "item.call_id")
                self._add(made.output(item_id, item.call_id, item.output))
            case "message", "user":
                self._message(item_id, item)
            case "message", "system":
                if not session.guest.standing.host:
                    raise Mistake("only a host's token may instruct the agent", "insufficient_permissions", "item.role")
                session.notes[item_id] = _written(item)
                self._add(made.typed(item_id, _written(item), "system"))
            case _:
                what = "messages of the user and the system, and results of functions, can be put into the conversation"
                raise Mistake(what, "unsupported", "item.type")

    def _message(self, item_id: str, item: Item) -> None:
        text = _written(item)
        sounds = [part.audio for part in item.content if part.type == "input_audio" and part.audio and not part.transcript]
        if text.strip():
            self._session.pending.text(item_id, text)
            self._add(made.typed(item_id, text))
            return
        if not sounds or self._words is None:
            raise Mistake("a message has a text, or sound whose words are to be found", "invalid_value", "item.content")
        reader = SoundIn(self._session.terms.input)
        try:
            sound = np.concatenate([*(reader.read(one) for one in sounds), reader.rest()])
        except WebError as error:
            raise Mistake(str(error), "invalid_value", "item.content") from error
        self._add(made.heard(item_id))
        self._listen(item_id, sound, self._words)

    def _add(self, item: made.Item) -> None:
        added = self._session.items.add(item)
        self._session.tell(added, *self._session.items.done(str(item["id"])))

    def _truncate(self, asked: TruncateItem) -> None:
        """The client's listener has heard less than was sent, or stops listening."""
        self._known(asked.item_id)
        length = self._session.answers.length_ms(asked.item_id)
        if length is None or asked.audio_end_ms > length:
            raise Mistake(f"the item's sound ends at {length or 0} ms", "invalid_value", "audio_end_ms")
        generation_id = self._session.answers.sounds(asked.item_id)
        if generation_id is not None:
            self._session.stop(generation_id)
        self._session.answers.heard_until(asked.item_id, asked.audio_end_ms)
        self._session.tell(truncated(asked.item_id, asked.audio_end_ms))

    def _known(self, item_id: str) -> None:
        if item_id not in self._session.items:
            raise Mistake("there is no item of this id", "item_not_found", "item_id")

    # -- responses ------------------------------------------------------------------------------------------------------

    def _create(self, asked: CreateResponse) -> None:
        session, wish = self._session, asked.response or Wish()
        if wish.conversation == "none" or wish.input is not None:
            raise Mistake("every answer belongs to the room's conversation", "unsupported", "response.conversation")
        if wish.instructions and not session.guest.standing.host:
            raise Mistake("only a host's token may instruct the agent", "insufficient_permissions", "response.instructions")
        metadata = dict(wish.metadata or {})
        if not session.pending and session.go_on(metadata):
            return
        active = session.answers.active
        if active is not None or session.request is not None:
            which = active.id if active is not None else "one that was asked for before"
            raise Mistake(
                f"response.create: the conversation has an active response already: {which}; wait for its response.done",
                "conversation_already_has_active_response",
            )
        tokens = wish.max_output_tokens if isinstance(wish.max_output_tokens, int) else None
        session.request = Request(asked.event_id, metadata, wish.instructions, tokens)
        self._tasks.create_task(self._begin(session.request), name="response asked for")

    async def _begin(self, request: Request) -> None:
        session, guest = self._session, self._session.guest
        try:
            items = await session.pending.take()
            for item in items[:-1]:
                await session.put(*item)
            if not items:
                request.text = whole_text(request.instructions or GO_ON)
                await session.engine.deliver(guest.room, request.text, instruction=True)
                return
            item_id, words = items[-1]
            request.key = session.key(item_id)
            session.spoken.own(request.key)
            receipt = await session.engine.steer(guest.room, words, participant_id=guest.participant.id, input_id=request.key)
            if receipt.disposition == "refused" and session.request is request:
                session.refuse(request, receipt.reason or "refused")
        except VoiceAgentError as error:
            if session.request is request:
                session.refuse(request, type(error).__name__)


def _written(item: Item) -> str:
    """The words of a message; of sound, those that came with it."""
    return whole_text("\n".join(text for part in item.content if (text := part.text or part.transcript)))
