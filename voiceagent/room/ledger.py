"""What becomes of each input that a room has taken: which agents were asked, by what way it reached them, and its one end."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from voiceagent.room.events import EventStatus, EventType, RoomEvent
from voiceagent.room.feed import Audience, Feed
from voiceagent.room.visibility import ALL, INTERNAL
from voiceagent.values import JSON

Disposition = Literal[
    "answered", "answered_question", "failed", "unknown", "withdrawn", "held", "superseded", "rejected", "backchannel", "listened"
]
"""How an input ends. Where several agents were asked, the first of their verdicts in this order stands."""

_TOLD: Final[tuple[Disposition, ...]] = ("unknown", "withdrawn", "held")
"""Ends that have a line of their own: whoever opens the room again looks for them."""

Delivery = Literal["new_turn", "request_boundary", "native", "parallel"]
"""By what way an input reaches an answer: one of its own, the next request of one that is being made, the request that runs, or
one of its own beside others."""

PRECEDENCE: Final[tuple[Disposition, ...]] = get_args(Disposition)

WAITING: Final = 128
"""Inputs that may wait for one agent in one room."""

REMEMBERED: Final = 2_000
"""Inputs of a room whose end is known without asking the store."""

UNANSWERED: Final = 200
"""Inputs without an answer, taken back ones among them, that a room knows of: as many as it has events at hand."""

STEER: Final = "steer"
"""Metadata of a message that steers: the generation that it is meant for, or None."""

ONLY_STOPS: Final = "only_stops"
"""Metadata of a message, True where it was said to stop an answer and for nothing else: it asks for none."""


def is_input(event: RoomEvent) -> bool:
    """Whether an event is what an agent may be asked to answer, and what is therefore settled: a message of a person or the host,
    or an instruction; never an agent's own words."""
    if event.status is EventStatus.BLOCKED or event.source.channel_type.intelligence or event.visibility == INTERNAL:
        return False
    return event.type in (EventType.MESSAGE, EventType.INSTRUCTION)


@dataclass(slots=True)
class _Asked:
    """One agent's part in an input."""

    route: Delivery | None = None
    delivered: bool = False
    verdict: Disposition | None = None
    reason: str | None = None


@dataclass(slots=True, eq=False)
class _Input:
    """An input: `decided` wait to hear that every agent has found a way for it or an end, `settled` for its end."""

    id: str
    source: str
    audience: Audience
    asked: dict[str, _Asked]
    generations: list[str] = field(default_factory=list)
    decided: list[Callable[[], None]] = field(default_factory=list)
    settled: list[Callable[[Disposition], None]] = field(default_factory=list)
    end: Disposition | None = None

    @property
    def is_decided(self) -> bool:
        return all(one.route is not None or one.verdict is not None for one in self.asked.values())


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an input stands: by what way it went to the first agent that took it, whether it arrived, and its end."""

    route: Delivery | None
    delivered: bool
    end: Disposition | None
    generation_id: str | None


class Ledger:
    """One room's inputs. Each that is accepted is settled exactly once, whatever happens to those who were asked."""

    __slots__ = ("_closed", "_feed", "_inputs", "_left", "_open", "_stopped")

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._inputs: dict[str, _Input] | None = None
        self._open: dict[str, _Input] | None = None
        self._stopped: str | None = None
        self._closed = False
        self._left: dict[str, Disposition] | None = None

    @property
    def unanswered(self) -> Mapping[str, Disposition]:
        """Inputs that nobody answers by itself: held, withdrawn before an answer took them in, or unknown what became of them."""
        return self._left or {}

    def recall(self, type: str, data: Mapping[str, JSON]) -> None:
        """A line that the feed had before the room was opened again."""
        input_id = data.get("input_id")
        end = next((one for one in _TOLD if type == f"input.{one}"), None)
        if end is not None and isinstance(input_id, str):
            self._leave(input_id, end)

    def stop(self, reason: str) -> None:
        """Takes nothing more; what was taken goes on to its end."""
        self._stopped = self._stopped or reason

    def refusal(self, asked: Iterable[str]) -> str | None:
        """Why an input for these agents is not taken: the room stops, or one of them has too many waiting."""
        if self._stopped is not None:
            return self._stopped
        return "too_many_waiting" if any(self.waiting(channel_id) >= WAITING for channel_id in asked) else None

    def waiting(self, channel_id: str) -> int:
        """How many inputs one agent was asked about that no answer of it has taken in yet."""
        asked = (one.asked.get(channel_id) for one in (self._open or {}).values())
        return sum(one is not None and not one.delivered and one.verdict is None for one in asked)

    def accept(self, event: RoomEvent, asked: Iterable[str]) -> None:
        """An input is the room's, and these agents are asked about it; with none of them it has only been listened to."""
        public = event.visibility in (ALL, "transport")
        one = _Input(event.id, _source(event), "all" if public else "host", {channel_id: _Asked() for channel_id in asked})
        if self._inputs is None or self._open is None:
            self._inputs, self._open = {}, {}
        self._inputs[event.id] = self._open[event.id] = one
        self._bound()
        self._publish("accepted", one, _accepted(event), channel_id=event.source.channel_id, session_id=_session(event))
        if self._closed:
            self._hold(one, one.asked, self._stopped or "stopped")
        self._end(one)

    def queued(self, input_id: str, channel_id: str, delivery: Delivery, generation_id: str | None = None) -> None:
        """An agent has found a way for an input; `generation_id` names the answer that is to take it in, if it has begun."""
        one, asked = self._asked(input_id, channel_id)
        if one is None or asked is None or asked.verdict is not None:
            return
        asked.route = delivery
        self._publish("queued", one, {"delivery": delivery}, channel_id=channel_id, generation_id=generation_id)
        self._tell_decided(one)

    def delivered(self, input_id: str, channel_id: str, delivery: Delivery, generation_id: str) -> None:
        """An agent's answer has taken an input in. One that was settled before may be taken in by another answer."""
        one = (self._inputs or {}).get(input_id)
        if one is None:
            return
        asked = one.asked.get(channel_id)
        if asked is not None:
            asked.route, asked.delivered = delivery, True
        if generation_id not in one.generations:
            one.generations.append(generation_id)
        data: dict[str, JSON] = {"delivery": delivery, "source": one.source}
        self._publish("delivered", one, data, channel_id=channel_id, generation_id=generation_id)
        self._tell_decided(one)

    def settle(
        self,
        input_id: str,
        channel_id: str,
        disposition: Disposition,
        *,
        generation_id: str | None = None,
        reason: str | None = None,
    ) -> bool:
        """An agent's verdict on an input; the first counts. False when it was not asked, or has given it. Raises ValueError."""
        if disposition not in PRECEDENCE:
            raise ValueError(f"disposition {disposition!r}: use one of {', '.join(PRECEDENCE)}")
        one, asked = self._asked(input_id, channel_id)
        if one is None or asked is None or asked.verdict is not None:
            return False
        asked.verdict, asked.reason = disposition, reason
        if generation_id is not None and generation_id not in one.generations:
            one.generations.append(generation_id)
        self._tell_decided(one)
        self._end(one)
        return True

    def sounding(self, input_id: str | None, channel_id: str) -> None:
        """An agent that says nothing of its ways begins to answer: nobody waits for a decision on this input any more."""
        one, asked = self._asked(input_id or "", channel_id)
        if one is not None and asked is not None and asked.route is None:
            asked.route = "new_turn"
            self._tell_decided(one)

    def left(self, channel_id: str, reason: str) -> None:
        """An agent is gone: what it has not taken in is held, what it was taking in is unknown."""
        for one in tuple((self._open or {}).values()):
            if channel_id in one.asked:
                self._hold(one, (channel_id,), reason)
                self._tell_decided(one)
                self._end(one)

    def close(self, reason: str) -> None:
        """The room ends, and with it whatever is open."""
        self.stop(reason)
        self._closed = True
        for one in tuple((self._open or {}).values()):
            self._hold(one, one.asked, reason)
            self._tell_decided(one)
            self._end(one)

    def standing(self, input_id: str) -> Standing | None:
        """Where an input stands; None when the room does not remember it."""
        one = (self._inputs or {}).get(input_id)
        if one is None:
            end = (self._left or {}).get(input_id)
            return None if end is None else Standing(None, False, end, None)
        asked = next((a for a in one.asked.values() if a.route is not None), None)
        route, delivered = (asked.route, asked.delivered) if asked is not None else (None, False)
        return Standing(route, delivered, one.end, one.generations[-1] if one.generations else None)

    def when_decided(self, input_id: str, call: Callable[[], None]) -> None:
        """Calls back once every agent has found a way for an input or an end; at once when that is so, or it is unknown."""
        one = (self._open or {}).get(input_id)
        if one is None or one.is_decided:
            call()
        else:
            one.decided.append(call)

    def when_settled(self, input_id: str, call: Callable[[Disposition], None]) -> None:
        """Calls back with an input's end; at once where that is known, with `unknown` where the input is not."""
        one = (self._inputs or {}).get(input_id)
        if one is None or one.end is not None:
            call("unknown" if one is None or one.end is None else one.end)
        else:
            one.settled.append(call)

    # -- inside ---------------------------------------------------------------------------------------------------------

    def _asked(self, input_id: str, channel_id: str) -> tuple[_Input | None, _Asked | None]:
        one = (self._open or {}).get(input_id)
        return one, one.asked.get(channel_id) if one is not None else None

    def _hold(self, one: _Input, channels: Iterable[str], reason: str) -> None:
        for channel_id in channels:
            asked = one.asked[channel_id]
            if asked.verdict is None:
                asked.verdict, asked.reason = "unknown" if asked.delivered else "held", reason

    def _tell_decided(self, one: _Input) -> None:
        if one.decided and one.is_decided:
            calls, one.decided = one.decided, []
            for call in calls:
                call()

    def _end(self, one: _Input) -> None:
        """Settles an input once every agent has given its verdict."""
        if one.end is not None or any(asked.verdict is None for asked in one.asked.values()):
            return
        verdicts = sorted(one.asked.values(), key=lambda asked: PRECEDENCE.index(asked.verdict or "listened"))
        first = verdicts[0] if verdicts else _Asked(verdict="listened")
        one.end = first.verdict or "listened"
        if self._open is not None:
            self._open.pop(one.id, None)
        details: dict[str, JSON] = {} if first.reason is None else {"reason": first.reason}
        if one.end in _TOLD:
            details |= {} if first.route is None else {"route": first.route}
            self._leave(one.id, one.end)
            self._publish(one.end, one, dict(details))
        self._publish("settled", one, {"disposition": one.end, "generation_ids": list(one.generations), **details})
        calls, one.settled = one.settled, []
        for call in calls:
            call(one.end)

    def _publish(
        self,
        what: str,
        one: _Input,
        data: dict[str, JSON],
        *,
        channel_id: str | None = None,
        session_id: str | None = None,
        generation_id: str | None = None,
    ) -> None:
        named: dict[str, JSON] = {"input_id": one.id, **data}
        if generation_id is not None:
            named["generation_id"] = generation_id
        self._feed.publish(
            f"input.{what}",
            named,
            channel_id=channel_id,
            session_id=session_id,
            generation_id=generation_id,
            audience=one.audience,
        )

    def _leave(self, input_id: str, end: Disposition) -> None:
        """Notes an input that nobody answered, the newest ones only."""
        if self._left is None:
            self._left = {}
        self._left[input_id] = end
        if len(self._left) > UNANSWERED:
            del self._left[next(iter(self._left))]

    def _bound(self) -> None:
        """Forgets the oldest that have ended; what is open is never forgotten."""
        assert self._inputs is not None
        if len(self._inputs) > REMEMBERED:
            ended = next((key for key, one in self._inputs.items() if one.end is not None), None)
            if ended is not None:
                del self._inputs[ended]


def _source(event: RoomEvent) -> str:
    """Where an input came from: the channel that a message came by; an instruction is the application's."""
    return "application" if event.type is EventType.INSTRUCTION else event.source.channel_id


def _kind(event: RoomEvent) -> str:
    if event.type is EventType.INSTRUCTION:
        return "service"
    return "steer" if STEER in event.metadata else "user"


def _session(event: RoomEvent) -> str | None:
    session_id = event.metadata.get("voice_session_id")
    return session_id if isinstance(session_id, str) and event.source.channel_type.sounds else None


def _accepted(event: RoomEvent) -> dict[str, JSON]:
    """An instruction is read by agents alone: what it says is not told."""
    data: dict[str, JSON] = {"kind": _kind(event), "source": _source(event)}
    if event.type is not EventType.INSTRUCTION:
        data |= {"event_id": event.id, "text": event.content.body}
    if event.source.participant_id is not None:
        data["participant_id"] = event.source.participant_id
    if event.idempotency_key is not None:
        data["key"] = event.idempotency_key
    audio_ms = event.metadata.get("audio_ms")
    if isinstance(audio_ms, int):
        data["audio_ms"] = audio_ms
    return data
