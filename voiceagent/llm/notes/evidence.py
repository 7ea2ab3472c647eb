"""What speaks for each fact as the answer to a question, as a table of numbers: meaning, words, days, kinds, subject."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voiceagent.llm.embedding import Embedder, Vectors
from voiceagent.llm.notes import ages, slots, synonyms
from voiceagent.llm.notes.facts import Fact, Notes
from voiceagent.llm.notes.kinds import Wants, gives, wants
from voiceagent.llm.notes.slots import Slots
from voiceagent.llm.notes.words import content, is_question, misheard, stem, unfilled

Table = NDArray[np.float64]

FACT_COLUMNS = (
    *("bare", "headed", "clause", "spread", "behind"),
    *("words", "foreign", "thing", "reverse", "exact", "missing"),
    *("kind", "place", "day", "dayless", "feast", "month", "age", "other_age"),
    *("stranger", "subject", "heading", "hours", "main_hours", "other_hours", "day_hours", "rare_kind"),
)
QUESTION_COLUMNS = ("length", "asked", "open_kind", "unknown_words", "clauses", "bare_hours")

_CACHE = 4096
_OF_THE_TITLE = 0.2
_SYNONYM = 0.85
_HOURS = frozenset(stem(word) for word in ("open", "opening", "close", "closed", "shut", "hours"))
_CLAUSES = re.compile(r"[,.?!;]\s+")
_MOST_CLAUSES = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """`table` has shape (facts, FACT_COLUMNS), `question` (QUESTION_COLUMNS,); `may` says which facts can answer at all."""

    table: Table
    question: Table
    may: NDArray[np.bool_]
    slots: Slots


@dataclass(frozen=True, slots=True)
class _Words:
    """The question's words of content: their `importance` (words,), and `support` (words, known words + 1), 0..1."""

    roots: tuple[str, ...]
    importance: Table
    support: Table


class Index:
    """One notes file, made ready to be asked. Blocks for milliseconds: use it in a worker thread, one at a time."""

    def __init__(self, notes: Notes, embedder: Embedder) -> None:
        self._facts = notes.facts
        self._embedder = embedder
        self._title = {stem(word) for word in content(notes.title)}
        own = [_own(fact) for fact in notes.facts]
        headings = [[word for word in content(fact.heading) if not slots.is_slot(word)] for fact in notes.facts]
        self._roots = [{stem(word) for word in words} for words in own]
        self._counts = Counter(root for roots in self._roots for root in roots)
        self._known = sorted({word for words in (*own, *headings) for word in words})
        self._stems = [stem(word) for word in self._known]
        self._own = _Columns(own, self._known)
        self._headings = _Columns(headings, self._known)
        self._weights = np.array([*(self._importance(root) for root in self._stems), 0.0])
        self.slots = tuple(slots.find(fact.text) for fact in notes.facts)
        self._labels = {noun for one in self.slots for noun, _ in one.labels}
        self._ages = [ages.limits(fact.text) for fact in notes.facts]
        self._kinds = {kind: np.array([gives(fact.text, kind) for fact in notes.facts], dtype=bool) for kind in Wants}
        self._hours = np.array([bool(roots & _HOURS) for roots in self._roots], dtype=bool) & self._kinds[Wants.MOMENT]
        self._subjects = np.array([self._place_of(_subject(fact)) for fact in notes.facts], dtype=np.int64)
        self._main = np.array([self._is_main(number) for number in range(len(notes.facts))], dtype=bool)
        cues = [(number, cue) for number, fact in enumerate(notes.facts) for cue in fact.cues]
        self._owners = np.array([number for number, _ in cues], dtype=np.int64)
        self._bare = embedder.embed([cue for _, cue in cues])
        self._headed = embedder.embed([_headed(notes.facts[number], cue) for number, cue in cues])
        self._vocabulary = embedder.embed(self._known)
        self._rows: dict[str, Table] = {}

    def weigh(self, question: str) -> Evidence:
        """All that is known about every fact for this question."""
        text = unfilled(question)
        asked, kind, age = slots.find(text), wants(text), ages.said(text)
        words = [word for word in content(text) if not slots.is_slot(word)]
        clauses = _clauses(text)
        meanings = self._learn([self._untitled(text, words), *clauses], words)
        known = self._words(words)
        table = np.zeros((len(self._facts), len(FACT_COLUMNS)))
        columns = dict(zip(FACT_COLUMNS, table.T, strict=True))
        self._add_meaning(columns, meanings)
        self._add_words(columns, known)
        self._add_kinds(columns, asked, kind)
        self._add_ages(columns, age)
        self._add_subject(columns, known)
        return Evidence(table, self._of_question(text, known, kind, len(clauses)), self._may(asked, kind, age), asked)

    def _may(self, asked: Slots, kind: Wants, age: int | None) -> NDArray[np.bool_]:
        if any(
            noun in self._labels and not any((noun, number) in one.labels for one in self.slots) for noun, number in asked.labels
        ):
            return np.zeros(len(self._facts), dtype=bool)
        fits = np.array([asked.allows(one) for one in self.slots], dtype=bool)
        if age is not None:
            fits &= np.array([not ages.excludes(limits, age) for limits in self._ages], dtype=bool)
        return fits if kind is Wants.PLACE else fits & self._kinds[kind]

    def _add_meaning(self, columns: dict[str, Table], meanings: Vectors) -> None:
        bare = self._fold(self._bare @ meanings.T)
        headed = self._fold(self._headed @ meanings[:1].T)[:, 0]
        best = np.maximum(bare[:, 0], headed)
        columns["bare"][:] = bare[:, 0]
        columns["headed"][:] = headed
        columns["clause"][:] = bare.max(axis=1)
        columns["spread"][:] = (best - best.mean()) / (best.std() + 1e-6)
        columns["behind"][:] = best.max() - best

    def _fold(self, near: Vectors) -> Table:
        folded = np.full((len(self._facts), near.shape[1]), -1.0)
        np.maximum.at(folded, self._owners, near)
        return folded

    def _add_words(self, columns: dict[str, Table], words: _Words) -> None:
        columns["thing"][:] = 0.5  # the place itself is asked about, or nothing is
        if not words.roots:
            return
        own, heading = self._own.best(words.support), self._headings.best(words.support)
        here, total = np.maximum(own, 0.5 * heading), float(words.importance.sum())
        strange = 1 - words.support.max(axis=1)
        columns["words"][:] = words.importance @ here / total
        columns["foreign"][:] = (words.importance * strange) @ (1 - here) / total
        columns["missing"][:] = (words.importance[:, None] * (1 - here)).max(axis=0)
        columns["reverse"][:] = self._own.mean(words.support.max(axis=0), self._weights)
        columns["heading"][:] = (words.importance[:, None] * heading).max(axis=0)
        columns["exact"][:] = np.minimum(2.0, words.importance @ (own >= 1.0))
        things = np.flatnonzero(words.importance > _OF_THE_TITLE)
        if len(things):
            columns["thing"][:] = here[things[-1]]

    def _add_kinds(self, columns: dict[str, Table], asked: Slots, kind: Wants) -> None:
        given = self._kinds[kind]
        columns["kind"][:] = given & (kind not in (Wants.ANYTHING, Wants.PLACE))
        columns["rare_kind"][:] = columns["kind"] * (1 - given.mean())
        columns["place"][:] = np.where(given, 1.0, -1.0) * (kind is Wants.PLACE)
        for number, one in enumerate(self.slots):
            columns["day"][number] = bool(asked.days & one.days)
            columns["dayless"][number] = bool(asked.days) and not one.days
            columns["month"][number] = bool(asked.months & one.months)
            columns["feast"][number] = bool(asked.feasts & one.feasts)

    def _add_ages(self, columns: dict[str, Table], age: int | None) -> None:
        if age is None:
            return
        for number, limits in enumerate(self._ages):
            columns["age"][number] = any(low <= age <= high for low, high in limits)
            columns["other_age"][number] = bool(limits) and not columns["age"][number]

    def _add_subject(self, columns: dict[str, Table], words: _Words) -> None:
        named = words.support.max(axis=0)[self._subjects] if words.roots else np.zeros(len(self._facts))
        asks_hours = bool(_HOURS & set(words.roots))
        columns["stranger"][:] = (~self._main) * (1 - named)
        columns["subject"][:] = named
        columns["hours"][:] = asks_hours & self._hours
        columns["main_hours"][:] = asks_hours & self._hours & self._main
        columns["day_hours"][:] = columns["main_hours"] * columns["day"]
        columns["other_hours"][:] = (asks_hours & self._hours & ~self._main) * (1 - named)

    def _of_question(self, text: str, words: _Words, kind: Wants, clauses: int) -> Table:
        unknown = words.importance * (1 - words.support.max(axis=1)) if words.roots else np.zeros(1)
        only_hours = bool(words.roots) and all(root in _HOURS or root in self._title for root in words.roots)
        values = (len(words.roots) / 8, is_question(text), kind is Wants.ANYTHING, unknown.sum() / 2, clauses / 3, only_hours)
        return np.array([min(float(value), 1.5) for value in values])

    def _is_main(self, number: int) -> bool:
        """Whether the fact is about the house as a whole: no subject, one in the title, or the one most hours are given for."""
        subject = int(self._subjects[number])
        of_hours = Counter(
            int(self._subjects[one]) for one in np.flatnonzero(self._hours) if self._subjects[one] < len(self._known)
        )
        usual = next((place for place, count in of_hours.most_common(1) if count > 2), None)
        return subject == len(self._known) or self._stems[subject] in self._title or subject == usual

    def _place_of(self, word: str | None) -> int:
        return self._known.index(word) if word in self._known else len(self._known)

    def _learn(self, texts: Sequence[str], words: Sequence[str]) -> Vectors:
        """The texts' vectors; words not met before are embedded in the same pass, whose cost is mostly reading weights."""
        if len(self._rows) > _CACHE:
            self._rows.clear()
        missing = [word for word in words if word not in self._rows]
        vectors = self._embedder.embed([*texts, *missing])
        for word, cosines in zip(missing, vectors[len(texts) :] @ self._vocabulary.T, strict=True):
            self._rows[word] = self._row_of(word, cosines)
        return vectors[: len(texts)]

    def _words(self, words: Sequence[str]) -> _Words:
        support = np.stack([self._rows[word] for word in words]) if words else np.zeros((0, len(self._known) + 1))
        roots = tuple(stem(word) for word in words)
        return _Words(roots, np.array([self._importance(root) for root in roots]), support)

    def _row_of(self, word: str, cosines: Vectors) -> Table:
        """0..1 for every known word, and a 0 at the end: the same stem 1, a synonym, a slip of hearing or a near meaning less."""
        row = np.append(np.square(np.clip((cosines - 0.5) / 0.35, 0.0, 1.0)).astype(np.float64), 0.0)
        root = stem(word)
        near = synonyms.near(root)
        for column, known in enumerate(self._stems):
            if root == known:
                row[column] = 1.0
            elif known in near:
                row[column] = max(row[column], _SYNONYM)
            elif known[0] == word[0] and row[column] < _SYNONYM:
                row[column] = max(row[column], misheard(word, self._known[column]))
        return row

    def _importance(self, root: str) -> float:
        """Rare in the notes or strange to them: up to 1; on every line or in the title: little."""
        if root in self._title:
            return _OF_THE_TITLE
        return 1.0 - 0.8 * math.log1p(self._counts[root]) / math.log1p(len(self._facts))

    def _untitled(self, question: str, words: Sequence[str]) -> str:
        """The question without the words that name the whole place: they are near everything in the notes."""
        named = [word for word in words if stem(word) in self._title]
        if not named or len(named) == len(words):
            return question
        return re.sub(r"\b(the |this |your )?(" + "|".join(map(re.escape, named)) + r")\b", "it", question, flags=re.IGNORECASE)


class _Columns:
    """Which known words each fact has, laid end to end; a word that is never supported ends each, so that none is empty."""

    def __init__(self, words: Sequence[Sequence[str]], known: Sequence[str]) -> None:
        rows = {word: row for row, word in enumerate(known)}
        lists = [[*(rows[word] for word in one), len(known)] for one in words]
        self._flat = np.array([row for one in lists for row in one], dtype=np.int64)
        self._starts = np.cumsum([0, *(len(one) for one in lists)])[:-1]

    def best(self, support: Table) -> Table:
        """Shape (words, facts): how well each word is supported by each fact's best word."""
        return np.asarray(np.maximum.reduceat(support[:, self._flat], self._starts, axis=1))

    def mean(self, values: Table, weights: Table) -> Table:
        """Shape (facts,): the weighted mean of a value over each fact's words."""
        total = np.add.reduceat(weights[self._flat], self._starts)
        return np.asarray(np.add.reduceat((values * weights)[self._flat], self._starts) / np.maximum(total, 1e-6))


def _own(fact: Fact) -> list[str]:
    return [word for word in content(" ".join(fact.cues)) if not slots.is_slot(word)]


def _subject(fact: Fact) -> str | None:
    return next((word for word in content(fact.text) if not slots.is_slot(word)), None)


def _headed(fact: Fact, cue: str) -> str:
    return f"{fact.heading}: {cue}" if fact.heading else cue


def _clauses(text: str) -> list[str]:
    parts = [part for part in _CLAUSES.split(text) if content(part)]
    return parts[-_MOST_CLAUSES:] if len(parts) > 1 else []
