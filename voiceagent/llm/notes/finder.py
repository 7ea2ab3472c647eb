"""Which facts answer a question, or that none does: the likeliest fact, if likely enough, and its siblings of other days."""

from collections.abc import Sequence

import numpy as np

from voiceagent.llm.embedding import Embedder
from voiceagent.llm.notes.evidence import Evidence, Index, Table
from voiceagent.llm.notes.facts import Notes
from voiceagent.llm.notes.scale import Scale

_SIBLINGS = 6
_SIBLING_GAP = 2.5


class Finder:
    """Finds in one notes file. Blocks for milliseconds: call it in a worker thread, one at a time."""

    def __init__(self, notes: Notes, embedder: Embedder, scale: Scale) -> None:
        self._index = Index(notes, embedder)
        self._scale = scale
        names = list(dict.fromkeys(fact.heading for fact in notes.facts))
        self._headings = np.array([names.index(fact.heading) for fact in notes.facts], dtype=np.int64)

    def find(self, question: str) -> list[int]:
        """Numbers of the facts to speak, in the notes' order; empty when the notes do not answer."""
        evidence = self._index.weigh(question)
        scores = self._scale.scores(evidence)
        if self._scale.sure(evidence, scores, self._headings) < self._scale.threshold:
            return []
        best = int(np.argmax(scores))
        return sorted([best, *self._siblings(best, evidence, scores)])

    def _siblings(self, best: int, evidence: Evidence, scores: Table) -> Sequence[int]:
        """Facts nearly as likely, under the same heading, that say the same of days that the best one leaves open."""
        asked, covered = evidence.slots.days, set(self._index.slots[best].days)
        if not covered or (asked and not asked - covered):
            return []
        more: list[int] = []
        for number in (int(one) for one in np.argsort(-scores)):
            days = self._index.slots[number].days
            fits = days and not days & covered and (not asked or days & asked)
            near = scores[number] >= scores[best] - _SIBLING_GAP and self._headings[number] == self._headings[best]
            if fits and near and len(more) < _SIBLINGS:
                more.append(number)
                covered |= days
        return more
