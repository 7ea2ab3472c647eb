"""What notes make of talk that nobody asks them about: its topic, what they would answer, and what they would correct."""

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voiceagent.llm.embedding import Embedder
from voiceagent.llm.notes.claims import agrees, claims, contradicts
from voiceagent.llm.notes.facts import Fact, Notes
from voiceagent.llm.notes.words import content, is_question, stem

_LINES = 3
_CACHE = 256
_NEAREST = 6
_ON_TOPIC = 0.45
_SAME_MATTER = 0.5
_LEAD = 0.12
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
    """`topic` is the heading that the talk is near, if any. Facts of the newest matter come first; `asker` asked for the first of
    the answers, `teller` said what the first of the corrections is about."""

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
    """Looks up the last three turns of people. Blocks for milliseconds: call it in the worker thread that the embedder lives in.

    `found` gives the numbers of the facts that answer a text, given what was asked before it.
    """

    def __init__(self, notes: Notes, embedder: Embedder, found: Callable[[str, str | None], Sequence[int]]) -> None:
        self._facts = notes.facts
        self._embedder = embedder
        self._found = found
        cues = [(number, cue) for number, fact in enumerate(notes.facts) for cue in fact.cues]
        self._owners = [number for number, _ in cues]
        self._cues = embedder.embed([f"{notes.facts[number].heading}: {cue}" for number, cue in cues])
        self._roots = [{stem(word) for word in content(" ".join((fact.heading, *fact.cues)))} for fact in notes.facts]
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
        if is_question(text) or _SEARCHING.search(text):
            answers = tuple(self._facts[number] for number in self._found(text, before))
            return _Met(self._topic(self._near(text)) if not answers else answers[0].heading or None, answers, ())
        near, said = self._near(text), claims(text)
        roots = {stem(word) for word in content(text)}
        about = [
            number for number, cosine in near if cosine >= max(_SAME_MATTER, near[0][1] - _LEAD) and roots & self._roots[number]
        ]
        of_them = [claims(self._facts[number].text) for number in about]
        if not said.any or any(agrees(said, one) for one in of_them):
            return _Met(self._topic(near), (), ())
        corrects = (self._facts[number] for number, one in zip(about, of_them, strict=True) if contradicts(said, one))
        return _Met(self._topic(near), (), tuple(corrects))

    def _near(self, text: str) -> list[tuple[int, float]]:
        """The nearest facts and their cosines, nearest first."""
        cosines = self._cues @ self._embedder.embed([text])[0]
        best: dict[int, float] = {}
        for number, cosine in zip(self._owners, cosines, strict=True):
            best[number] = max(best.get(number, -1.0), float(cosine))
        return sorted(best.items(), key=lambda one: -one[1])[:_NEAREST]

    def _topic(self, near: Sequence[tuple[int, float]]) -> str | None:
        if not near or near[0][1] < _ON_TOPIC:
            return None
        return self._facts[near[0][0]].heading or None


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
