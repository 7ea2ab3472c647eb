"""A sound file as samples: any common format, rate and channels in, 16 kHz mono out, or an error that says what to do."""

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
import numpy as np
from av.audio.frame import AudioFrame as DecodedFrame
from av.container import InputContainer

from voiceagent.audio.convert import Resampler, decode_alaw, decode_mulaw, to_int16
from voiceagent.audio.frame import RATE, Samples, to_ms, to_samples
from voiceagent.errors import AudioError

LONGEST_MS: Final = 4 * 3_600_000

_RAW: Final = {
    ".ulaw": decode_mulaw,
    ".ul": decode_mulaw,
    ".mulaw": decode_mulaw,
    ".raw": decode_mulaw,
    ".alaw": decode_alaw,
    ".al": decode_alaw,
}
"""Endings of headerless 8 kHz mono telephone recordings."""

_RAW_RATE: Final = 8_000
_BLOCK: Final = 1 << 20

_FORMATS: Final = "wav,w64,flac,mp3,ogg,aiff,au,caf,aac,mov,matroska,webm"
"""Demuxers that only read the file itself: a playlist, which could name other files or hosts, is never followed."""

_SCALE: Final = {"u8": 256.0, "s16": 1.0, "s32": 2.0**-16, "flt": 32768.0, "dbl": 32768.0}
"""From each sample format to the scale of int16 (u8 after taking off its middle)."""

_HOW: Final = "give a wav, flac, mp3 or ogg file, or raw 8 kHz mu-law named .ulaw"


@dataclass(frozen=True, slots=True, eq=False)
class Sound:
    """A recording: `samples` are 16 kHz mono int16, shape (n,); `rate` (Hz) and `channels` are the file's own."""

    samples: Samples
    rate: int
    channels: int
    duration_ms: int


def read_sound(path: Path | str, *, longest_ms: int = LONGEST_MS) -> Sound:
    """The sound of a file, all channels mixed down to one. Blocks; memory is bounded by `longest_ms` (32 kB a second).

    Raises AudioError, naming the file and what to do, when it is missing, no regular file, empty, damaged, no sound, or
    longer than `longest_ms`.
    """
    path = Path(path)
    _check_file(path)
    sound = _Gathered(path, longest_ms)
    try:
        if path.suffix.lower() in _RAW:
            _read_raw(path, sound)
        else:
            _read_coded(path, sound)
    except av.FFmpegError as error:
        where = f"is damaged {to_ms(sound.length) / 1000:.1f} s into it" if sound.length else "is damaged or no sound file"
        raise AudioError(f"{path} {where} ({error.strerror}); {_HOW}") from error
    except OSError as error:
        raise AudioError(f"{path} cannot be read ({error.strerror}); check its permissions") from error
    return sound.whole()


class _Gathered:
    """The sound read so far, converted piece by piece; refuses to grow past the longest allowed."""

    def __init__(self, path: Path, longest_ms: int) -> None:
        self._path = path
        self._longest_ms = longest_ms
        self._bytes = bytearray()
        self._resampler: Resampler | None = None
        self._rate = 0
        self._channels = 0

    @property
    def length(self) -> int:
        """Samples of 16 kHz so far."""
        return len(self._bytes) // 2

    def expect(self, ms: int) -> None:
        """Refuses at once a file that says it is too long."""
        if ms > self._longest_ms:
            raise AudioError(
                f"{self._path} is longer than {self._longest_ms / 60_000:g} minutes, the most that is read; cut it into pieces"
            )

    def add(self, mono: Samples, rate: int, channels: int) -> None:
        if self._resampler is None or self._resampler.from_rate != rate:
            self._finish()
            self._resampler = self._opened(rate)
        self._rate = self._rate or rate
        self._channels = self._channels or channels
        self._keep(self._resampler.process(mono))

    def whole(self) -> Sound:
        self._finish()
        if not self._bytes:
            raise AudioError(f"{self._path} holds no sound; {_HOW}")
        samples: Samples = np.frombuffer(self._bytes, dtype=np.int16)
        return Sound(samples, self._rate, self._channels, to_ms(samples.size))

    def _opened(self, rate: int) -> Resampler:
        try:
            return Resampler(rate, RATE)
        except AudioError as error:
            raise AudioError(f"{self._path}: {error}; {_HOW}") from error

    def _finish(self) -> None:
        if self._resampler is not None:
            self._keep(self._resampler.flush())

    def _keep(self, samples: Samples) -> None:
        self._bytes += samples.tobytes()
        if self.length > to_samples(self._longest_ms):
            self.expect(self._longest_ms + 1)


def _check_file(path: Path) -> None:
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise AudioError(f"{path} cannot be read ({reason}); check the name") from error
    if not stat.S_ISREG(status.st_mode):
        raise AudioError(f"{path} is not a regular file, so its end cannot be known; {_HOW}")
    if status.st_size == 0:
        raise AudioError(f"{path} is empty; {_HOW}")


def _read_raw(path: Path, sound: _Gathered) -> None:
    decode = _RAW[path.suffix.lower()]
    sound.expect(path.stat().st_size * 1000 // _RAW_RATE)
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            sound.add(decode(block), _RAW_RATE, 1)


def _read_coded(path: Path, sound: _Gathered) -> None:
    options = {"format_whitelist": _FORMATS, "protocol_whitelist": "file"}
    with av.open(f"file:{path}", options=options, metadata_errors="ignore") as container:
        _read_container(container, path, sound)


def _read_container(container: InputContainer, path: Path, sound: _Gathered) -> None:
    if not container.streams.audio:
        raise AudioError(f"{path} holds no sound; {_HOW}")
    if container.duration is not None:
        sound.expect(container.duration // 1000)
    for frame in container.decode(container.streams.audio[0]):
        sound.add(_mono(frame), frame.sample_rate, frame.layout.nb_channels)


def _mono(frame: DecodedFrame) -> Samples:
    """The mean of a decoded frame's channels; planar formats come as (channels, n), packed ones as (1, n * channels)."""
    kind = frame.format.name.removesuffix("p")
    values = frame.to_ndarray().astype(np.float64)
    if not frame.format.is_planar:
        values = values.reshape(-1, frame.layout.nb_channels).T
    if kind == "u8":
        values -= 128
    return to_int16(values.mean(axis=0) * _SCALE[kind])
