"""How far an answer has come with one person by one channel, and which of two such reports says more."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from voiceagent.room.events import EventStatus, EventType, RoomEvent
from voiceagent.room.visibility import INTERNAL, NONE

State = Literal["queued", "never_played", "playing", "cut", "delivered", "heard", "read"]

RANKS: Final[dict[State, int]] = {
    "queued": 0,
    "never_played": 1,
    "playing": 2,
    "cut": 3,
    "delivered": 4,
    "heard": 5,
    "read": 6,
}
"""The states from the weakest to the strongest; what was played to somebody is not taken back, and what was read least of all."""

_WORD: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Consumption:
    """How far one answer has come with one person by one channel, since `at`.

    `participant_id` is None where a channel took it and does not say for whom. `heard_chars` is the place in the answer's text up
    to which it was heard, by share of letters where a sentence was left in the middle; `played_ms` how long this person heard of
    it, less than the whole for one who came later. `word` is, of a cut answer, the first word that was not heard whole.
    """

    channel_id: str
    participant_id: str | None
    state: State
    heard_chars: int
    played_ms: int
    at: datetime
    word: str | None = None

    @property
    def strength(self) -> tuple[int, int, int]:
        """By which two reports of the same are compared: the state first, then how much was heard."""
        return RANKS[self.state], self.heard_chars, self.played_ms

    def says_more_than(self, other: "Consumption | None") -> bool:
        """Whether this report takes the place of the other."""
        return other is None or self.strength > other.strength


@dataclass(frozen=True, slots=True)
class Row:
    """A consumption as it is stored: with the answer that it is of."""

    room_id: str
    event_id: str
    consumption: Consumption

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What there is one row of."""
        return self.event_id, self.consumption.channel_id, self.consumption.participant_id


def is_answer(event: RoomEvent) -> bool:
    """Whether an event is what an agent says to people; answers and announcements are, refused and withheld ones are not."""
    return (
        event.type is EventType.MESSAGE
        and event.source.channel_type.intelligence
        and event.status is not EventStatus.BLOCKED
        and event.visibility not in (INTERNAL, NONE)
    )


def word_at(text: str, place: int) -> str | None:
    """The first word that does not end before or at a place in a text."""
    return next((match.group() for match in _WORD.finditer(text) if match.end() > place), None)
