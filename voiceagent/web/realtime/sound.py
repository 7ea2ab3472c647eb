"""Sound as it stands in the protocol's events: base64 of PCM at 24 kHz or of G.711 at 8 kHz, and 16 kHz inside."""

import base64
import binascii
from enum import StrEnum
from typing import Final

import numpy as np

from voiceagent.audio.convert import Resampler, decode_alaw, decode_mulaw, encode_alaw, encode_mulaw
from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import WebError


class Format(StrEnum):
    """How a sample is written: 16-bit little-endian at 24 kHz, or one byte of mu-law or A-law at 8 kHz."""

    PCM = "audio/pcm"
    PCMU = "audio/pcmu"
    PCMA = "audio/pcma"

    @property
    def rate(self) -> int:
        """Samples a second."""
        return 24_000 if self is Format.PCM else 8_000


_DECODE: Final = {Format.PCMU: decode_mulaw, Format.PCMA: decode_alaw}
_ENCODE: Final = {Format.PCMU: encode_mulaw, Format.PCMA: encode_alaw}


class SoundIn:
    """One client's sound on its way in; pieces may be of any length, and end in the middle of a sample."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self._resampler = Resampler(format.rate, RATE, live=True)
        self._half = b""

    def read(self, text: str) -> Samples:
        """The next piece as 16 kHz mono. Raises WebError for what is no base64."""
        try:
            data = self._half + base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise WebError("audio: this is no base64") from error
        self._half = b""
        if self.format is Format.PCM:
            whole = len(data) // 2 * 2
            data, self._half = data[:whole], data[whole:]
            samples = np.frombuffer(data, dtype="<i2").astype(np.int16)
        else:
            samples = _DECODE[self.format](data)
        return self._resampler.process(samples)

    def rest(self) -> Samples:
        """What the filter still holds; the next piece begins anew."""
        self._half = b""
        return self._resampler.flush()


class SoundOut:
    """One client's sound on its way out."""

    def __init__(self, format: Format) -> None:
        self.format = format
        self._resampler = Resampler(RATE, format.rate, live=True)

    def piece(self, samples: Samples) -> str:
        """16 kHz mono as base64; what the filter holds back comes with the next piece."""
        return self._write(self._resampler.process(samples))

    def rest(self) -> str:
        """What the filter still holds; the next piece begins anew."""
        return self._write(self._resampler.flush())

    def _write(self, samples: Samples) -> str:
        data = samples.astype("<i2").tobytes() if self.format is Format.PCM else _ENCODE[self.format](samples)
        return base64.b64encode(data).decode("ascii")
