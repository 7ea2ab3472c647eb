"""A WAV file that grows while sound arrives."""

import wave
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np

from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import AudioError

_LARGEST: Final = 0xFFFFFFFF - 64
"""Bytes of sound a RIFF header can count."""


class WavWriter:
    """Writes 16-bit PCM WAV piece by piece, without holding it; the header is right once `close()` has returned.

    Use as a context manager, or close it.
    """

    def __init__(self, path: Path | str, channels: int, *, rate: int = RATE) -> None:
        """Creates or replaces the file at once. Raises AudioError when it cannot be written."""
        self._channels = channels
        self._path = Path(path)
        self._bytes = 0
        try:
            self._file = self._path.open("wb")
        except OSError as error:
            raise AudioError(f"{path} cannot be written ({error.strerror}); name another place") from error
        self._wave = wave.Wave_write(self._file)
        self._wave.setnchannels(channels)
        self._wave.setsampwidth(2)
        self._wave.setframerate(rate)

    def append(self, samples: Samples) -> None:
        """Adds int16 samples, shape (n,) for mono and (n, channels) otherwise.

        Raises AudioError for another shape or type, and when the file would pass the 4 GiB that a WAV header can count.
        """
        shape = (len(samples),) if self._channels == 1 else (len(samples), self._channels)
        if samples.dtype != np.int16 or samples.shape != shape:
            raise AudioError(f"{self._path} takes int16 of shape {shape}, not {samples.dtype} of shape {samples.shape}")
        if self._bytes + samples.nbytes > _LARGEST:
            raise AudioError(f"{self._path} would pass 4 GiB, the most a WAV file can hold; start another file")
        self._bytes += samples.nbytes
        self._wave.writeframesraw(np.ascontiguousarray(samples, dtype="<i2").tobytes())

    def close(self) -> None:
        """Completes the header; safe to call twice."""
        self._wave.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
