"""Several people's sound at once: the sum, and for each of them the sum of the others."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import SILENCE, Samples

_Key = TypeVar("_Key")


def mix(frames: Sequence[Samples]) -> Samples:
    """The sum of frames of one length, held at the ends of int16; of none, 20 ms of silence."""
    if not frames:
        return SILENCE
    return frames[0] if len(frames) == 1 else _saturated(_total(frames))


def mix_minus(frames: Mapping[_Key, Samples]) -> dict[_Key, Samples]:
    """For each key the mix of all the others: frames of one length in, as many out; alone, one hears silence.

    The sum is made once and each one's own part taken from it before it is held at the ends, so nobody hears themselves.
    """
    if not frames:
        return {}
    total = _total(list(frames.values()))
    return {key: _saturated(total - own) for key, own in frames.items()}


def _total(frames: Sequence[Samples]) -> NDArray[np.int32]:
    total = frames[0].astype(np.int32)
    for frame in frames[1:]:
        if frame.shape != total.shape:
            raise ValueError(f"frames of one mix have one length, not {total.shape} and {frame.shape}")
        total += frame
    return total


def _saturated(total: NDArray[np.int32]) -> Samples:
    return np.clip(total, -32768, 32767).astype(np.int16)
