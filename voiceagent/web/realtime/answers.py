"""What one client is told of the agent's answers: a room's lines in, responses out."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from voiceagent.audio.frame import Samples
from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON
from voiceagent.web.realtime.items import Event, Items
from voiceagent.web.realtime.response import (
    CLIENT_CANCELLED,
    COMPLETED,
    TURN_DETECTED,
    Outcome,
    Response,
    Style,
    failed,
)

REMEMBERED: Final = 64
"""Answers that may be open at once; the oldest is given up then."""

STILL_MS: Final = 1_500
"""An answer of which nothing more is told or sounds for so long, though it is over or waits for a function, sounds no more."""

_SOUNDS: Final = frozenset(
    {"speech.queued", "speech.started", "speech.progress", "speech.finished", "speech.cut", "speech.dropped"}
)


@dataclass(slots=True, eq=False)
class _Answer:
    """One generation, or words that no generation makes (a greeting). `end` once it is made; `drains`: a function was called,
    and what was said before is still to be heard; `later` are the lines that wait for that."""

    id: str
    metadata: dict[str, str]
    response: Response | None = None
    count: int = 0
    end: Outcome | None = None
    to_sound: bool = False
    sounds: bool = False
    drains: bool = False
    before: int = 0
    chars: int = 0
    cancelled: bool = False
    touched: int = 0
    later: list[FeedEvent] = field(default_factory=list)


class Answers:
    """Pure: lines and times in, events out, in order. The protocol has one response at a time in a conversation: an answer that
    begins beside another is told of out of band."""

    def __init__(self, items: Items, style: Callable[[], Style]) -> None:
        self._items = items
        self._style = style
        self._answers: dict[str, _Answer] = {}
        self._claims: dict[str, Mapping[str, str]] = {}
        self._sounding: _Answer | None = None
        self._gone: OrderedDict[str, None] = OrderedDict()
        self._lengths: OrderedDict[str, int] = OrderedDict()
        self._tell: Final[Mapping[str, Callable[[_Answer, FeedEvent], list[Event]]]] = {
            "generation.started": self._started,
            "text.delta": self._delta,
            "generation.finished": self._finished,
            "generation.failed": self._failed,
            "generation.detached": self._detached,
            "speech.queued": self._queued,
            "speech.started": self._speech_started,
            "speech.progress": self._progress,
            "speech.finished": self._speech_over,
            "speech.cut": self._cut,
            "speech.dropped": self._dropped,
        }

    # -- what is going on -----------------------------------------------------------------------------------------------

    @property
    def active(self) -> Response | None:
        """The conversation's own response, if there is one."""
        every = (answer.response for answer in self._answers.values())
        return next((one for one in every if one is not None and one.banded and not one.over), None)

    @property
    def target(self) -> Response | None:
        """The response that sounds just now, and can be interrupted: sound that leaves is its own."""
        answer = self._sounding
        if answer is None or answer.response is None or answer.response.over or answer.response.item_id is None:
            return None
        return answer.response if answer.response.style.aloud else None

    def generation_of(self, response_id: str) -> str | None:
        """Which generation a response belongs to that is not over."""
        found = (a for a in self._answers.values() if a.response is not None and a.response.id == response_id)
        return next((answer.id for answer in found if answer.response is not None and not answer.response.over), None)

    def length_ms(self, item_id: str) -> int | None:
        """How much sound of an item has left; None for an item that has none."""
        response = self._of_item(item_id)
        return response.sent_ms if response is not None else self._lengths.get(item_id)

    def sounds(self, item_id: str) -> str | None:
        """The generation of an item that is not over."""
        return next((a.id for a in self._answers.values() if a.response is not None and a.response.item_id == item_id), None)

    # -- what the client does ---------------------------------------------------------------------------------------------

    def claim(self, generation_id: str, metadata: Mapping[str, str]) -> None:
        """An answer that is about to begin is the one that the client asked for."""
        self._claims[generation_id] = metadata

    def drains(self, generation_id: str) -> bool:
        """Whether an answer that has called a function is still to be heard to there."""
        answer = self._answers.get(generation_id)
        return answer is not None and answer.drains

    def cancelled(self, generation_id: str) -> None:
        """The client wants no more of an answer; what follows is told as its wish."""
        if (answer := self._answers.get(generation_id)) is not None:
            answer.cancelled = True

    def heard_until(self, item_id: str, ms: int) -> None:
        """The client says how much of an item that is over was heard: what its words say of the rest goes, by share of time."""
        length, item = self._lengths.get(item_id), self._items.get(item_id)
        content = item.get("content")
        if not length or not isinstance(content, list) or not content or not isinstance(content[0], dict):
            return
        text = content[0].get("transcript")
        if isinstance(text, str):
            self._lengths[item_id] = ms
            self._items.change(item_id, content=[{**content[0], "transcript": text[: len(text) * ms // length]}])

    def give_up(self, generation_id: str) -> list[Event]:
        """The client wants no more of an answer of which the room will tell nothing more."""
        answer = self._answers.get(generation_id)
        return self._close(answer, CLIENT_CANCELLED) if answer is not None else []

    def called(self, generation_id: str, call_id: str, name: str, arguments: str) -> list[Event]:
        """An answer calls a function of the client's; the response ends with it, once what it said has been heard."""
        answer = self._answers.get(generation_id)
        if answer is None:
            return []
        events = self._open(answer) if answer.response is None or answer.response.over else []
        assert answer.response is not None
        events += answer.response.called(call_id, name, arguments)
        if answer.response.style.aloud and answer.response.text.strip() and answer.chars > answer.before:
            answer.drains = True
            return events
        return events + self._part_done(answer)

    def resumed(self, generation_id: str, metadata: Mapping[str, str]) -> list[Event]:
        """An answer goes on behind a function's call, in a response of its own."""
        answer = self._answers.get(generation_id)
        if answer is None:
            return []
        answer.metadata = {**metadata, "generation_id": generation_id}
        return self._open(answer) if answer.response is None or answer.response.over else []

    # -- what the room tells ----------------------------------------------------------------------------------------------

    def take(self, line: FeedEvent, now: int) -> list[Event]:
        """What the client is told for one line."""
        tell = self._tell.get(line.type)
        if tell is None or line.generation_id is None or line.audience != "all":
            return []
        answer = self._answers.get(line.generation_id)
        if answer is None:
            if line.type not in ("generation.started", "speech.queued") or line.generation_id in self._gone:
                return []
            answer = self._new(line.generation_id)
        answer.touched = now
        if answer.drains and line.type not in _SOUNDS:
            answer.later.append(line)
            return []
        return tell(answer, line) + self._after(answer, now)

    def sent(self, samples: Samples, now: int) -> None:
        """Sound has left for the one that sounds."""
        if self._sounding is not None and self._sounding.response is not None:
            self._sounding.response.sent += samples.size
            self._sounding.touched = now

    def tick(self, now: int) -> list[Event]:
        """Gives up waiting for the end of what sounds no more."""
        events: list[Event] = []
        for answer in tuple(self._answers.values()):
            if now - answer.touched < STILL_MS:
                continue
            if answer.drains:
                answer.before = answer.chars
                events += self._after(answer, now)
            elif answer.end is not None and not answer.to_sound:
                events += self._close(answer, answer.end)
        return events

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _new(self, generation_id: str) -> _Answer:
        claimed = dict(self._claims.pop(generation_id, {}))
        answer = _Answer(generation_id, {**claimed, "generation_id": generation_id})
        self._answers[generation_id] = answer
        if len(self._answers) > REMEMBERED:
            del self._answers[next(iter(self._answers))]
        return answer

    def _open(self, answer: _Answer) -> list[Event]:
        answer.count += 1
        number = "" if answer.count == 1 else f"_{answer.count}"
        response_id = f"resp_{answer.id}{number}"
        answer.response = Response(response_id, self._style(), self._items, answer.metadata, banded=self.active is None)
        return answer.response.created()

    def _started(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        return self._open(answer) if answer.response is None else []

    def _delta(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        text = line.data.get("text")
        return self._said(answer, text) if isinstance(text, str) and text else []

    def _said(self, answer: _Answer, text: str) -> list[Event]:
        events = self._open(answer) if answer.response is None or answer.response.over else []
        assert answer.response is not None
        answer.chars += len(text)
        return events + answer.response.said(text)

    def _finished(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        usage = line.data.get("usage")
        if isinstance(usage, dict) and answer.response is not None:
            answer.response.usage = _usage(usage)
        return self._made(answer, COMPLETED)

    def _failed(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        return self._made(answer, failed(str(line.data.get("error_category") or "internal")))

    def _detached(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        reason = line.data.get("reason")
        answer.drains = False
        if reason in ("stop", "shutdown"):
            return self._close(answer, failed("session_ended"))
        if not answer.to_sound or not answer.sounds:
            return self._close(answer, self._stopped(answer, str(reason)))
        answer.end = self._stopped(answer, str(reason))
        return []

    def _made(self, answer: _Answer, outcome: Outcome) -> list[Event]:
        answer.end = outcome
        silent = outcome.status == "completed" and not answer.chars
        if silent or answer.response is None or not answer.response.style.aloud:
            return self._close(answer, outcome)
        return []

    def _queued(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        answer.to_sound = True
        text = line.data.get("text")
        if answer.response is None and isinstance(text, str) and text:
            answer.end = COMPLETED
            return self._said(answer, text)
        return []

    def _speech_started(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        answer.to_sound = answer.sounds = True
        self._sounding = answer
        events = self._open(answer) if answer.response is None else []
        assert answer.response is not None
        return events + ([] if answer.response.over else answer.response.opened())

    def _progress(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        spoken = line.data.get("spoken_chars")
        if isinstance(spoken, int):
            answer.before = max(answer.before, spoken)
        return []

    def _speech_over(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        text, told = line.data.get("text"), answer.response is not None and answer.response.text
        events = self._said(answer, text) if isinstance(text, str) and text.strip() and not told else []
        return events + self._close(answer, answer.end or COMPLETED)

    def _cut(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        answer.drains = False
        reason = str(line.data.get("reason"))
        response, spoken = answer.response, line.data.get("spoken_chars")
        if response is None or response.over or response.item_id is None:
            return self._close(answer, self._stopped(answer, reason))
        if isinstance(spoken, int):
            begins = answer.chars - len(response.text)
            response.text = response.text[: max(0, spoken - begins)]
        events = self._close(answer, self._stopped(answer, reason))
        return [*events, truncated(response.item_id, response.sent_ms)]

    def _dropped(self, answer: _Answer, line: FeedEvent) -> list[Event]:
        answer.to_sound, reason = False, str(line.data.get("reason"))
        if answer.end is not None and (answer.end.status == "failed" or reason == "nothing_to_say"):
            return self._close(answer, answer.end)
        if reason == "nothing_to_say":
            return []
        return self._close(answer, self._stopped(answer, reason))

    def _stopped(self, answer: _Answer, reason: str) -> Outcome:
        return CLIENT_CANCELLED if answer.cancelled or reason in ("explicit", "host") else TURN_DETECTED

    def _after(self, answer: _Answer, now: int) -> list[Event]:
        """The response that a function's call ends is over once all that it said was heard; then what waited is told."""
        if not answer.drains or answer.response is None:
            return []
        if answer.before < len(answer.response.text.rstrip()) + answer.chars - len(answer.response.text) and answer.to_sound:
            return []
        return self._part_done(answer) + self._catch_up(answer, now)

    def _part_done(self, answer: _Answer) -> list[Event]:
        answer.drains = False
        assert answer.response is not None
        answer.chars += 1  # the pause in the reply's own words
        return self._end(answer.response, COMPLETED)

    def _catch_up(self, answer: _Answer, now: int) -> list[Event]:
        later, answer.later = answer.later, []
        events: list[Event] = []
        for line in later:
            events += self.take(line, now)
        return events

    def _close(self, answer: _Answer, outcome: Outcome) -> list[Event]:
        self._answers.pop(answer.id, None)
        self._gone[answer.id] = None
        if len(self._gone) > REMEMBERED:
            self._gone.popitem(last=False)
        if self._sounding is answer:
            self._sounding = None
        return self._end(answer.response, outcome) if answer.response is not None else []

    def _end(self, response: Response, outcome: Outcome) -> list[Event]:
        if response.item_id is not None and response.style.aloud:
            self._lengths[response.item_id] = response.sent_ms
            if len(self._lengths) > REMEMBERED:
                self._lengths.popitem(last=False)
        return response.ended(outcome)

    def _of_item(self, item_id: str) -> Response | None:
        every = (answer.response for answer in self._answers.values())
        return next((one for one in every if one is not None and one.item_id == item_id), None)


def truncated(item_id: str, audio_end_ms: int) -> Event:
    """An answer was heard so far."""
    return {"type": "conversation.item.truncated", "item_id": item_id, "content_index": 0, "audio_end_ms": audio_end_ms}


def _usage(usage: Mapping[str, JSON]) -> dict[str, JSON]:
    """Tokens by the protocol's names, whatever the model calls them."""
    count = {name: value for name, value in usage.items() if isinstance(value, int)}
    into = count.get("input_tokens", count.get("prompt_tokens", 0))
    out = count.get("output_tokens", count.get("completion_tokens", 0))
    return {"input_tokens": into, "output_tokens": out, "total_tokens": count.get("total_tokens", into + out)}
