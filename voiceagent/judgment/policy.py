"""The question put on every turn: does the agent speak, offer to, or stay silent?"""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, get_args

from voiceagent.judgment.thought import Thought
from voiceagent.room.events import RoomEvent

Mode = Literal["speak", "offer", "silent"]
MODES: Final = get_args(Mode)


@dataclass(frozen=True, slots=True)
class CutReply:
    """The agent's last answer, if somebody spoke over it: the text handed to speech, how long it played, and when it was cut."""

    text: str
    played_ms: int
    at: datetime


@dataclass(frozen=True, slots=True)
class SpeakTurn:
    """What a policy reads.

    `recent` are the messages before `event` that the agent may know, oldest first, its own included. `people` are the names of
    who takes part besides the agent. `speakers` names who said `event` and each of `recent`, by event id. `thought` is None
    without a thinker. `cut` is set when the agent's last answer was cut off and it has not spoken since.
    """

    event: RoomEvent
    recent: Sequence[RoomEvent] = ()
    people: Sequence[str] = ()
    speakers: Mapping[str, str] = field(default_factory=dict)
    channel_id: str = ""
    thought: Thought | None = None
    cut: CutReply | None = None

    def having_thought(self, thought: Thought) -> "SpeakTurn":
        """The same turn with what the agent thinks now."""
        return replace(self, thought=thought)

    def by_agent(self, event: RoomEvent) -> bool:
        """Whether an event is the agent's own."""
        return event.source.channel_id == self.channel_id


@dataclass(frozen=True, slots=True)
class SpeakDecision:
    """What a policy returns.

    `mode`: speak runs the turn; offer too, with one more note, to offer in a sentence what the agent could add; silent runs
    none. `reason` says why in a few words, `judgments` what was weighed, by name. `notes` join the turn's notes. A silence that
    is `final` is not changed by what the agent thinks. Raises ValueError for another mode, or final with anything but silence,
    TypeError or ValueError for a reason or notes that are not texts, judgments that are not finite numbers by name, and a `final`
    that is neither True nor False.
    """

    mode: Mode
    reason: str = ""
    judgments: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    final: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode {self.mode!r}: a decision is one of {', '.join(MODES)}")
        if not _is_text(self.reason):
            raise TypeError("a reason is a text")
        if not isinstance(self.final, bool):
            raise TypeError("final is True or False")
        if self.final and self.mode != "silent":
            raise ValueError(f"only a silent decision can be final, not {self.mode!r}")
        notes = () if _is_text(self.notes) else tuple(self.notes)
        if _is_text(self.notes) or not all(map(_is_text, notes)):
            raise TypeError("notes are a sequence of texts")
        object.__setattr__(self, "notes", notes)
        object.__setattr__(self, "judgments", _numbers(self.judgments))


def _numbers(judgments: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(judgments, Mapping) or not all(map(_is_text, judgments)):
        raise TypeError("judgments are numbers by name")
    numbers = {name: float(weight) for name, weight in judgments.items()}
    if not all(map(math.isfinite, numbers.values())):
        raise ValueError("judgments are finite numbers")
    return numbers


def _is_text(value: object) -> bool:
    return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A decision on a turn that may not come. `settle` does what the policy keeps of it, and is called once the turn is there;
    a decision that is thrown away leaves no trace."""

    decision: SpeakDecision
    settle: Callable[[], object] = lambda: None


class SpeakPolicy:
    """Decides on every turn that an agent would answer. Subclass it; `decide` is the one method that must be there."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """Speak, offer or silent. Raising, or being slower than the channel's bound, lets the agent speak."""
        raise NotImplementedError

    async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
        """What `decide` would return, asked before it is sure that the person has finished, and changing nothing here.

        None, as it is unless a policy says otherwise: it cannot tell, or keeps a state that deciding changes; then nothing is
        thought ahead. A policy without state returns `Foreseen(await self.decide(turn))`.
        """
        return None

    def forget_room(self, room_id: str) -> None:
        """The agent has joined or left a room: what was kept of a room with this id is another conversation's."""

    async def close(self) -> None:
        """The agent is done; let go of what the policy owns."""


class AlwaysSpeak(SpeakPolicy):
    """Answers every event: the baseline that other policies are measured against."""

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """Speak."""
        return SpeakDecision("speak", reason="always")

    async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
        """Speak."""
        return Foreseen(await self.decide(turn)) if type(self).decide is AlwaysSpeak.decide else None


class MockSpeakPolicy(SpeakPolicy):
    """Scripted decisions in order, the last one again and again; after `delay` seconds, or raising `error`. Keeps the `turns`."""

    def __init__(
        self, decisions: Sequence[Mode | SpeakDecision] = ("speak",), *, delay: float = 0.0, error: Exception | None = None
    ) -> None:
        if not decisions:
            raise ValueError("give at least one decision")
        self._decisions = [d if isinstance(d, SpeakDecision) else SpeakDecision(d, reason="scripted") for d in decisions]
        self._delay = delay
        self._error = error
        self.turns: list[SpeakTurn] = []
        self.forgotten: list[str] = []

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """The next scripted decision."""
        self.turns.append(turn)
        return await self._decided(len(self.turns))

    async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
        """The next scripted decision, which stays the next one; the turn is kept once it is there."""
        if type(self).decide is not MockSpeakPolicy.decide:
            return None
        return Foreseen(await self._decided(len(self.turns) + 1), lambda: self.turns.append(turn))

    async def _decided(self, number: int) -> SpeakDecision:
        if self._delay > 0:
            await asyncio.sleep(self._delay)
        if self._error is not None:
            raise self._error
        return self._decisions[min(number, len(self._decisions)) - 1]

    def forget_room(self, room_id: str) -> None:
        """Keeps the ids that it was told to forget."""
        self.forgotten.append(room_id)
