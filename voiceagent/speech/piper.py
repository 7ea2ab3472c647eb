"""Sound from sentences by Piper; the only module that imports it, since Piper is GPL and the project can do without it."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
import soxr
from numpy.typing import NDArray
from piper import PiperVoice, SynthesisConfig
from piper.config import PiperConfig

from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.settings import SpeakingSettings

Floats = NDArray[np.float32]

_PIECE: Final = to_samples(200)
_AUDIBLE: Final = 0.01
_KEPT_BEFORE_VOICE: Final = to_samples(10)
_PEAK: Final = 32767

_SEED: Final = 1
"""Piper draws its rhythm at random; seeded, the same sentences in the same order sound the same in every run."""


class PiperEngine:
    """A voice for all calls: one model, one worker thread, one sentence at a time, in the order asked for.

    A sentence's leading silence (44-61 ms) is trimmed to 10 ms; loudness is the voice's own plus a fixed gain, never
    normalised by sentence, so that an answer does not pump.
    """

    def __init__(self, voice: Path, settings: SpeakingSettings | None = None) -> None:
        """`voice`: the .onnx file, with its .onnx.json beside it. Raises ModelError when either is missing or damaged."""
        settings = settings or SpeakingSettings()
        onnxruntime.set_seed(_SEED)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        try:
            config = PiperConfig.from_dict(json.loads(Path(f"{voice}.json").read_text(encoding="utf-8")))
            session = onnxruntime.InferenceSession(str(voice), sess_options=options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelError(f"the Piper voice {voice.name} cannot be loaded: {error}") from error
        self._voice = PiperVoice(session=session, config=config, download_dir=voice.parent)
        self._rate = config.sample_rate
        self._style = SynthesisConfig(length_scale=config.length_scale / settings.speed, normalize_audio=False)
        self._gain = 10 ** (settings.gain_db / 20)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        """Yields `text` as 16 kHz mono int16 pieces of at most 200 ms; nothing for text without words.

        What is closed or cancelled before its turn is never synthesised. Raises SpeechError.
        """
        if not any(char.isalnum() for char in text):
            return
        abandoned = threading.Event()
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, self._synthesize, text, abandoned)
            future.add_done_callback(_read)
            sound = await asyncio.shield(future)
        except RuntimeError as error:
            raise SpeechError("the voice is closed") from error
        finally:
            abandoned.set()
        for start in range(0, len(sound), _PIECE):
            yield sound[start : start + _PIECE]

    def close(self) -> None:
        """Lets the running sentence end, drops what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _synthesize(self, text: str, abandoned: threading.Event) -> Samples:
        """On the worker thread: the whole sentence, 16 kHz int16; empty when nobody waits for it any more."""
        parts: list[Floats] = []
        if abandoned.is_set():
            return self._finished(parts)
        try:
            for chunk in self._voice.synthesize(text.replace("[[", "["), self._style):
                if abandoned.is_set():
                    break
                parts.append(chunk.audio_float_array)
            return self._finished(parts)
        except Exception as error:
            raise SpeechError(f"the voice failed: {error}") from error

    def _finished(self, parts: list[Floats]) -> Samples:
        if not parts:
            return np.zeros(0, dtype=np.int16)
        wide = soxr.resample(np.concatenate(parts), self._rate, RATE) * self._gain
        loud = np.flatnonzero(np.abs(wide) > _AUDIBLE)
        start = max(0, int(loud[0]) - _KEPT_BEFORE_VOICE) if loud.size else 0
        samples: Samples = np.clip(wide[start:] * _PEAK, -_PEAK, _PEAK).astype(np.int16)
        return samples


def _read(future: "asyncio.Future[Samples]") -> None:
    """Takes the error of a sentence that nobody waits for any more; it has been told to whoever still did."""
    if not future.cancelled():
        future.exception()
