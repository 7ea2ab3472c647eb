"""Words of unfinished speech, kept from flickering: what two guesses agreed on is never rewritten."""

from typing import Final

_MATCHED: Final = 3
"""Words at the end of the settled text by which a guess that begins otherwise is laid onto it."""


class Guesses:
    """One utterance's guesses (local agreement, as in streaming recognition with whole-utterance models, Liu et al. 2020).

    `text` begins with the `stable` characters that two guesses in a row agreed on; these stay as they are, to the letter, and
    only grow. Words agree without regard to case and punctuation.
    """

    def __init__(self) -> None:
        self._settled: list[str] = []
        self._open: list[str] = []

    @property
    def text(self) -> str:
        """The best guess at what has been said."""
        return " ".join((*self._settled, *self._open))

    @property
    def stable(self) -> int:
        """Characters at the beginning of `text` that will not change."""
        return len(" ".join(self._settled))

    def hear(self, words: str) -> bool:
        """Takes the next guess at all that was said; says whether the text has changed by it. An empty one changes nothing, nor
        does one in which what is settled cannot be found again."""
        before = self.text
        tail = self._beyond(words.split())
        if not tail:
            return False
        agreed = 0
        while agreed < min(len(tail), len(self._open)) and bare(tail[agreed]) == bare(self._open[agreed]):
            agreed += 1
        self._settled += self._open[:agreed]
        self._open = tail[agreed:]
        if self._open:
            self._open[-1] = self._open[-1].rstrip(".,!?…") or self._open[-1]
        return self.text != before

    def _beyond(self, words: list[str]) -> list[str]:
        """What a guess says after the words that are settled: its own count of them, or the nearest place where their last ones
        stand."""
        count = len(self._settled)
        if [bare(word) for word in words[:count]] == [bare(word) for word in self._settled]:
            return words[count:]
        last = [bare(word) for word in self._settled[-_MATCHED:]]
        ends = [at for at in range(len(last), len(words) + 1) if [bare(word) for word in words[at - len(last) : at]] == last]
        return words[min(ends, key=lambda at: abs(at - count)) :] if ends else []


def bare(word: str) -> str:
    """A word without case and punctuation."""
    return "".join(char for char in word.casefold() if char.isalnum())
