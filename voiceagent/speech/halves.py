"""A Piper voice in two halves: what it will say and how long each phoneme lasts, and then its sound, stretch by stretch."""

import hashlib
import logging
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from voiceagent.errors import ModelError

log = logging.getLogger(__name__)

Floats = NDArray[np.float32]

_CLEAVE: Final = Path(__file__).with_name("cleave.py")
_CLEAVING_S: Final = 120
_SIZES: Final = (24, 64)
"""Frames of the first stretch, and of those behind it: the first sound early, the rest with little of it made twice."""


def session_of(model: Path) -> onnxruntime.InferenceSession:
    """One thread: two help a voice little, and cost it much when the other core is busy."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), sess_options=options, providers=["CPUExecutionProvider"])


class Halves:
    """Sounds within -100 dB of the whole voice; made beside it once, under its sha256, by a process of its own."""

    def __init__(self, voice: Path) -> None:
        """`voice`: the .onnx file. Raises ModelError where it cannot be split."""
        digest = hashlib.sha256(voice.read_bytes()).hexdigest()[:16]
        names = [f"{voice.stem}.{digest}.{half}.onnx" for half in ("encoder", "decoder")]
        try:
            self._open([voice.with_name(name) for name in names])
        except Exception:  # noqa: BLE001 - not there, or damaged
            self._make(voice, names)

    def hidden(self, ids: list[int], scales: tuple[float, float, float], speaker: int | None) -> tuple[Floats, list[int]]:
        """What the decoder makes sound of, shape (1, channels, frames), and the frames of each of `ids`, which it sums.

        `scales` are Piper's noise, length and width of the noise of lengths.
        """
        told = {
            "input": np.array([ids], dtype=np.int64),
            "input_lengths": np.array([len(ids)], dtype=np.int64),
            "scales": np.array(scales, dtype=np.float32),
            "sid": np.array([speaker or 0], dtype=np.int64),
        }
        asked = {one.name: told[one.name] for one in self._encoder.get_inputs()}
        hidden, lengths = self._encoder.run(None, asked)
        return np.asarray(hidden), [int(length) for length in np.asarray(lengths).reshape(-1)]

    def sound(self, hidden: Floats, begin: int, end: int, speaker: int | None = None) -> Floats:
        """The sound of the frames from `begin` up to `end`, at the voice's own rate."""
        border, *rest = [one.name for one in self._decoder.get_inputs()]
        first, last = max(0, begin - self._context), min(hidden.shape[2], end + self._context)
        asked = {border: hidden[:, :, first:last], **{name: np.array([speaker or 0], dtype=np.int64) for name in rest}}
        sound = np.asarray(self._decoder.run(None, asked)[0]).reshape(-1)
        hop = sound.size // (last - first)
        return sound[(begin - first) * hop : (end - first) * hop]

    def _open(self, files: list[Path]) -> None:
        self._encoder, self._decoder = (session_of(file) for file in files)
        self._context = int(self._decoder.get_modelmeta().custom_metadata_map["context"])

    def _make(self, voice: Path, names: list[str]) -> None:
        """Beside the voice, or where nothing can be written there, for this run alone."""
        try:
            files = [voice.with_name(name) for name in names]
            _cleave(voice, files)
            self._open(files)
        except PermissionError:
            log.warning("%s is split anew at every start: nothing can be written beside it", voice.name)
            with tempfile.TemporaryDirectory() as folder:
                files = [Path(folder) / name for name in names]
                _cleave(voice, files)
                self._open(files)


def stretches(frames: int) -> list[tuple[int, int]]:
    """From which frame up to which each piece of a sentence's sound is made, in order."""
    borders = [0, *range(_SIZES[0], frames, _SIZES[1]), frames]
    return list(pairwise(borders))


def _cleave(voice: Path, files: list[Path]) -> None:
    """Raises PermissionError where the folder takes no file, ModelError where the voice has another graph."""
    try:
        with tempfile.TemporaryFile(dir=files[0].parent):
            pass
    except OSError as error:
        raise PermissionError(str(error)) from error
    command = [sys.executable, "-P", str(_CLEAVE), str(voice), *map(str, files)]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_CLEAVING_S)
    except subprocess.CalledProcessError as error:
        raise ModelError(f"{voice.name} cannot be split: {error.stderr.strip().rpartition(chr(10))[2]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"{voice.name} cannot be split: {error}") from error
