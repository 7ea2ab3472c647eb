"""Finding an agent's and people's names in what was heard: exact, by sound, by a letter's difference, or in two words."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Final

_SHORTEST_MISHEARD: Final = 4
_SAME_SOUND: Final = (
    ("ph", "f"), ("kn", "n"), ("gn", "n"), ("wh", "w"), ("ck", "k"), ("th", "t"), ("ee", "i"), ("ea", "i"), ("oo", "u"),
    ("ou", "u"), ("ow", "o"), ("au", "o"), ("eau", "o"), ("ie", "i"), ("qu", "k"), ("x", "ks"), ("c", "k"), ("q", "k"),
    ("y", "i"), ("z", "s"), ("v", "b"), ("w", "u"),
)  # fmt: skip
_SILENT_END: Final = re.compile(r"(?<=[aeiou])(?:h|r|rs|s)$|(?<=[^aeiou])e$|(?<=[aeo])w$")


def plain(word: str) -> str:
    """A word in small letters, without accents and apostrophes."""
    small = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in small if not unicodedata.combining(c) and c not in "'’ʼ`´")


def sound(word: str) -> str:
    """A rough key of how a word sounds to an English, French or Spanish ear: equal for Nova, Nover, Knova and Noba."""
    key = plain(word)
    for written, heard in _SAME_SOUND:
        key = key.replace(written, heard)
    key = re.sub(r"(.)\1+", r"\1", _SILENT_END.sub("", re.sub(r"(?<=.)er$", "a", key)))
    return re.sub(r"h", "", key)


class NameMatcher:
    """Tells where the agent and other people are named among the words of a turn.

    `people` are display names; the first word of each counts, and so does a whole name of several words. A misheard name is
    recognised for the agent only, never in a word of `common`.
    """

    def __init__(self, agent: str, people: Sequence[str], common: Collection[str] = ()) -> None:
        self._agent = [plain(w) for w in re.findall(r"[^\W_]+", agent)] or ["\0"]
        self._whole = "".join(self._agent)
        self._common = common
        self._people: dict[str, int] = {}
        for place, name in enumerate(people):
            for word in re.findall(r"[^\W_]+", name)[:1]:
                if plain(word) != self._agent[0]:
                    self._people.setdefault(plain(word), place)

    def agent_at(self, words: Sequence[str], place: int) -> int:
        """How many words from `place` on are the agent's name; 0 when they are not. `words` are plain()."""
        size = len(self._agent)
        if list(words[place : place + size]) == self._agent:
            return size
        if self._misheard(words[place], opens=place == 0):
            return 1
        pair, after = words[place : place + 2], words[place + 2 : place + 3]
        if len(pair) == 2 and self._joined(pair[0], pair[1], opens=place == 0 and list(after) != ["a"]):
            return 2
        return 0

    def person_at(self, word: str) -> int | None:
        """The place among `people` of whoever a plain() word names; None for nobody."""
        return self._people.get(word)

    def _misheard(self, word: str, *, opens: bool) -> bool:
        """A common word is the name only where it opens the turn and sounds the same: `auto, how much` for Otto."""
        if word in self._people or len(word) < 3:
            return False
        if word in self._common:
            return opens and len(word) >= _SHORTEST_MISHEARD and sound(word) == sound(self._whole)
        if abs(len(word) - len(self._whole)) > 2:
            return False
        if sound(word) == sound(self._whole):
            return True
        return min(len(word), len(self._whole)) >= _SHORTEST_MISHEARD and edits(word, self._whole) <= 1

    def _joined(self, first: str, second: str, *, opens: bool) -> bool:
        """Two short words that were one name: `no va`. Two common ones are it only where they open the turn, letter by letter."""
        joined = first + second
        if len(joined) < _SHORTEST_MISHEARD or first in self._people or second in self._people:
            return False
        if first in self._common and second in self._common:
            return opens and joined == self._whole
        return joined == self._whole or (len(second) > 1 and sound(joined) == sound(self._whole))


def edits(one: str, other: str) -> int:
    """The least number of letters put in, left out, changed or swapped with their neighbour that makes one word the other."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(other, 1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]


def first_names(names: Iterable[str]) -> tuple[str, ...]:
    """The first word of each display name."""
    return tuple(match.group() for name in names if (match := re.search(r"[^\W_]+", name)))
