"""What was said in a run and when, out of the room's feed: the rows of transcript.json, and whether the run has come to rest."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from voiceagent.room.events import EventStatus, EventType, RoomEvent
from voiceagent.room.feed import FeedEvent
from voiceagent.room.visibility import INTERNAL
from voiceagent.values import JSON

_INPUT_ENDS = ("input.accepted", "input.settled")
_SPEECH_ENDS = ("speech.finished", "speech.cut", "speech.dropped")
_GENERATION_ENDS = ("generation.finished", "generation.failed", "generation.detached")


@dataclass(frozen=True, slots=True)
class Row:
    """One thing said; times in milliseconds since the run began.

    `responds_to` names the event that an answer answers. `cut`: it was not heard to its end, but for `played_ms`; both stay
    False and None for people.
    """

    speaker: str
    text: str
    start_ms: int
    end_ms: int
    event_id: str
    responds_to: str | None = None
    cut: bool = False
    played_ms: int | None = None

    def as_json(self) -> dict[str, JSON]:
        """The row as it stands in transcript.json."""
        return asdict(self)


@dataclass(slots=True)
class _Span:
    """When something was heard, as far as the feed has told."""

    start_ms: int
    end_ms: int | None = None
    cut: bool = False
    played_ms: int = 0


@dataclass(slots=True)
class Chronicle:
    """Reads a feed event by event. `names` maps channel and participant ids to what people call them."""

    names: Mapping[str, str]
    _said: dict[str, tuple[RoomEvent, int]] = field(default_factory=dict)
    _speech: dict[str, _Span] = field(default_factory=dict)
    _open: set[tuple[str, str]] = field(default_factory=set)

    def take(self, event: FeedEvent, at_ms: int) -> None:
        """The next event, and when it came, in milliseconds since the run began."""
        kind, data = event.type, event.data
        if kind == "room.event" and event.event is not None:
            self._take_fact(event.event, at_ms)
        elif kind.startswith("input."):
            self._take_input(kind, _text(data, "input_id"))
        elif kind.startswith("generation."):
            self._take_generation(kind, event.generation_id or "")
        elif kind.startswith("speech."):
            self._take_speech(kind, data, at_ms)

    @property
    def at_rest(self) -> bool:
        """Whether nobody is being heard, no answer is being made, and nothing is being said."""
        return not self._open

    def speeches(self) -> list[tuple[str, int, int]]:
        """Every speech that began to sound: its id, when it did, and how much of it was heard; in milliseconds."""
        return [(key, span.start_ms, span.played_ms) for key, span in self._speech.items() if span.played_ms > 0]

    def rows(self, opened: Mapping[str, int]) -> list[Row]:
        """Everything said so far, by people and agents, in order of its start; `opened`: when each line opened, ms."""
        rows = (self._row(event, at_ms, opened) for event, at_ms in self._said.values())
        return sorted(rows, key=lambda row: (row.start_ms, row.end_ms))

    def _take_fact(self, event: RoomEvent, at_ms: int) -> None:
        public = event.status is not EventStatus.BLOCKED and event.visibility != INTERNAL
        if event.type is EventType.MESSAGE and public:
            self._said[event.id] = (event, at_ms)

    def _take_input(self, kind: str, key: str) -> None:
        if kind == "input.started":
            self._open.add(("input", key))
        elif kind in _INPUT_ENDS:
            self._open.discard(("input", key))

    def _take_generation(self, kind: str, key: str) -> None:
        if kind == "generation.started":
            self._open.add(("generation", key))
        elif kind in _GENERATION_ENDS:
            self._open.discard(("generation", key))

    def _take_speech(self, kind: str, data: Mapping[str, JSON], at_ms: int) -> None:
        key = _text(data, "speech_id")
        if kind in ("speech.queued", "speech.started"):
            self._open.add(("speech", key))
        if kind == "speech.started":
            self._speech[key] = _Span(at_ms)
        elif kind in _SPEECH_ENDS:
            self._open.discard(("speech", key))
            span = self._speech.setdefault(key, _Span(at_ms))
            span.end_ms = at_ms
            span.cut = kind != "speech.finished"
            span.played_ms = _whole(data, "played_ms")

    def _row(self, event: RoomEvent, at_ms: int, opened: Mapping[str, int]) -> Row:
        source = event.source
        speaker = source.participant_id or source.channel_id
        named, text = self.names.get(speaker, speaker), event.content.body
        if not source.channel_type.intelligence:
            offset = opened.get(_text(event.metadata, "voice_session_id"), 0)
            start_ms = offset + _whole(event.metadata, "start_ms", at_ms - offset)
            return Row(
                named, text, start_ms, offset + _whole(event.metadata, "end_ms", at_ms - offset), event.id, event.responds_to
            )
        span = self._speech.get(event.correlation_id or "", _Span(at_ms, at_ms))
        end_ms = max(span.end_ms if span.end_ms is not None else at_ms, span.start_ms + span.played_ms)
        return Row(named, text, span.start_ms, end_ms, event.id, event.responds_to, span.cut, span.played_ms)


def _text(data: Mapping[str, JSON], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _whole(data: Mapping[str, JSON], key: str, otherwise: int = 0) -> int:
    value = data.get(key)
    return value if isinstance(value, int) else otherwise


def latencies(events: Iterable[FeedEvent]) -> list[int]:
    """Each turn's milliseconds from the end of speech to the first sound of its answer."""
    return [total for event in events if event.type == "turn.latency" and (total := _whole(event.data, "total_ms"))]
