"""The classifier's view of a state: turns as lines whose names are replaced by fixed ones, so that any name reads alike."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.judgment.classifier.names import NameMatcher, plain
from voiceagent.judgment.classifier.question import State
from voiceagent.values import JSON

AGENT: Final = "nova"
PEOPLE: Final = ("alice", "bob", "carol", "david", "emma")
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RANK: Final = re.compile(r" \(\d+\)$")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn. `who` is a fixed name, `text` the turn with fixed names, `words` its plain words; `misheard`: the agent's name
    was recognised in other words than its own."""

    who: str
    text: str
    words: tuple[str, ...]
    misheard: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What the classifier reads of a state. The last turn's speaker is always `alice`."""

    last: Line
    before: tuple[Line, ...]
    people: int
    listening: Line | None
    cut: Line | None
    heard_seconds: float
    wishes: tuple[Line, ...]
    urgent: bool

    @property
    def alone(self) -> bool:
        """Whether one person talks with the agent."""
        return self.people <= 1


class _Fixed:
    """Gives each person of a state a fixed name: the speaker of the last turn the first one, then whoever spoke last."""

    def __init__(self, agent: str, speakers: Sequence[str], common: Collection[str]) -> None:
        self._agent = plain(agent)
        order = list(dict.fromkeys(_RANK.sub("", name) for name in speakers))
        self._names = {plain(name): PEOPLE[min(place, len(PEOPLE) - 1)] for place, name in enumerate(order)}
        self._order = order
        self._matcher = NameMatcher(agent, order, common)

    def line(self, who: str, text: str) -> Line:
        spans = [(m.start(), m.end()) for m in _WORD.finditer(text)]
        words = [plain(text[start:end]) for start, end in spans]
        pieces: list[str] = []
        shown: list[str] = []
        misheard, at, place = False, 0, 0
        while place < len(words):
            size, fixed = self._named(words, place)
            start, end = spans[place][0], spans[place + size - 1][1]
            pieces += [text[at:start], fixed or text[start:end]]
            shown.append(fixed or words[place])
            misheard |= fixed == AGENT and "".join(words[place : place + size]) not in (self._agent, self._agent + "s")
            at, place = end, place + size
        pieces.append(text[at:])
        return Line(self.name(who), "".join(pieces).strip(), tuple(shown), misheard)

    def name(self, who: str) -> str:
        key = plain(_RANK.sub("", who))
        return AGENT if key == self._agent and key not in self._names else self._names.get(key, PEOPLE[-1])

    def _named(self, words: Sequence[str], place: int) -> tuple[int, str | None]:
        size = self._matcher.agent_at(words, place)
        if size:
            return size, AGENT
        bare = words[place][:-1] if words[place].endswith("s") else words[place]
        if bare and bare != words[place] and bare == self._agent:
            return 1, AGENT + "s"
        person = self._matcher.person_at(words[place])
        return 1, None if person is None else PEOPLE[min(person, len(PEOPLE) - 1)]


def view(state: State, common: Collection[str] = frozenset()) -> View:
    """Reads a state as the policy writes it. Fields that are missing or of another shape read as empty."""
    agent = _mapping(state.get("agent"))
    name = _text(agent.get("name"))
    last = _mapping(state.get("last_turn"))
    turns = [_mapping(turn) for turn in _list(state.get("recent_turns"))]
    speaker = _text(last.get("speaker"))
    said = [_text(turn.get("speaker")) for turn in reversed(turns)]
    people = [_text(person) for person in _list(state.get("people"))]
    fixed = _Fixed(name, [speaker, *(s for s in said if plain(s) != plain(name)), *people], common)
    listening, cut = _mapping(agent.get("listening_only")), _mapping(state.get("assistant_cut_off"))
    thought = _mapping(state.get("assistant_thought"))
    seconds = cut.get("heard_seconds")
    return View(
        last=fixed.line(speaker, _text(last.get("text"))),
        before=tuple(fixed.line(_text(turn.get("speaker")), _text(turn.get("text"))) for turn in turns),
        people=max(1, len(people)),
        listening=fixed.line(_text(listening.get("speaker")), _text(listening.get("text"))) if listening else None,
        cut=fixed.line(name, _text(cut.get("was_saying"))) if cut else None,
        heard_seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        wishes=tuple(fixed.line(name, _text(wish)) for wish in _list(thought.get("want_to_say"))),
        urgent=thought.get("urgent") is True,
    )


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _list(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, list | tuple) else ()


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
