"""The application's marks in somebody's words, found however they are spelled."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from confusable_homoglyphs import confusables

_UNLIKE: Final = str.maketrans({"0": "o", "1": "l", "i": "l"})


class Marks:
    """Texts that only the application may write, known by their letters: what stands between those, case, width, accents, and
    letters of other scripts that look the same, make no difference."""

    def __init__(self, marks: Sequence[str]) -> None:
        self._letters = tuple("".join(map(_seen, mark)) for mark in marks)

    def taken_out(self, text: str) -> str:
        """The text with every mark in it, and the sign on either side of it, in round brackets: no mark any more.

        Takes time by the length of the text alone.
        """
        folded = [_seen(character) for character in text]
        letters = "".join(folded)
        if not any(mark in letters for mark in self._letters):
            return text
        places = [place for place, seen in enumerate(folded) for _ in seen]
        parts: list[str] = []
        done = 0
        for first, last in self._found(letters):
            start, end = places[first], places[last] + 1
            if start < done:  # two marks share a character
                continue
            before = text[done:start]
            parts += (before[: len(before) - _to_sign(reversed(before))], "(", text[start:end], ")")
            done = end + _to_sign(text[place] for place in range(end, len(text)))
        return "".join((*parts, text[done:]))

    def _found(self, letters: str) -> Iterator[tuple[int, int]]:
        """Where marks stand among the letters, first and last one, one behind the other."""
        nearest = {mark: letters.find(mark) for mark in self._letters}
        at = 0
        while True:
            for mark, place in nearest.items():
                if 0 <= place < at:
                    nearest[mark] = letters.find(mark, at)
            ahead = [(place, place + len(mark)) for mark, place in nearest.items() if place >= 0]
            if not ahead:
                return
            place, at = min(ahead)
            yield place, at - 1


def _to_sign(outward: Iterable[str]) -> int:
    """How many characters, read away from a mark, there are up to and with the first sign; 0 when a letter comes before one."""
    for count, character in enumerate(outward, 1):
        if _seen(character):
            return 0
        if character.isprintable() and not character.isspace() and character != ".":
            return count
    return 0


@lru_cache(maxsize=65_536)
def _seen(character: str) -> str:
    """The letters and digits that a character is read as; empty for all other characters."""
    if character.isascii():
        return character.lower().translate(_UNLIKE) if character.isalnum() else ""
    plain = unicodedata.normalize("NFKD", character)
    return "".join(_latin(part) for part in plain if part.isalnum())


def _latin(letter: str) -> str:
    """The letter as the Latin one that it resembles, as it stands or as a capital; itself when there is none."""
    like = letter if letter.isascii() else _resembled(letter) or _resembled(letter.upper()) or letter
    return like.casefold().translate(_UNLIKE)


def _resembled(letter: str) -> str | None:
    twins = (str(twin["c"]) for twin in confusables.confusables_data.get(letter, ()))
    return next((twin for twin in twins if twin.isascii() and twin.isalnum()), None)
