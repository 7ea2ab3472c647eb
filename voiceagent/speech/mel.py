"""Mel bands: what spectra are summed into before networks that were trained on voices look at them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.audio.frame import RATE

Floats = NDArray[np.float32]

FFT: Final = 400
HOP: Final = 160

_LINEAR_TO_HZ: Final = 1000.0
_LINEAR_STEP: Final = 200 / 3
_LOG_STEP: Final = np.log(6.4) / 27


def mel_bands(count: int) -> Floats:
    """Triangles over the 201 bins of a frame of 400 samples, shape (count, 201), each of unit area, up to 8 kHz.

    On Slaney's scale: linear below 1 kHz, logarithmic above.
    """
    top = _LINEAR_TO_HZ / _LINEAR_STEP + np.log(RATE / 2 / _LINEAR_TO_HZ) / _LOG_STEP
    mels = np.linspace(0, top, count + 2)
    bend = _LINEAR_TO_HZ / _LINEAR_STEP
    edges = np.where(mels < bend, mels * _LINEAR_STEP, _LINEAR_TO_HZ * np.exp(_LOG_STEP * np.maximum(0, mels - bend)))
    bins = np.fft.rfftfreq(FFT, 1 / RATE)[np.newaxis]
    left, middle, right = edges[:-2, np.newaxis], edges[1:-1, np.newaxis], edges[2:, np.newaxis]
    triangles = np.maximum(0, np.minimum((bins - left) / (middle - left), (right - bins) / (right - middle)))
    areas: Floats = (triangles * 2 / (right - left)).astype(np.float32)
    return areas
