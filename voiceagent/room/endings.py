"""What ended with a process that is gone: how its open generations, inputs and speeches are closed, decided from the lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from voiceagent.room.line import Audience, FeedEvent
from voiceagent.values import JSON

REASON: Final = "shutdown"

_DISPOSITIONS: Final[dict[str, Literal["answered", "failed", "unknown"]]] = {
    "generation.finished": "answered",
    "generation.failed": "failed",
    "generation.detached": "unknown",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """A line to publish, with the names of the line that it ends."""

    type: str
    data: dict[str, JSON]
    channel_id: str | None = None
    session_id: str | None = None
    generation_id: str | None = None
    responds_to: str | None = None
    audience: Audience = "all"


@dataclass(slots=True)
class _Answers:
    """What the lines say of generations: which inputs each took in, and how those that are over have ended."""

    inputs: dict[str, list[str]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    withdrawn: set[str | None] = field(default_factory=set)

    def take(self, line: FeedEvent) -> None:
        """Reads one line."""
        if line.type == "input.withdrawn":
            self.withdrawn.add(line.input_id)
        named = line.data.get("generation_id")
        generation = line.generation_id or (named if isinstance(named, str) else None)
        if generation is None:
            return
        if line.type == "generation.started":
            self._took(generation, line.data.get("initial_input_id"))
        elif line.type == "input.delivered":
            self._took(generation, line.data.get("input_id"))
        elif line.type in _DISPOSITIONS:
            self.ends[generation] = line.type
            ids = line.data.get("input_ids")
            for one in ids if isinstance(ids, list | tuple) else ():
                self._took(generation, one)

    def of(self, input_id: str) -> list[str]:
        """The generations that took an input in."""
        return [generation for generation, ids in self.inputs.items() if input_id in ids]

    def _took(self, generation: str, input_id: JSON) -> None:
        ids = self.inputs.setdefault(generation, [])
        if isinstance(input_id, str) and input_id not in ids:
            ids.append(input_id)


def endings(opened: Sequence[FeedEvent], lines: Sequence[FeedEvent]) -> list[Ending]:
    """The lines that end what `opened` began; `lines` are the feed's from the first of those on.

    A generation is detached: whether its work had an effect is not known. An input is answered or failed where a generation that
    took it in has ended so, unknown where one had taken it in, withdrawn where that was told, otherwise held. A speech that had
    begun is cut, nobody knows where, one that had not is dropped.
    """
    answers = _Answers()
    for line in lines:
        answers.take(line)
    generations = [_detached(line, answers) for line in opened if line.type == "generation.started"]
    inputs = [ending for line in opened if line.type == "input.accepted" for ending in _settled(line, answers)]
    begun = {line.generation_id: line for line in lines if line.type == "speech.started"}
    speeches = [_silenced(line, begun.get(line.generation_id)) for line in opened if line.type == "speech.queued"]
    return generations + inputs + speeches


def _detached(started: FeedEvent, answers: _Answers) -> Ending:
    ids: list[JSON] = list(answers.inputs.get(started.generation_id or "", ()))
    return _like(
        started,
        "generation.detached",
        {"input_ids": ids, "accepted_input_ids": [], "reason": REASON, "cancellation": "unconfirmed"},
    )


def _silenced(queued: FeedEvent, started: FeedEvent | None) -> Ending:
    named: dict[str, JSON] = {"speech_id": queued.data.get("speech_id", queued.generation_id), "reason": REASON}
    if started is None:
        return _like(queued, "speech.dropped", named)
    heard: dict[str, JSON] = {"text": started.data.get("text", ""), "played_ms": 0, "heard_text": "", "exact": False}
    return _like(queued, "speech.cut", named | heard)


def _settled(accepted: FeedEvent, answers: _Answers) -> list[Ending]:
    input_id = accepted.input_id or ""
    generations = answers.of(input_id)
    found = {_DISPOSITIONS[answers.ends.get(one, "generation.detached")]: one for one in reversed(generations)}
    left = "withdrawn" if input_id in answers.withdrawn else "held"
    disposition = next((one for one in ("answered", "failed", "unknown") if one in found), left)
    settled: dict[str, JSON] = {
        "input_id": input_id,
        "disposition": disposition,
        "generation_ids": list(generations),
        "reason": REASON,
    }
    ending = _like(accepted, "input.settled", settled)
    if disposition in ("answered", "failed", "withdrawn"):
        return [ending]
    return [_like(accepted, f"input.{disposition}", {"input_id": input_id, "reason": REASON}), ending]


def _like(line: FeedEvent, type: str, data: dict[str, JSON]) -> Ending:
    return Ending(type, data, line.channel_id, line.session_id, line.generation_id, line.responds_to, line.audience)
