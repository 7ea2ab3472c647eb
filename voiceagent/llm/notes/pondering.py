"""What notes make of talk that nobody asks them about: its topic, what they would answer, and what they would correct."""

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voiceagent.llm.notes.claims import agrees, claims, contradicts
from voiceagent.llm.notes.facts import Fact, Notes
from voiceagent.llm.notes.finder import Finder
from voiceagent.llm.notes.words import content, is_question

_LINES = 3
_CACHE = 256
_ON_TOPIC = 0.45
_TOLD = 0.6
_SEARCHING = re.compile(
    r"\b(?:wonder(?:ing)?|no idea|(?:do not|don't|didn't|doesn't|can't) (?:know|remember|recall)|not sure|find out|"
    r"look(?:ing)? (?:it |that )?up|remind me|(?:know|remember|forgot|forget) (?:what|how|when|where|which|if|whether))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """One turn of the talk; `who` is None for the agent."""

    who: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Pondered:
    """`topic` is the heading that the talk is near, if any; `corrects` and `answers` are facts, newest matter first; `asker` asked
    for the first of the answers, `teller` said what the first of the corrections is about."""

    topic: str | None = None
    answers: tuple[Fact, ...] = ()
    corrects: tuple[Fact, ...] = ()
    asker: str | None = None
    teller: str | None = None


@dataclass(frozen=True, slots=True)
class _Met:
    """What the notes have for one turn, by itself."""

    topic: str | None
    answers: tuple[Fact, ...]
    corrects: tuple[Fact, ...]


class Pondering:
    """Looks up the last three turns of people. Blocks for milliseconds: call it in the worker thread that the finder lives in.

    `found` gives the numbers of the facts that answer a text, given what was asked before it.
    """

    def __init__(self, notes: Notes, finder: Finder, found: Callable[[str, str | None], Sequence[int]]) -> None:
        self._notes = notes
        self._finder = finder
        self._found = found
        self._met: OrderedDict[tuple[str, str | None], _Met] = OrderedDict()

    def ponder(self, talk: Sequence[Line]) -> Pondered:
        """What the notes make of talk, its newest turn last."""
        topic: str | None = None
        answers: list[tuple[Fact, str | None]] = []
        corrects: list[tuple[Fact, str | None]] = []
        for place in [place for place, line in enumerate(talk) if line.who is not None][: -_LINES - 1 : -1]:
            line, later = talk[place], talk[place + 1 :]
            met = self._look(line.text, _asked_before(talk, place))
            topic = topic or met.topic
            answers += [(fact, line.who) for fact in met.answers if not _told(fact, later)]
            corrects += [(fact, line.who) for fact in met.corrects if not _told(fact, later)]
        return Pondered(
            topic,
            tuple(dict.fromkeys(fact for fact, _ in answers)),
            tuple(dict.fromkeys(fact for fact, _ in corrects)),
            answers[0][1] if answers else None,
            corrects[0][1] if corrects else None,
        )

    def _look(self, text: str, before: str | None) -> _Met:
        known = self._met.pop((text, before), None)
        met = known if known is not None else self._met_anew(text, before)
        self._met[text, before] = met
        if len(self._met) > _CACHE:
            self._met.popitem(last=False)
        return met

    def _met_anew(self, text: str, before: str | None) -> _Met:
        if not content(text):
            return _Met(None, (), ())
        facts = self._notes.facts
        if is_question(text) or _SEARCHING.search(text):
            answers = tuple(facts[number] for number in self._found(text, before))
            return _Met(answers[0].heading or None if answers else self._topic(text), answers, ())
        said = claims(text)
        near = [facts[number] for number in self._finder.find(text)] if said.any else []
        corrects = tuple(fact for fact in near if contradicts(said, claims(fact.text)))
        return _Met(near[0].heading or None if near else self._topic(text), (), corrects)

    def _topic(self, text: str) -> str | None:
        ranked = self._finder.rank(text)
        if not ranked or ranked[0].meaning < _ON_TOPIC:
            return None
        return self._notes.facts[ranked[0].fact].heading or None


def _asked_before(talk: Sequence[Line], place: int) -> str | None:
    """What the same person said in the turn before."""
    return next((line.text for line in reversed(talk[:place]) if line.who == talk[place].who), None)


def _told(fact: Fact, later: Sequence[Line]) -> bool:
    """Whether the agent or somebody else has said it since."""
    return any(_says(fact, line.text) for line in later if not is_question(line.text))


def _says(fact: Fact, text: str) -> bool:
    if fact.text in text:
        return True
    own, said = set(content(fact.text)), set(content(text))
    return agrees(claims(text), claims(fact.text)) or (bool(own) and len(own & said) >= _TOLD * len(own))
