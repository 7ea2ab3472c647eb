"""The one shape of sound inside: 20 ms of 16 kHz mono 16-bit samples."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]
"""One-dimensional int16 samples; 16 kHz unless a name says otherwise."""

RATE: Final = 16_000
FRAME_MS: Final = 20
FRAME_SAMPLES: Final = RATE * FRAME_MS // 1000


@dataclass(frozen=True, slots=True, eq=False)
class AudioFrame:
    """20 ms of sound on one line.

    `samples` has shape (320,), int16. `at` is the position of its first sample since the line opened, in samples of 16 kHz:
    the audio is the clock of whatever is said on that line.
    """

    samples: Samples
    at: int = 0

    def __post_init__(self) -> None:
        if self.samples.shape != (FRAME_SAMPLES,) or self.samples.dtype != np.int16:
            raise ValueError(f"a frame is {FRAME_SAMPLES} int16 samples, not {self.samples.shape} {self.samples.dtype}")


SILENCE: Final[Samples] = np.zeros(FRAME_SAMPLES, dtype=np.int16)
SILENCE.flags.writeable = False


def to_ms(samples: int) -> int:
    """Whole milliseconds in a number of 16 kHz samples, rounded down."""
    return samples * 1000 // RATE


def to_samples(ms: int) -> int:
    """16 kHz samples in a number of milliseconds."""
    return ms * RATE // 1000
