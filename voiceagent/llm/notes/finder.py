"""Which facts answer a question, or that none does: meaning, words, days, numbers and the kind of answer, weighed together."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voiceagent.llm.embedding import Embedder, Vectors
from voiceagent.llm.notes import slots
from voiceagent.llm.notes.facts import Fact, Notes
from voiceagent.llm.notes.slots import Slots, Wants
from voiceagent.llm.notes.words import content, is_question, misheard, stem

_CACHE = 4096
_OF_THE_TITLE = 0.2


@dataclass(frozen=True, slots=True)
class Weights:
    """How a candidate's score is made.

    Chosen on the questions of tools/notes: of those that the notes answer most score above 0.75, near misses (`sell books?`)
    mostly 0.50 to 0.70. The threshold stands where a wrong fact is rarer than a needless "I don't know".
    """

    words: float = 0.35
    foreign: float = 0.30
    lead: float = 0.20
    threshold: float = 0.72
    sibling: float = 0.15
    thing: float = 0.50
    sure: float = 0.75


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact and why it may answer.

    `meaning` is a cosine, `lead` how far it stands above the next fact's; `words` the share of the question's words that the fact
    supports, `foreign` the share that neither it nor any other fact does; `thing` how well the notes know the question's
    last word of content, which in English is mostly what is asked for; `kind` whether it holds the kind of answer that is wanted.
    """

    fact: int
    meaning: float
    words: float
    foreign: float
    thing: float
    kind: bool
    bonus: float
    lead: float = 0.0

    def score(self, weights: Weights) -> float:
        """The candidate's worth; at or above `weights.threshold` it answers."""
        lead = min(self.lead, weights.lead)
        unkind = 0.0 if self.kind else 0.4
        return self.meaning + weights.words * self.words - weights.foreign * self.foreign + lead + self.bonus - unkind


@dataclass(frozen=True, slots=True)
class _Question:
    """What is the same for every candidate: `support` has shape (words, known words), `importance` (words,)."""

    slots: Slots
    kind: Wants
    support: Vectors
    importance: Vectors

    @property
    def things(self) -> NDArray[np.int64]:
        """The rows of the words that do more than name the whole place."""
        return np.flatnonzero(self.importance > _OF_THE_TITLE).astype(np.int64)


class Finder:
    """An index of one notes file. Blocks for milliseconds: call it in a worker thread, one at a time."""

    def __init__(self, notes: Notes, embedder: Embedder, weights: Weights = Weights()) -> None:
        self._facts = notes.facts
        self._embedder = embedder
        self._weights = weights
        self._slots = [slots.find(fact.text) for fact in notes.facts]
        self._words = [_words_of(fact) for fact in notes.facts]
        self._roots = [{stem(word) for word in content(" ".join(fact.cues))} for fact in notes.facts]
        self._known = sorted(set().union(*self._words)) if self._words else []
        self._stems = [stem(word) for word in self._known]
        rows = {word: row for row, word in enumerate(self._known)}
        self._columns = [np.array(sorted(rows[word] for word in words), dtype=np.int64) for words in self._words]
        self._strength = [self._strengths(number) for number in range(len(notes.facts))]
        self._title = {stem(word) for word in content(notes.title)}
        self._labels = {noun for one in self._slots for noun, _ in one.labels}
        cues = [(number, cue) for number, fact in enumerate(notes.facts) for cue in _cues_of(fact)]
        self._owners = np.array([number for number, _ in cues], dtype=np.int64)
        self._cues = embedder.embed([cue for _, cue in cues])
        self._vocabulary = embedder.embed(self._known)
        self._rows: dict[str, Vectors] = {}

    def find(self, question: str) -> list[int]:
        """Numbers of the facts to speak, in the notes' order; empty when the notes do not answer."""
        asked = slots.find(question)
        ranked = self.rank(question, asked)
        if not ranked or not self._good_enough(ranked[0], question):
            return []
        best = ranked[0]
        chosen = [best.fact]
        covered = set(self._slots[best.fact].days)
        if covered and (not asked.days or asked.days - covered):
            chosen += self._siblings(ranked, asked, covered)
        return sorted(chosen)

    def rank(self, question: str, asked: Slots | None = None) -> list[Candidate]:
        """Candidates whose days and numbers fit, best first."""
        asked = slots.find(question) if asked is None else asked
        if not self._numbers_exist(asked):
            return []
        words = [word for word in content(question) if not slots.is_slot(word)]
        importance = np.array([self._importance(word) for word in words], dtype=np.float32)
        near = self._cues @ self._learn(self._untitled(question, words), words)
        whole = _Question(asked, slots.wants(question), self._support(words), importance)
        meaning = np.full(len(self._facts), -1.0, dtype=np.float32)
        np.maximum.at(meaning, self._owners, near)
        second = float(np.partition(meaning, -2)[-2]) if len(meaning) > 1 else 0.0
        found = [
            replace(self._candidate(number, float(meaning[number]), whole), lead=max(0.0, float(meaning[number]) - second))
            for number in range(len(self._facts))
            if asked.allows(self._slots[number])
        ]
        return sorted(found, key=lambda one: -one.score(self._weights))

    def _candidate(self, number: int, meaning: float, asked: "_Question") -> Candidate:
        text, own = self._facts[number].text, self._slots[number]
        plain = Candidate(
            fact=number,
            meaning=meaning,
            words=0.0,
            foreign=0.0,
            thing=self._weights.thing if asked.importance.size else 0.0,  # the place itself is asked about, or nothing is
            kind=slots.gives(text, asked.kind) or (asked.kind is Wants.PLACE and bool(asked.things.size)),
            bonus=slots.bonus(asked.slots, own, text, asked.kind),
        )
        if not asked.things.size or not len(self._columns[number]):
            return plain
        total = float(asked.importance.sum())
        here = (asked.support[:, self._columns[number]] * self._strength[number]).max(axis=1)
        anywhere = asked.support.max(axis=1)
        return replace(
            plain,
            words=float(asked.importance @ here) / total,
            foreign=float(asked.importance @ ((1 - here) * (1 - anywhere))) / total,
            thing=float(anywhere[asked.things[-1]]),
        )

    def _good_enough(self, best: Candidate, question: str) -> bool:
        weights = self._weights
        if not best.kind or (best.thing < weights.thing and best.meaning < weights.sure and is_question(question)):
            return False
        return best.score(self._weights) >= self._weights.threshold

    def _siblings(self, ranked: Sequence[Candidate], asked: Slots, covered: set[int]) -> list[int]:
        best = ranked[0]
        least = best.score(self._weights) - min(best.lead, self._weights.lead) - self._weights.sibling
        heading = self._facts[best.fact].heading
        more: list[int] = []
        for candidate in ranked[1:]:
            days = self._slots[candidate.fact].days
            fits = days and not days & covered and (not asked.days or days & asked.days)
            if (
                fits
                and candidate.score(self._weights) >= least
                and self._facts[candidate.fact].heading == heading
                and len(more) < 3
            ):
                more.append(candidate.fact)
                covered |= days
        return more

    def _numbers_exist(self, asked: Slots) -> bool:
        return all(
            noun not in self._labels or any((noun, number) in one.labels for one in self._slots) for noun, number in asked.labels
        )

    def _learn(self, question: str, words: Sequence[str]) -> Vectors:
        """The question's vector; words not met before are embedded in the same pass, whose cost is mostly reading weights."""
        if len(self._rows) > _CACHE:
            self._rows.clear()
        missing = [word for word in words if word not in self._rows]
        vectors = self._embedder.embed([question, *missing])
        for word, cosines in zip(missing, vectors[1:] @ self._vocabulary.T, strict=True):
            self._rows[word] = self._row_of(word, cosines)
        return np.asarray(vectors[0], dtype=np.float32)

    def _support(self, words: Sequence[str]) -> Vectors:
        """Shape (words, known words), 0..1: the same stem 1, a slip of the recognizer or a near meaning less."""
        return np.stack([self._rows[word] for word in words]) if words else np.zeros((0, len(self._known)), dtype=np.float32)

    def _row_of(self, word: str, cosines: Vectors) -> Vectors:
        row = np.square(np.clip((cosines - 0.5) / 0.35, 0.0, 1.0)).astype(np.float32)
        root = stem(word)
        for column, known in enumerate(self._known):
            if root == self._stems[column]:
                row[column] = 1.0
            elif known[0] == word[0] and row[column] < 0.8:
                row[column] = max(row[column], misheard(word, known))
        return np.asarray(row, dtype=np.float32)

    def _importance(self, word: str) -> float:
        """Rare in the notes or strange to them: up to 1; on every line or in the title: little."""
        root = stem(word)
        if root in self._title:
            return _OF_THE_TITLE
        holding = sum(root in roots for roots in self._roots)
        return 1.0 - 0.8 * math.log1p(holding) / math.log1p(len(self._facts))

    def _strengths(self, number: int) -> Vectors:
        """1 for the fact's own words, half for those that stand in its heading only."""
        own = set(content(" ".join(self._facts[number].cues)))
        return np.array([1.0 if self._known[column] in own else 0.5 for column in self._columns[number]], dtype=np.float32)

    def _untitled(self, question: str, words: Sequence[str]) -> str:
        """The question without the words that name the whole place: they are near everything in the notes."""
        named = [word for word in words if stem(word) in self._title]
        if not named or len(named) == len(words):
            return question
        return re.sub(r"\b(the |this |your )?(" + "|".join(map(re.escape, named)) + r")\b", "it", question, flags=re.IGNORECASE)


def _words_of(fact: Fact) -> set[str]:
    return set(content(" ".join((fact.heading, *fact.cues))))


def _cues_of(fact: Fact) -> list[str]:
    headed = [f"{fact.heading}: {cue}" for cue in fact.cues] if fact.heading else []
    return [*fact.cues, *headed]
