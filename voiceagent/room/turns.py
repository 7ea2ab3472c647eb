"""One room's turns as they pass: which stage took how long, measured once, for whoever asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from voiceagent import clock
from voiceagent.room.line import FeedEvent
from voiceagent.trace.span import Span, Trace, Value
from voiceagent.trace.witness import NOBODY, Witness
from voiceagent.values import JSON

REMEMBERED: Final = 64
"""Turns of a room that may be open; of more, the oldest counts as over."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An utterance: its first and last voice, and when its words were taken for final; clock.now() milliseconds."""

    began: int
    ended: int
    words: int


@dataclass(slots=True, eq=False)
class Request:
    """One request to a model, from its making to `end`."""

    model: str
    of: str
    start: int
    end: Callable[["Request", Mapping[str, int] | None], None]
    first: int | None = None

    def over(self, usage: Mapping[str, int] | None) -> None:
        """The request has ended: whole, with the tokens that it took, or not (None)."""
        self.end(self, usage)


@dataclass(slots=True, eq=False)
class _Answer:
    """One answer in a turn; what is not None goes on."""

    channel_id: str
    made_since: int | None = None
    waits: bool = False
    sounds_since: int | None = None
    first: int | None = None
    request: Request | None = None
    tools: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.made_since is None and not self.waits and self.sounds_since is None


@dataclass(slots=True, eq=False)
class _Turn:
    """A turn that is not over. `due`: its input is not settled yet."""

    id: str
    start: int
    due: bool
    spans: list[Span] = field(default_factory=list)
    answers: dict[str, _Answer] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)
    heard: Heard | None = None
    first: int | None = None
    sounded: int | None = None
    told: bool = False

    @property
    def is_over(self) -> bool:
        return not self.due and all(answer.is_over for answer in self.answers.values())


class Turns:
    """Reads the room's lines as they are published; voices and agents tell it besides what no line says.

    A turn is all that comes of one input, or of an agent's message to another agent: it begins with the first voice, or with the
    line that accepts it, and is over once the input is settled and every answer is made and has sounded.
    """

    __slots__ = ("_open", "_room_id", "_witness")

    def __init__(self, room_id: str, witness: Witness = NOBODY) -> None:
        self._room_id = room_id
        self._witness = witness
        self._open: dict[str, _Turn] = {}

    # -- what is told ----------------------------------------------------------------------------------------------------

    def heard(self, input_id: str, heard: Heard) -> None:
        """An utterance is over, and its words are known."""
        turn = self._begin(input_id, heard.began, due=True)
        turn.heard = heard
        self._add(turn, Span("hear", heard.began, heard.ended))
        self._add(turn, Span("transcribe", heard.ended, heard.words))

    def answered(self, input_id: str | None, now: int) -> None:
        """The first words of an answer to it are there."""
        turn = self._open.get(input_id or "")
        if turn is not None and turn.first is None:
            turn.first = now

    def request(self, input_id: str, generation_id: str, model: str, now: int) -> Request:
        """An answer asks a model now."""
        request = Request(model, generation_id, now, lambda one, usage: self._requested(input_id, one, usage))
        answer = self._answer(input_id, generation_id)
        if answer is not None:
            answer.request = request
        return request

    def discarded(self, cost: Mapping[str, int]) -> None:
        """A request to a model was begun ahead for nothing; characters, and tokens by kind where the model has said."""
        self._witness.discarded(cost)

    def waited(self, input_id: str | None) -> tuple[Heard, int, int] | None:
        """How a spoken input was heard, when the first words of an answer were there, and when the first sound left.

        Once, as soon as all of it is known. None otherwise, and for what nobody spoke.
        """
        turn = self._open.get(input_id or "")
        if turn is None or turn.told or turn.heard is None or turn.sounded is None:
            return None
        turn.told = True
        first = turn.sounded if turn.first is None else max(turn.first, turn.heard.words)
        return turn.heard, first, turn.sounded

    def read(self, line: FeedEvent, now: int) -> None:
        """A line is published."""
        self._witness.line(line.type, line.data)
        reader = self._READERS.get(line.type)
        if reader is not None:
            reader(self, line, now)

    def close(self, now: int) -> None:
        """The room ends, and every turn with it."""
        for turn in tuple(self._open.values()):
            self._end(turn, now)

    # -- lines -----------------------------------------------------------------------------------------------------------

    def _accepted(self, line: FeedEvent, now: int) -> None:
        input_id = line.input_id or ""
        turn = self._begin(input_id, now, due=True)
        turn.attributes |= {"voiceagent.input_id": input_id} | _named(line.data, "kind", "source")

    def _settled(self, line: FeedEvent, now: int) -> None:
        turn = self._open.get(line.input_id or "")
        if turn is None:
            return
        turn.due = False
        turn.attributes |= _named(line.data, "disposition", "reason")
        self._end_if_over(turn, now)

    def _decided(self, line: FeedEvent, now: int) -> None:
        turn, took = self._open.get(line.input_id or ""), line.data.get("duration_ms")
        if turn is not None and isinstance(took, int):
            told: dict[str, Value] = {"gen_ai.agent.id": line.channel_id or "", **_named(line.data, "mode", "asked_again")}
            self._add(turn, Span("decide", now - took, now, attributes=told))

    def _thought(self, line: FeedEvent, now: int) -> None:
        """A thought names no input: it counts for the turn that is open, and stands alone where none is."""
        took = line.data.get("duration_ms")
        if not isinstance(took, int):
            return
        span = Span("think", now - took, now, attributes={"gen_ai.agent.id": line.channel_id or ""})
        turn = next(reversed(self._open.values()), None)
        if turn is not None:
            self._add(turn, span)
        else:
            self._witness.span(span)
            self._witness.trace(Trace(self._room_id, span, (), _since_1970(now)))

    def _begun(self, line: FeedEvent, now: int) -> None:
        turn = self._begin(line.responds_to or "", now, due=False)
        answer = turn.answers.setdefault(line.generation_id or "", _Answer(line.channel_id or ""))
        answer.made_since = now

    def _words(self, line: FeedEvent, now: int) -> None:
        answer = self._answer(line.responds_to, line.generation_id)
        if answer is None:
            return
        if answer.first is None:
            answer.first = now
            self.answered(line.responds_to, now)
        if answer.request is not None and answer.request.first is None:
            answer.request.first = now

    def _tool_begun(self, line: FeedEvent, now: int) -> None:
        answer = self._answer(line.responds_to, line.generation_id)
        if answer is not None:
            answer.tools[str(line.data.get("call_id"))] = (str(line.data.get("tool")), now)

    def _tool_over(self, line: FeedEvent, now: int) -> None:
        turn, answer = self._open.get(line.responds_to or ""), self._answer(line.responds_to, line.generation_id)
        call_id = str(line.data.get("call_id"))
        begun = answer.tools.pop(call_id, None) if answer is not None else None
        if turn is not None and begun is not None:
            named: dict[str, Value] = {"gen_ai.tool.name": begun[0], "gen_ai.tool.call.id": call_id}
            error = "tool_error" if line.data.get("outcome") == "error" else None
            self._add(turn, Span("tool", begun[1], now, line.generation_id or "", error=error, attributes=named))

    def _made(self, line: FeedEvent, now: int) -> None:
        turn, answer = self._open.get(line.responds_to or ""), self._answer(line.responds_to, line.generation_id)
        if turn is None or answer is None or answer.made_since is None:
            return
        told: dict[str, Value] = {"gen_ai.agent.id": answer.channel_id, "gen_ai.agent.name": answer.channel_id}
        told |= {"voiceagent.outcome": line.type.removeprefix("generation."), **_named(line.data, "reason", "stage")}
        told |= _tokens(line.data.get("usage"))
        category = line.data.get("error_category")
        error = str(category) if category is not None else None
        span = Span("generate", answer.made_since, now, line.generation_id or "", answer.first, error, told)
        answer.made_since = None
        self._add(turn, span)
        self._end_if_over(turn, now)

    def _queued(self, line: FeedEvent, now: int) -> None:
        turn = self._open.get(line.responds_to or "")
        if turn is not None:
            turn.answers.setdefault(line.generation_id or "", _Answer(line.channel_id or "")).waits = True

    def _sounding(self, line: FeedEvent, now: int) -> None:
        turn, answer = self._open.get(line.responds_to or ""), self._answer(line.responds_to, line.generation_id)
        if turn is not None and answer is not None:
            answer.waits, answer.sounds_since = False, now
            turn.sounded = now if turn.sounded is None else turn.sounded

    def _quiet(self, line: FeedEvent, now: int) -> None:
        turn, answer = self._open.get(line.responds_to or ""), self._answer(line.responds_to, line.generation_id)
        if turn is None or answer is None:
            return
        told: dict[str, Value] = {"voiceagent.end": line.type.removeprefix("speech."), **_named(line.data, "reason", "played_ms")}
        if answer.sounds_since is not None:
            self._add(turn, Span("speak", answer.sounds_since, now, line.generation_id or "", attributes=told))
        answer.waits, answer.sounds_since = False, None
        self._end_if_over(turn, now)

    # -- inside ----------------------------------------------------------------------------------------------------------

    def _requested(self, input_id: str, request: Request, usage: Mapping[str, int] | None) -> None:
        turn = self._open.get(input_id)
        answer = self._answer(input_id, request.of)
        if answer is not None and answer.request is request:
            answer.request = None
        if turn is not None:
            told: dict[str, Value] = {"gen_ai.request.model": request.model, "gen_ai.output.type": "text", **_tokens(usage)}
            error = "broke_off" if usage is None else None
            self._add(turn, Span("chat", request.start, clock.now(), request.of, request.first, error, told))

    def _begin(self, turn_id: str, start: int, *, due: bool) -> _Turn:
        turn = self._open.get(turn_id)
        if turn is None:
            turn = self._open[turn_id] = _Turn(turn_id, start, due)
            if len(self._open) > REMEMBERED:
                self._end(next(iter(self._open.values())), start)
        return turn

    def _answer(self, input_id: str | None, generation_id: str | None) -> _Answer | None:
        turn = self._open.get(input_id or "")
        return turn.answers.get(generation_id or "") if turn is not None else None

    def _add(self, turn: _Turn, span: Span) -> None:
        turn.spans.append(span)
        self._witness.span(span)

    def _end_if_over(self, turn: _Turn, now: int) -> None:
        if turn.is_over:
            self._end(turn, now)

    def _end(self, turn: _Turn, now: int) -> None:
        self._open.pop(turn.id, None)
        if not self._witness.follows:
            return
        root = Span("turn", turn.start, now, first=turn.first, attributes=turn.attributes)
        self._witness.span(root)
        self._witness.trace(Trace(self._room_id, root, tuple(turn.spans), _since_1970(now)))

    _READERS: ClassVar[Mapping[str, Callable[["Turns", FeedEvent, int], None]]] = {
        "input.accepted": _accepted,
        "input.settled": _settled,
        "input.decided": _decided,
        "thought.updated": _thought,
        "generation.started": _begun,
        "text.delta": _words,
        "tool.started": _tool_begun,
        "tool.ended": _tool_over,
        "generation.finished": _made,
        "generation.failed": _made,
        "generation.detached": _made,
        "speech.queued": _queued,
        "speech.started": _sounding,
        "speech.finished": _quiet,
        "speech.cut": _quiet,
        "speech.dropped": _quiet,
    }


def _named(data: Mapping[str, JSON], *names: str) -> dict[str, Value]:
    """Those of the entries that are there, as attributes."""
    found = ((name, data.get(name)) for name in names)
    return {f"voiceagent.{name}": value for name, value in found if isinstance(value, str | int)}


def _tokens(usage: JSON | Mapping[str, int]) -> dict[str, Value]:
    counted = ((kind, usage.get(kind)) for kind in ("input", "output")) if isinstance(usage, Mapping) else ()
    return {f"gen_ai.usage.{kind}_tokens": tokens for kind, tokens in counted if isinstance(tokens, int)}


def _since_1970(now: int) -> int:
    return round(clock.utc().timestamp() * 1000) - now
