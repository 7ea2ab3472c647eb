"""Whether a frame holds a voice: webrtcvad as the cheap gate, Silero as the judge behind it."""

from pathlib import Path
from typing import Final

import faster_whisper
import numpy as np
import onnxruntime
import webrtcvad
from numpy.typing import NDArray

from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples
from voiceagent.errors import ModelError, SpeechError

Floats = NDArray[np.float32]

SILERO_FILE: Final = Path(faster_whisper.__file__).parent / "assets" / "silero_vad_v6.onnx"
"""Silero's weights as faster-whisper ships them."""

_CHUNK: Final = 512
_CONTEXT: Final = 64
_WARM_UP: Final = 3 * _CHUNK
_HANGOVER_FRAMES: Final = 15


class Silero:
    """The judge's model, one session shared by all lines: 32 ms chunks in, a probability out (93 us a chunk).

    The algorithm is Silero VAD v6, read by hand as a stream: each run takes 512 samples with the 64 before them, and hands
    the state of its memory on to the next.
    """

    def __init__(self, path: Path = SILERO_FILE) -> None:
        """Loads the weights; raises ModelError when the file is missing or damaged."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelError(f"the voice detector's weights {path.name} cannot be loaded: {error}") from error

    def run(self, chunk: Floats, memory: tuple[Floats, Floats]) -> tuple[float, tuple[Floats, Floats]]:
        """Probability of a voice in the last 512 of `chunk` (shape (576,), -1..1), and the memory for the next run."""
        try:
            out, hidden, cell = self._session.run(None, {"input": chunk[np.newaxis], "h": memory[0], "c": memory[1]})
        except Exception as error:
            raise SpeechError(f"the voice detector failed: {error}") from error
        return float(out.reshape(-1)[0]), (hidden, cell)


class GatedDetector:
    """One line's detector: the model runs only while the gate is open, and for 300 ms after.

    Frames of 20 ms are joined into the model's chunks of 32 ms; a frame that completes none keeps the last probability. When
    the gate opens, the model first hears the 96 ms before it, so that a first syllable is judged with a warm memory.
    """

    def __init__(self, silero: Silero, gate_mode: int = 2) -> None:
        """`gate_mode` 0..3: how readily the gate calls a frame silence."""
        self._silero = silero
        self._gate = webrtcvad.Vad(gate_mode)
        self._mode = gate_mode
        self.reset()

    def reset(self) -> None:
        """Forgets the frames before."""
        self._gate = webrtcvad.Vad(self._mode)
        self._memory = _blank_memory()
        self._pending = np.zeros(_CONTEXT, dtype=np.float32)
        self._open_frames = 0
        self._probability = 0.0

    def probability(self, frame: Samples) -> float:
        """0..1 for a frame of shape (320,), int16."""
        voiced = self._gate.is_speech(frame.tobytes(), RATE)
        self._pending = np.concatenate((self._pending, frame.astype(np.float32) / 32768))
        was_open = self._open_frames > 0
        self._open_frames = _HANGOVER_FRAMES if voiced else max(0, self._open_frames - 1)
        if not self._open_frames:
            self._close(was_open)
            return 0.0
        while len(self._pending) >= _CHUNK + _CONTEXT:
            self._probability, self._memory = self._silero.run(self._pending[: _CHUNK + _CONTEXT], self._memory)
            self._pending = self._pending[_CHUNK:]
        return self._probability

    def _close(self, was_open: bool) -> None:
        """Keeps what a reopened gate will warm up on, and nothing else."""
        if was_open:
            self._memory = _blank_memory()
            self._probability = 0.0
        self._pending = self._pending[-(_WARM_UP + _CONTEXT - FRAME_SAMPLES) :]


def _blank_memory() -> tuple[Floats, Floats]:
    return np.zeros((1, 1, 128), dtype=np.float32), np.zeros((1, 1, 128), dtype=np.float32)
