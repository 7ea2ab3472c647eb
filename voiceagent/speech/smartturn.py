"""Whether speech that has paused sounds finished: Smart Turn v3, a small network on the last seconds of sound."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.mel import FFT, HOP, mel_bands

Floats = NDArray[np.float32]

_SECONDS: Final = 8
_BANDS: Final = 80
_TINY: Final = 1e-7
_QUIETEST: Final = 1e-10
_RANGE: Final = 8.0
_MAX_WAITING: Final = 8


class SmartTurn:
    """The judge for all lines, in a worker thread of its own, one question at a time (about 50 ms each on one thread).

    Ask it once a pause, at about 200 ms of silence: it was trained there, and later even fragments begin to sound finished. Very
    short utterances ("hello") and read-out ones it often takes for unfinished.
    """

    def __init__(self, path: Path) -> None:
        """Loads the weights; raises ModelError when the file is missing or damaged."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
            self._input = self._session.get_inputs()[0].name
        except Exception as error:
            raise ModelError(f"the judge of ends {path.name} cannot be loaded: {error}") from error
        self._bands = mel_bands(_BANDS)
        self._window = np.hanning(FFT + 1)[:-1].astype(np.float32)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="smart turn")
        self._waiting = 0

    async def finished(self, sound: Samples) -> float:
        """Probability (0..1) that the speaker is done; `sound` (16 kHz mono int16, any length) ends in the pause.

        Raises SpeechError when the network fails, is closed, or too many questions wait already.
        """
        if self._waiting >= _MAX_WAITING:
            raise SpeechError(f"the judge of ends is overloaded: {_MAX_WAITING} pauses wait already")
        try:
            asked = asyncio.get_running_loop().run_in_executor(self._pool, self.judge, sound)
        except RuntimeError as error:
            raise SpeechError("the judge of ends is closed") from error
        self._waiting += 1
        asked.add_done_callback(self._answered)
        return await asked

    def judge(self, sound: Samples) -> float:
        """As finished(), here and now; blocks."""
        try:
            out = self._session.run(None, {self._input: self.features(sound)[np.newaxis]})[0]
        except Exception as error:
            raise SpeechError(f"the judge of ends failed: {error}") from error
        return float(np.clip(out.reshape(-1)[0], 0, 1))

    def features(self, sound: Samples) -> Floats:
        """Whisper's log-mel spectrogram of the last 8 s, shape (80, 800): zeros on the left, the wave at unit variance.

        The algorithm is Whisper's front end: frames of 400 samples every 160, Hann window, 80 mel bands on Slaney's scale.
        """
        wave = np.zeros(_SECONDS * RATE, dtype=np.float32)
        tail = sound[-wave.size :]
        wave[wave.size - tail.size :] = tail.astype(np.float32) / 32768
        wave = (wave - wave.mean()) / np.sqrt(wave.var() + _TINY)
        frames = sliding_window_view(np.pad(wave, FFT // 2, mode="reflect"), FFT)[:-1:HOP]
        power = np.abs(np.fft.rfft(frames * self._window)) ** 2
        mel = np.log10(np.maximum(self._bands @ power.T.astype(np.float32), _QUIETEST))
        floored: Floats = (np.maximum(mel, mel.max() - _RANGE) + 4) / 4
        return floored.astype(np.float32)

    def close(self) -> None:
        """Lets the running question end, drops what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answered(self, asked: "asyncio.Future[float]") -> None:
        self._waiting -= 1
        if not asked.cancelled():
            asked.exception()
