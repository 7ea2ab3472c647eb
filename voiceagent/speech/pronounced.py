"""Which phonemes of a sentence each of its words became, and so where the words lie in its sound."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

BORDER: Final = " "
"""The phoneme between two words, or between groups of words that are said as one ("in the")."""

UNVOICED: Final = frozenset(".,;:!?…'\"()-–—¿¡« »")
"""Phonemes that are marks: their sound is the pause behind a word."""

_MOST_WORDS: Final = 4
"""Words that may be said as one group."""

_MOST_GROUPS: Final = 12
"""Groups that one word may become: a number that was not spelled out."""

_JOINED: Final = 0.5
"""What each further word of a group, or group of a word, costs, in phonemes that differ."""

_FOREIGN: Final = 0.6
"""Share of phonemes that differ from which on the words are not those of the sound."""

Phonemes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """The phonemes of one word, by their places in the sentence's: from `first` up to `end`."""

    first: int
    end: int


def spans(words: Sequence[str], phonemes: Sequence[str], say: Callable[[str], Phonemes]) -> list[Span] | None:
    """Where each of `words` lies in `phonemes`; None where they do not go together.

    `say` tells how a word is pronounced alone. Groups of phonemes between borders and words are matched by the cheapest way
    from both beginnings to both ends (A*), a step being some words for one group or one word for some groups, at the
    price of the phonemes that differ; words that share a group share it by the phonemes they have alone.
    """
    groups = list(_groups(phonemes))
    alone = [say(word) for word in words]
    found = _cheapest([_bare(one) for one in alone], [_bare(phonemes[first:end]) for first, end in groups])
    if found is None:
        return None
    placed: list[Span] = []
    for (word, group), (next_word, next_group) in found:
        within = groups[group:next_group]
        counts = [max(1, len(one)) for one in alone[word:next_word]]
        placed.extend(_shared(within, counts) if within else _nowhere(placed, len(counts)))
    return placed


def _groups(phonemes: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Stretches between borders, without the marks at their ends."""
    first = 0
    for at in range(len(phonemes) + 1):
        if at < len(phonemes) and phonemes[at] != BORDER:
            continue
        begin, end = first, at
        while begin < end and phonemes[end - 1] in UNVOICED:
            end -= 1
        while begin < end and phonemes[begin] in UNVOICED:
            begin += 1
        if begin < end:
            yield begin, end
        first = at + 1


def _bare(phonemes: Sequence[str]) -> Phonemes:
    """Without stress and length, which a word alone and the same word in a sentence have different ones of."""
    return tuple(phoneme for phoneme in phonemes if phoneme not in "ˈˌːʲ" and phoneme not in UNVOICED)


def _cheapest(words: Sequence[Phonemes], groups: Sequence[Phonemes]) -> list[tuple[tuple[int, int], tuple[int, int]]] | None:
    """The steps of the cheapest way, each from (word, group) to (word, group)."""
    left = [_left(words), _left(groups)]
    most = _FOREIGN * left[1][0]
    came: dict[tuple[int, int], tuple[int, int]] = {}
    waiting = [(0.0, 0.0, (0, 0), (0, 0))]
    while waiting:
        _, price, place, before = heapq.heappop(waiting)
        if place in came:
            continue
        came[place] = before
        if place == (len(words), len(groups)):
            return _way(came, place)
        for step in _steps(place, len(words), len(groups)):
            cost = price + _price(words[place[0] : step[0]], groups[place[1] : step[1]])
            if cost <= most and step not in came:
                at_least = cost + abs(left[0][step[0]] - left[1][step[1]])
                heapq.heappush(waiting, (at_least, cost, step, place))
    return None


def _left(parts: Sequence[Phonemes]) -> list[int]:
    """How many phonemes are left at each place: their difference is what the way to the end costs at least."""
    left = [0]
    for part in reversed(parts):
        left.append(left[-1] + len(part))
    return left[::-1]


def _steps(place: tuple[int, int], words: int, groups: int) -> Iterator[tuple[int, int]]:
    word, group = place
    if group < groups:
        yield from ((word + count, group + 1) for count in range(1, min(_MOST_WORDS, words - word) + 1))
    if word < words:
        yield from ((word + 1, group + count) for count in range(2, min(_MOST_GROUPS, groups - group) + 1))
        yield word + 1, group


def _price(words: Sequence[Phonemes], groups: Sequence[Phonemes]) -> float:
    """How many phonemes differ, and something for each word or group more than one."""
    joined = _JOINED * max(0, len(words) - 1, len(groups) - 1)
    if len(words) == len(groups) == 1 and words[0] == groups[0]:
        return 0.0
    said, heard = Counter(p for word in words for p in word), Counter(p for group in groups for p in group)
    return joined + max(said.total(), heard.total()) - (said & heard).total()


def _way(came: dict[tuple[int, int], tuple[int, int]], end: tuple[int, int]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    way = []
    while end != (0, 0):
        way.append((came[end], end))
        end = came[end]
    return way[::-1]


def _shared(groups: Sequence[tuple[int, int]], counts: Sequence[int]) -> Iterator[Span]:
    """One group for several words by their counts; several groups for one word as a whole."""
    first, end = groups[0][0], groups[-1][1]
    before, total = 0, sum(counts)
    for count in counts:
        begin = first + round((end - first) * before / total)
        before += count
        yield Span(begin, first + round((end - first) * before / total))


def _nowhere(placed: Sequence[Span], count: int) -> list[Span]:
    """A word that nobody says ends where the one before it does."""
    end = placed[-1].end if placed else 0
    return [Span(end, end)] * count
