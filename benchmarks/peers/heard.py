"""How many words of a reply really sounded before it was cut: found in the sound itself, by the reply's own reference sound.

The reference is the reply spoken whole by the same voice, with its words' ends as a recognizer hears them. What sounded is laid
along it by dynamic time warping with an open end (Sakoe and Chiba 1978, symmetric steps) over log mel bands freed of their mean,
so that neither a softer voice nor the rhythm that Piper draws anew each time matters.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.speaker import LOUD, RATE, Samples
from benchmarks.peers.trials import hearing_words

HOP = RATE // 100
WINDOW = HOP * 5 // 2
BANDS = 24


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A reply spoken whole: `ends` has a place in `sound`, in samples, for each word."""

    words: tuple[str, ...]
    sound: Samples
    ends: tuple[int, ...]


def words_heard(reference: Reference, sound: Samples) -> float:
    """Words of the reply in `sound`, in order from its first; the last one in part when it was cut inside."""
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > LOUD)
    if loud.size < HOP * 5:
        return 0.0
    reached = open_end(_features(sound[loud[0] : loud[-1] + 1]), _features(_trimmed(reference.sound))) * HOP
    begins = _lead(reference.sound)
    ends = [0, *(max(1, end - begins) for end in reference.ends)]
    return float(np.interp(reached, ends, range(len(ends))))


def words_claimed(claim: str | None) -> int:
    """How many words of the reply a system holds to have been heard."""
    return 0 if claim is None else len(hearing_words(claim))


def open_end(said: np.ndarray, reference: np.ndarray) -> int:
    """How many frames of `reference` are used up by the whole of `said`, both of shape (frames, bands)."""
    distance = 1 - said @ reference.T
    cost = np.full((said.shape[0], reference.shape[0]), np.inf)
    cost[0] = np.cumsum(distance[0])
    for row in range(1, said.shape[0]):
        above = cost[row - 1]
        best = np.minimum(above, np.concatenate(([np.inf], above[:-1] + distance[row, 1:])))
        best = np.minimum(best, np.concatenate(([np.inf, np.inf], above[:-2] + distance[row, 2:] * 0.5)))
        cost[row] = best + distance[row]
    return int(np.argmin(cost[-1])) + 1


def _features(sound: Samples) -> np.ndarray:
    """Log mel bands a frame of 10 ms, freed of their mean over the bands and of length 1."""
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(sound.astype(np.float64), (0, WINDOW)), WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(WINDOW), 512)) ** 2
    bands = np.log(power @ _mel() + 1e4)
    bands -= bands.mean(axis=1, keepdims=True)
    return np.asarray(bands / np.maximum(np.linalg.norm(bands, axis=1, keepdims=True), 1e-6))


def _mel() -> np.ndarray:
    """Triangles on the mel scale from 100 to 6000 Hz, shape (257, BANDS)."""
    mels = np.linspace(1127 * np.log1p(100 / 700), 1127 * np.log1p(6000 / 700), BANDS + 2)
    edges = 700 * np.expm1(mels / 1127)
    hertz = np.arange(257)[:, None] * RATE / 512
    rising = (hertz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hertz) / (edges[2:] - edges[1:-1])
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def _lead(sound: Samples) -> int:
    return int(np.flatnonzero(np.abs(sound.astype(np.int32)) > LOUD)[0])


def _trimmed(sound: Samples) -> Samples:
    loud = np.flatnonzero(np.abs(sound.astype(np.int32)) > LOUD)
    return sound[loud[0] : loud[-1] + 1]
