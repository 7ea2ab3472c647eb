"""Which written word each spoken word belongs to, after numbers, marks and abbreviations have become words."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final

_DEAREST: Final = 10_000
"""Pairs of words that are compared at most; texts that differ over more are taken as equally fast."""


def letters_of(word: str) -> str:
    """What is compared of a word: its letters and digits, case folded."""
    return "".join(char for char in word.casefold() if char.isalnum())


def owners(written: Sequence[str], spoken: Sequence[str], spell: Callable[[str], str] = str) -> list[int]:
    """For each spoken word the index of the written word it says; never falls, `written` is not empty.

    `spell` says how a written word is spoken when it stands alone. Words at both ends that are the same own each other; the
    words between are spelled one by one and matched by their longest common runs (Ratcliff and Obershelp's), and what is
    still different (an ordinal that only the neighbour tells) shares the gap evenly.
    """
    before, after = _same_ends(written, spoken)
    middle = range(before, len(written) - after)
    expected = [(word, at) for at in middle for word in spell(written[at]).split()]
    said = spoken[before : len(spoken) - after]
    if not expected:
        expected = [("", min(before, len(written) - 1))]
    between = [expected[at][1] for at in _matched([word for word, _ in expected], said)]
    tail = range(len(written) - after, len(written))
    return [*range(before), *between, *tail]


def _same_ends(written: Sequence[str], spoken: Sequence[str]) -> tuple[int, int]:
    """How many words at the beginning, and at the end, are the same in both."""
    most = min(len(written), len(spoken))
    before = after = 0
    while before < most and _same(written[before], spoken[before]):
        before += 1
    while after < most - before and _same(written[-1 - after], spoken[-1 - after]):
        after += 1
    return before, after


def _same(one: str, other: str) -> bool:
    return one == other or (letters_of(one) == letters_of(other) != "")


def _matched(expected: Sequence[str], said: Sequence[str]) -> list[int]:
    """For each word said its place among the expected ones; `expected` is not empty."""
    first, second = [letters_of(word) for word in expected], [letters_of(word) for word in said]
    blocks = [(0, 0, 0), (len(first), len(second), 0)]
    if len(first) * len(second) <= _DEAREST:
        blocks = [(0, 0, 0), *SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()]
    places: list[int] = []
    for (a, b, size), (next_a, next_b, _) in pairwise(blocks):
        places.extend(range(a, a + size))
        gap, missing = range(a + size, next_a), next_b - (b + size)
        if gap:
            places.extend(gap[number * len(gap) // missing] for number in range(missing))
        else:
            places.extend([max(0, min(a + size - 1, len(first) - 1))] * missing)
    return places
