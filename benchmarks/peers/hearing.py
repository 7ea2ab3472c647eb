"""Where sound begins and ends: the one rule by which every system's answers and everybody's speech are timed."""

import numpy as np

from benchmarks.peers.speaker import LOUD, RATE, Samples

FRAME = RATE // 100
"""Levels are looked at in frames of 10 ms."""

BELOW_PEAK_DB = 35.0
ABOVE_FLOOR_DB = 8.0
DUCKED_DB = 10.0
GAP = RATE * 300 // 1000
"""A silence this long separates two soundings of the agent, and is what "silent" means after a barge-in."""

DUCK_LASTS = RATE * 250 // 1000


def levels(sound: Samples) -> np.ndarray:
    """The level of each whole frame of 10 ms in dBFS, -100 for nothing."""
    frames = sound[: sound.size - sound.size % FRAME].reshape(-1, FRAME).astype(np.float64) / 32768
    return np.asarray(10 * np.log10((frames**2).mean(axis=1) + 1e-10))


def speech_bounds(sound: Samples) -> tuple[int, int]:
    """Where speech begins and ends in a recording, in samples: its first and last frame within 35 dB of the loudest one, or
    8 dB above the recording's own floor (its tenth percentile), whichever is higher."""
    found = levels(sound)
    threshold = max(float(found.max()) - BELOW_PEAK_DB, float(np.percentile(found, 10)) + ABOVE_FLOOR_DB)
    threshold = min(threshold, float(found.max()) - 6)
    loud = np.flatnonzero(found > threshold)
    return int(loud[0]) * FRAME, (int(loud[-1]) + 1) * FRAME


def soundings(heard: Samples) -> list[tuple[int, int]]:
    """Each stretch in which the agent sounded: from its first loud sample to behind its last one before 300 ms of silence."""
    loud = np.flatnonzero(np.abs(heard.astype(np.int32)) > LOUD)
    if not loud.size:
        return []
    borders = np.flatnonzero(np.diff(loud) > GAP)
    begins = [int(loud[0]), *(int(loud[border + 1]) for border in borders)]
    ends = [*(int(loud[border]) + 1 for border in borders), int(loud[-1]) + 1]
    return list(zip(begins, ends, strict=True))


def first_after(heard: Samples, after: int) -> int | None:
    """Where the agent begins to sound at or after this place, not counting what goes on sounding there; None: never."""
    return next((begin for begin, _ in soundings(heard) if begin >= after), None)


def silent_after(heard: Samples, onset: int) -> int | None:
    """How many samples after `onset` the agent, sounding then, falls silent for 300 ms; None when `heard` ends before that."""
    for begin, end in soundings(heard):
        if begin <= onset + GAP and end > onset:
            return end - onset if heard.size - end >= GAP else None
    return 0


def ducked_after(heard: Samples, onset: int) -> int | None:
    """How many samples after `onset` the agent has become quieter, whether softer or silent, for 250 ms: by 10 dB against the
    loudest twentieth of what it said until then. None when it never does."""
    found = levels(heard)
    at = onset // FRAME
    threshold = float(np.percentile(found[: max(1, at)][found[: max(1, at)] > -60], 95)) - DUCKED_DB if at else 0.0
    loud = np.flatnonzero(found[at:] > threshold)
    lasts = DUCK_LASTS // FRAME
    previous = -1
    for frame in (*loud.tolist(), found.size - at):
        if frame - previous > lasts:
            return max(0, (previous + 1 + at) * FRAME - onset)
        previous = frame
    return None
