"""Comparing utterances two by two: how often the same person is missed and another taken for them, and how sure that is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.speech.traits import Print

Floats = NDArray[np.float64]

DRAWS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Trials:
    """Likenesses of utterances of one voice, and of two."""

    same: Floats
    other: Floats

    def missed(self, bar: float) -> float:
        """Share of the same that are less alike than the bar."""
        return float((self.same < bar).mean())

    def taken(self, bar: float) -> float:
        """Share of the others that are as alike as it."""
        return float((self.other >= bar).mean())

    @property
    def equal_error(self) -> tuple[float, float]:
        """The rate at which both are equal, or nearest to it, and the bar there."""
        bars = np.unique(np.concatenate([self.same, self.other]))
        missed = np.searchsorted(np.sort(self.same), bars, side="left") / self.same.size
        taken = 1 - np.searchsorted(np.sort(self.other), bars, side="left") / self.other.size
        at = int(np.abs(missed - taken).argmin())
        return float((missed[at] + taken[at]) / 2), float(bars[at])


def trials(enrolled: Sequence[Sequence[Print]], heard: Sequence[Sequence[Print]]) -> Trials:
    """Every utterance against every other, each by its speaker: `heard[n]` are those of `enrolled[n]`, in the same order, as they
    are at another place. An utterance is never compared with itself."""
    voices = range(len(enrolled))
    same = [trials_of(enrolled[a], heard[a], same=True) for a in voices]
    other = [trials_of(enrolled[a], heard[b], same=False) for a in voices for b in voices if a != b]
    return Trials(np.concatenate(same), np.concatenate(other))


def interval(
    rate: Callable[[Trials], float], enrolled: Sequence[Sequence[Print]], heard: Sequence[Sequence[Print]]
) -> tuple[float, float]:
    """The 95 % interval of a rate, by drawing voices, not trials, again and again: trials of one voice hang together.

    A draw that has no pair of a voice's own utterances, or one voice only, is left out.
    """
    random, count = np.random.default_rng(0), len(enrolled)
    pairs = {(a, b): trials_of(enrolled[a], heard[b], same=a == b) for a in range(count) for b in range(count)}
    rates = []
    for _ in range(DRAWS):
        drawn = random.integers(0, count, count)
        same = [pairs[a, a] for a in drawn]
        other = [pairs[a, b] for a in drawn for b in drawn if a != b]
        if other and sum(part.size for part in same):
            rates.append(rate(Trials(np.concatenate(same), np.concatenate(other))))
    low, high = np.percentile(rates, [2.5, 97.5])
    return float(low), float(high)


def trials_of(mine: Sequence[Print], theirs: Sequence[Print], *, same: bool) -> Floats:
    """The likenesses of one voice's utterances with another's; `same`: with its own, each with the others."""
    if not mine or not theirs:
        return np.zeros(0)
    alike = np.stack(mine) @ np.stack(theirs).T
    kept = np.eye(*alike.shape) == 0 if same else np.ones(alike.shape, dtype=np.bool_)
    found: Floats = alike[kept].astype(np.float64)
    return found


def poisson_interval(count: int) -> tuple[float, float]:
    """The exact 95 % interval of what is expected where so many were counted."""
    low = 0.0 if count == 0 else _solve(lambda mean: 1 - _below(count, mean) - 0.025, 0.0, float(count))
    return low, _solve(lambda mean: 0.025 - _below(count + 1, mean), float(count), count + 10 * (count + 10) ** 0.5)


def _below(count: int, mean: float) -> float:
    """The chance of fewer than `count` where `mean` are expected."""
    return sum(exp(n * log(mean) - mean - lgamma(n + 1)) for n in range(count)) if mean > 0 else 1.0


def _solve(rises: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return (low + high) / 2
