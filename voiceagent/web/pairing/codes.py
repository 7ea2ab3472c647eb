"""Codes by which another host is paired: made here, said to its host, good once and for a short while."""

import secrets
from dataclasses import dataclass
from typing import Final

from voiceagent.room.pairings.pairing import Level, sealed

LETTERS: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""What cannot be mistaken for another when it is read aloud."""

LONG: Final = 12
"""59 bits: a thousand guesses a second for ten minutes find one with a chance of 1 in a trillion."""

MOST: Final = 10
"""Codes at once; the oldest is given up for a new one."""


@dataclass(frozen=True, slots=True)
class _Code:
    sealed: str
    level: Level
    until: int


class Codes:
    """The codes that are good now, in memory alone: a restart ends them. Times in ms."""

    def __init__(self, good_ms: int) -> None:
        self._good_ms = good_ms
        self._codes: list[_Code] = []

    def issue(self, level: Level, now: int) -> str:
        """A new code, in groups of four. Whoever brings it may do so much here."""
        letters = "".join(secrets.choice(LETTERS) for _ in range(LONG))
        self._codes = [*self._good(now)[-(MOST - 1) :], _Code(sealed(letters), level, now + self._good_ms)]
        return "-".join(letters[at : at + 4] for at in range(0, LONG, 4))

    def take(self, code: str, now: int) -> Level | None:
        """What the bringer of a code may do; None when it is not good, or no longer. It is used up by this."""
        wanted = sealed("".join(letter for letter in code.upper() if letter.isalnum()))
        found: _Code | None = None
        for one in self._good(now):  # all of them, so that the time says nothing
            found = one if secrets.compare_digest(one.sealed, wanted) else found
        self._codes = [one for one in self._good(now) if one is not found]
        return None if found is None else found.level

    def _good(self, now: int) -> list[_Code]:
        return [code for code in self._codes if code.until > now]
