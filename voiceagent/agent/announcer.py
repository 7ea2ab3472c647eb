"""What hosts are told of one answer while it is made, from its start to its one end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from voiceagent import clock, errors
from voiceagent.agent.account import Account
from voiceagent.errors import LanguageModelError, StoreError
from voiceagent.room.channel import Host, RoomContext
from voiceagent.room.events import RoomEvent
from voiceagent.room.feed import Audience
from voiceagent.room.ledger import Delivery
from voiceagent.room.reply import Reply
from voiceagent.room.turns import Request
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

Purpose = Literal["answer", "offer", "greeting", "handback"]

REASONS: Final = frozenset({"barge_in", "stop", "superseded", "shutdown", "host"})
"""Why an answer may have been given up; a reply that was cancelled for any other reason was by its host."""

_STOPS: Final = frozenset({"session_ended", "hang_up", "unbound", "closed"})
_PASSING: Final = frozenset({"connection", "timeout", "server", "broke_off", "rate", "rate_limit", "overloaded"})


@dataclass(frozen=True, slots=True)
class Opening:
    """What opens an answer: the event it responds to, what else it takes in from before that, what it is for, and its way."""

    trigger: RoomEvent
    earlier: tuple[RoomEvent, ...] = ()
    purpose: Purpose = "answer"
    delivery: Delivery = "new_turn"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Ids of all that it takes in, oldest first."""
        return tuple(event.id for event in (*self.earlier, self.trigger))


class Announcer:
    """One generation's lines in its room's feed; none after its end."""

    def __init__(self, host: Host, reply: Reply, opening: Opening, account: Account) -> None:
        self.audience = _audience(host.context(reply.room_id), reply)
        self.ended = False
        self._feed = host.feed(reply.room_id)
        self._ledger = host.ledger(reply.room_id)
        self._turns = host.turns(reply.room_id)
        self._reply = reply
        self._opening = opening
        self._account = account
        self._segment = 0

    def started(self) -> None:
        """The answer begins, and takes in what opened it."""
        trigger = self._opening.trigger
        data: dict[str, JSON] = {
            "initial_input_id": trigger.id,
            "purpose": self._opening.purpose,
            "chain_depth": trigger.chain_depth + 1,
        }
        call_id, caused_by = trigger.metadata.get("call_id"), _cause(trigger)
        if isinstance(call_id, str):
            data["call_id"] = call_id
        if caused_by:
            data["caused_by"] = caused_by
        self._publish("generation.started", data)
        for input_id in self._opening.inputs:
            self.delivered(input_id, self._opening.delivery)

    def delivered(self, input_id: str, delivery: Delivery) -> None:
        """An input is before the model."""
        self._ledger.delivered(input_id, self._reply.channel_id or "", delivery, self._reply.id)

    def asks(self, model: str) -> Request:
        """A model is asked now; whoever asks says when the request is over."""
        return self._turns.request(self._opening.trigger.id, self._reply.id, model, clock.now())

    def delta(self, text: str, at: int) -> None:
        """Words as they come, behind `at` characters of the answer; droppable."""
        self._publish("text.delta", {"segment": self._segment, "at": at, "text": text}, durable=False)

    def message(self, text: str, at: int) -> None:
        """Words of one model call, whole, behind `at` characters of the answer; what follows may say otherwise."""
        words: dict[str, JSON] = {"segment": self._segment, "at": at, "text": text, "provisional": True}
        self._publish("assistant.message", {**words, **self._account.listed()})
        self._segment += 1

    def tool_started(self, call_id: str, tool: str) -> None:
        """A tool runs."""
        self._publish("tool.started", {"call_id": call_id, "tool": tool})

    def tool_ended(self, call_id: str, tool: str, outcome: str) -> None:
        """It has ended: `ok` or `error`."""
        self._publish("tool.ended", {"call_id": call_id, "tool": tool, "outcome": outcome})

    def steering(self, what: str, input_id: str, response_id: str | None = None, reason: str | None = None) -> None:
        """How an input that was handed to the running request fares: sent, accepted, applied, failed. Agents' words are none."""
        if self._ledger.standing(input_id) is None:
            return
        data: dict[str, JSON] = {"input_id": input_id}
        if response_id:
            data["provider_response_id"] = response_id
        if reason is not None:
            data["reason"] = reason
        self._publish(f"steering.{what}", data)

    def finished(self, text: str, jobs: Sequence[str], questions: Sequence[str], usage: dict[str, JSON]) -> None:
        """The answer is made; `jobs` still run, and `questions` were asked in it."""
        data: dict[str, JSON] = {
            **self._account.listed(),
            **self._account.left(),
            "text": text,
            "speech_ids": list(self._reply.speech_ids),
            "active_job_ids": list(jobs),
            "question_ids": list(questions),
            "disposition": "manager_turn_finished",
        }
        if usage:
            data["usage"] = usage
        self._end("generation.finished", data)

    def failed(self, error: Exception, stage: str) -> None:
        """The answer broke off; nothing is done again, and nothing that was done is undone."""
        category = category_of(error)
        data: dict[str, JSON] = {
            **self._account.listed(),
            **self._account.left(),
            "error_type": public_class(error),
            "error_category": category,
            "stage": stage,
            "retryable": category in _PASSING,
            "replayed": False,
            "effects": "not_rolled_back",
        }
        self._end("generation.failed", data)

    def detached(self, reason: str) -> None:
        """The answer was given up, and none of its work goes on."""
        data: dict[str, JSON] = {"cancellation": "confirmed", "reason": reason}
        self._end("generation.detached", {**self._account.listed(), **self._account.left(), **data})

    def abandoned(self, reason: str) -> Callable[[], None]:
        """The answer is given up while some of its work still runs: nothing more is told but that, by the call returned."""
        self.ended = True

        def tell() -> None:
            data: dict[str, JSON] = {"cancellation": "unconfirmed", "reason": reason}
            self._send("generation.detached", {**self._account.listed(), **self._account.left(), **data})

        return tell

    def _end(self, type: str, data: dict[str, JSON]) -> None:
        self._publish(type, data)
        self.ended = True

    def _publish(self, type: str, data: dict[str, JSON], *, durable: bool = True) -> None:
        if not self.ended:
            self._send(type, data, durable=durable)

    def _send(self, type: str, data: dict[str, JSON], *, durable: bool = True) -> None:
        self._feed.publish(
            type,
            data,
            durable=durable,
            channel_id=self._reply.channel_id,
            generation_id=self._reply.id,
            responds_to=self._opening.trigger.id,
            audience=self.audience,
        )


def reason_of(cancelled: str) -> str:
    """Why an answer was given up, in the words of the feed, from what its reply was cancelled with."""
    if cancelled in _STOPS:
        return "stop"
    return cancelled if cancelled in REASONS else "host"


def category_of(error: Exception) -> str:
    """What kind of failure it was: safe to show."""
    if isinstance(error, LanguageModelError):
        return error.category
    return "store" if isinstance(error, StoreError) else "internal"


def public_class(error: Exception) -> str:
    """The nearest class of an error that is Python's or this project's own: a plug-in's name may tell what nobody should read."""
    own = (kind.__name__ for kind in type(error).__mro__ if kind.__module__ in ("builtins", errors.__name__))
    return next(own, "Exception")


def _cause(trigger: RoomEvent) -> dict[str, JSON]:
    """What brought the trigger about: what it says itself (an instruction that hands a job back), or the answer it is part of."""
    said = trigger.metadata.get("caused_by")
    if isinstance(said, dict) and trigger.source.participant_id is None:
        return dict(said)
    if trigger.source.channel_type.intelligence and trigger.correlation_id is not None:
        return {"generation_id": trigger.correlation_id}
    return {}


def _audience(room: RoomContext, reply: Reply) -> Audience:
    """Words go to everybody's feed as they come only when everybody may know them."""
    seat = next((binding for binding in room.bindings if binding.channel_id == reply.channel_id), None)
    public = seat is not None and seat.can_write and reply.visibility in (ALL, "transport")
    return "all" if public else "host"
