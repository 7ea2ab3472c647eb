"""What a run sounded like: the people on the left, the agent on the right, both in time."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from voiceagent.audio.frame import Samples, to_samples
from voiceagent.audio.mixer import mix
from voiceagent.audio.wav import WavWriter


def track(pieces: Iterable[tuple[int, Samples]], length_ms: int) -> Samples:
    """One track of 16 kHz int16: each piece at its time in ms, added up and kept in range; what lies outside is cut off."""
    length = to_samples(length_ms)
    layers = [(to_samples(at_ms), samples) for at_ms, samples in pieces]
    sound = np.zeros(length, dtype=np.int16)
    for begin, samples in layers:
        part = samples[: max(0, length - begin)]
        sound[begin : begin + part.size] = mix((sound[begin : begin + part.size], part))
    return sound


def write_stereo(path: Path, left: Samples, right: Samples) -> None:
    """Two tracks of one length into a WAV file. Raises AudioError when it cannot be written."""
    with WavWriter(path, 2) as file:
        file.append(np.stack((left, right), axis=1))
