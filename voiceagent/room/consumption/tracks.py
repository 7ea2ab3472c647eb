"""What is said of one reply as a whole, told of each of the answers that were stored of it: pure, for the replies of one room."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from voiceagent.room.consumption.state import Consumption, Row, State, word_at
from voiceagent.room.events import RoomEvent

KEPT: Final = 16
"""Replies that are over, or that nobody sounds, which may still get another answer."""

MOST: Final = 256
"""Replies that are followed at once in one room."""

_OVER: Final = ("heard", "cut", "never_played")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sounding channel has come with a reply for one person.

    `letters` of the reply's own words have been played (see `letters`), up to `at_ms` of its sound; the person was not there yet
    for the first `missed` of them, up to `missed_ms`. `marks` are places between, as (letters, ms), where both are known. `heard`
    means: to the end.
    """

    channel_id: str
    participant_id: str
    state: Literal["queued", "playing", "heard", "cut", "never_played"]
    letters: int = 0
    at_ms: int = 0
    missed: int = 0
    missed_ms: int = 0
    marks: tuple[tuple[int, int], ...] = ()

    def ms_of(self, count: int) -> int:
        """Where so many letters end in the sound, letters between two marks taken as equally long."""
        before = (0, 0) if count < self.missed else (self.missed, self.missed_ms)
        for after in (*self.marks, (self.letters, self.at_ms)):
            if before[0] < after[0] and count <= after[0]:
                share = max(0, count - before[0]) / (after[0] - before[0])
                return round(before[1] + share * (after[1] - before[1]))
            before = max(before, after)
        return self.at_ms


@dataclass(frozen=True, slots=True)
class Update:
    """An answer's consumption that has changed."""

    event: RoomEvent
    consumption: Consumption

    @property
    def row(self) -> Row:
        """As it is stored."""
        return Row(self.event.room_id, self.event.id, self.consumption)


@dataclass(frozen=True, slots=True)
class _Part:
    """An answer and its place in its reply, in letters."""

    event: RoomEvent
    start: int
    end: int


def letters(text: str) -> int:
    """The length of a text without its spaces, of which a reply and the answers that are stored of it have different ones."""
    return len("".join(text.split()))


class Track:
    """One reply: the answers stored of it so far, and how far each person has come."""

    __slots__ = ("_known", "_parts", "_people")

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._people: dict[tuple[str, str], Progress] = {}
        self._known: dict[tuple[str, str, str | None], Consumption] = {}

    @property
    def over(self) -> bool:
        """Whether it sounds for nobody, and waits to for nobody."""
        return all(person.state in _OVER for person in self._people.values())

    def said(self, event: RoomEvent, at: datetime) -> list[Update]:
        """Another answer of the reply is stored; returns how far everybody has come with it."""
        start = self._parts[-1].end if self._parts else 0
        part = _Part(event, start, start + letters(event.content.body))
        self._parts.append(part)
        return list(self._changed((part,), self._people.values(), at))

    def told(self, progress: Progress, at: datetime) -> list[Update]:
        """Somebody has come so far; returns what that changes."""
        place = (progress.channel_id, progress.participant_id)
        before = self._people.get(place)
        if before is not None:  # one who comes again has heard what they had heard before
            progress = replace(
                progress,
                letters=max(progress.letters, before.letters),
                at_ms=max(progress.at_ms, before.at_ms),
                missed=min(progress.missed, before.missed),
                missed_ms=min(progress.missed_ms, before.missed_ms),
            )
        self._people[place] = progress
        return list(self._changed(self._parts, (progress,), at))

    def _changed(self, parts: Iterable[_Part], people: Iterable[Progress], at: datetime) -> Iterable[Update]:
        for part in parts:
            for progress in people:
                state = _state(part, progress)
                key = (part.event.id, progress.channel_id, progress.participant_id)
                known = self._known.get(key)
                # How far somebody is while it goes on is in the feed's speech.progress, and not worth a row each time.
                if state is None or (known is not None and known.state == state == "playing"):
                    continue
                found = _consumption(part, progress, state, at)
                if found.says_more_than(known):
                    self._known[key] = found
                    yield Update(part.event, found)


class Tracks:
    """The replies of one room. Those that are over are forgotten after a while."""

    __slots__ = ("_tracks",)

    def __init__(self) -> None:
        self._tracks: dict[str, Track] | None = None

    def said(self, event: RoomEvent, at: datetime) -> list[Update]:
        """An answer is stored; its `correlation_id` is its reply's id."""
        return self._track(event.correlation_id).said(event, at) if event.correlation_id is not None else []

    def told(self, reply_id: str, progress: Progress, at: datetime) -> list[Update]:
        """Somebody has come so far with a reply."""
        return self._track(reply_id).told(progress, at)

    def _track(self, reply_id: str) -> Track:
        if self._tracks is None:
            self._tracks = {}
        track = self._tracks.get(reply_id)
        if track is None:
            over = [known for known, one in self._tracks.items() if one.over]
            for known in (*over[: -KEPT + 1], *list(self._tracks)[: -MOST + 1]):
                self._tracks.pop(known, None)
            track = self._tracks[reply_id] = Track()
        return track


def _consumption(part: _Part, progress: Progress, state: State, at: datetime) -> Consumption:
    """One answer's share of how far somebody has come with its reply."""
    body = part.event.content.body
    heard = len(body)
    if state != "heard":
        heard = _place(body, progress.letters - part.start) if state in ("playing", "cut") else 0
    played = 0
    if state not in ("queued", "never_played"):
        start, end = max(part.start, progress.missed), min(part.end, progress.letters)
        until = progress.at_ms if progress.state == "heard" and end == progress.letters else progress.ms_of(end)
        played = max(0, until - (progress.missed_ms if start == progress.missed else progress.ms_of(start)))
    word = word_at(body, heard) if state == "cut" else None
    return Consumption(progress.channel_id, progress.participant_id, state, heard, played, at, word)


def _state(part: _Part, progress: Progress) -> State | None:
    """Where an answer stands for somebody who has come so far with its reply; None when it was over before they came."""
    if progress.missed and part.end <= progress.missed:
        return None
    if progress.state not in ("playing", "cut"):
        return progress.state
    if progress.letters >= part.end > part.start:
        return "heard"
    if progress.letters > part.start or part.start == 0:
        return progress.state
    return "queued" if progress.state == "playing" else "never_played"


def _place(text: str, count: int) -> int:
    """Where so many letters of a text end."""
    place = 0
    while place < len(text) and count > 0:
        count -= not text[place].isspace()
        place += 1
    return place
