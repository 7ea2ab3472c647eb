"""Changes of shape between the sound of a line or file and the sound inside: sample rate, channels, and G.711 companding."""

from typing import Any, Final

import numpy as np
import soxr
from numpy.typing import NDArray

from voiceagent.audio.frame import Samples
from voiceagent.errors import AudioError

SLOWEST_RATE: Final = 1_000
FASTEST_RATE: Final = 768_000

_QUALITY: Final = "HQ"


class Resampler:
    """Streams mono sound from one sample rate to another; chunks of any length, joined, equal one conversion of the whole.

    It remembers the end of the last chunk and gives it back with the next one or with `flush()`, so pauses and chunk borders
    leave no click. That is up to 40 ms, and up to 115 ms where one rate is twice the other; a `live` one never holds back more
    than 30 ms (soxr's filter of variable rate: its aliases are as low, and it moves the sound by up to 0.3 ms). It works in
    float32 and rounds at the end: soxr's own int16 path adds dither, which would turn digital silence into noise. One object a
    stream.
    """

    def __init__(self, from_rate: int, to_rate: int, *, live: bool = False) -> None:
        """Rates in Hz. Raises AudioError for a rate outside 1 kHz to 768 kHz."""
        for rate in (from_rate, to_rate):
            if not SLOWEST_RATE <= rate <= FASTEST_RATE:
                raise AudioError(f"a sample rate of {rate} Hz cannot be used: {SLOWEST_RATE} to {FASTEST_RATE} Hz can")
        self.from_rate = from_rate
        self.to_rate = to_rate
        self._live = live
        self._stream = self._fresh()

    def process(self, samples: Samples) -> Samples:
        """The next stretch of sound at the new rate, shape (n,), int16; shorter or longer by what the filter holds back."""
        return self._convert(samples, last=False)

    def flush(self) -> Samples:
        """What the filter still holds of the sound so far; afterwards the object is as new."""
        tail = self._convert(np.zeros(0, dtype=np.int16), last=True)
        self.reset()
        return tail

    def reset(self) -> None:
        """Forgets everything heard, so that the next sound comes out as from a new object."""
        self._stream = self._fresh()

    def _convert(self, samples: Samples, *, last: bool) -> Samples:
        if self._stream is None:
            return samples.copy()
        converted: NDArray[np.float32] = self._stream.resample_chunk(samples.astype(np.float32), last=last)
        return to_int16(converted)

    def _fresh(self) -> soxr.ResampleStream | None:
        if self.from_rate == self.to_rate:
            return None
        return soxr.ResampleStream(self.from_rate, self.to_rate, 1, dtype="float32", quality=_QUALITY, vr=self._live)


def to_int16(samples: NDArray[np.floating[Any]]) -> Samples:
    """Floats on the scale of int16 (full scale 32768), rounded to the nearest and held at the ends."""
    held: Samples = np.clip(np.rint(samples), -32768, 32767).astype(np.int16)
    return held


def to_mono(samples: Samples) -> Samples:
    """The mean of all channels: (n, channels) int16 in, (n,) int16 out; what is mono already comes back as it is."""
    if samples.ndim == 1:
        return samples
    return to_int16(samples.mean(axis=1, dtype=np.float64))


def decode_mulaw(codes: bytes) -> Samples:
    """G.711 mu-law bytes as int16 samples at the same rate."""
    return _MULAW_TO_LINEAR[np.frombuffer(codes, dtype=np.uint8)]


def encode_mulaw(samples: Samples) -> bytes:
    """int16 samples as G.711 mu-law, one byte each."""
    return _LINEAR_TO_MULAW[samples.view(np.uint16)].tobytes()


def decode_alaw(codes: bytes) -> Samples:
    """G.711 A-law bytes as int16 samples at the same rate."""
    return _ALAW_TO_LINEAR[np.frombuffer(codes, dtype=np.uint8)]


def encode_alaw(samples: Samples) -> bytes:
    """int16 samples as G.711 A-law, one byte each."""
    return _LINEAR_TO_ALAW[samples.view(np.uint16)].tobytes()


def _mulaw_values() -> Samples:
    """ITU-T G.711 table 2: sign, 3 bits of segment and 4 of step, sent inverted; 14-bit magnitudes on the 16-bit scale."""
    code = ~np.arange(256, dtype=np.uint8)
    segment = (code >> 4 & 7).astype(np.int32)
    step = (code & 15).astype(np.int32)
    magnitude = ((2 * step + 33 << segment) - 33) * 4
    return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)


def _mulaw_codes() -> NDArray[np.uint8]:
    value = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 2
    biased = np.minimum(np.abs(value), 8158) + 33
    segment = np.floor(np.log2(biased)).astype(np.int32) - 5
    step = biased >> segment + 1 & 15
    sign = np.where(value < 0, 0x80, 0)
    codes: NDArray[np.uint8] = ~(sign | segment << 4 | step).astype(np.uint8)
    return codes


def _alaw_values() -> Samples:
    """ITU-T G.711 table 1: as mu-law, but segment 0 is linear and every other bit is sent inverted; 13-bit magnitudes."""
    code = np.arange(256, dtype=np.uint8) ^ 0x55
    segment = (code >> 4 & 7).astype(np.int32)
    step = (code & 15).astype(np.int32)
    magnitude = np.where(segment == 0, 2 * step + 1, 2 * step + 33 << np.maximum(segment - 1, 0)) * 8
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


def _alaw_codes() -> NDArray[np.uint8]:
    value = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 3
    magnitude = np.where(value < 0, ~value, value)
    segment = np.maximum(np.floor(np.log2(np.maximum(magnitude, 1))).astype(np.int32) - 4, 0)
    step = magnitude >> np.maximum(segment, 1) & 15
    sign = np.where(value < 0, 0, 0x80)
    codes: NDArray[np.uint8] = (sign | segment << 4 | step).astype(np.uint8) ^ 0x55
    return codes


_MULAW_TO_LINEAR: Final = _mulaw_values()
_LINEAR_TO_MULAW: Final = _mulaw_codes()
_ALAW_TO_LINEAR: Final = _alaw_values()
_LINEAR_TO_ALAW: Final = _alaw_codes()
