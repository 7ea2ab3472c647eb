"""What a voice is like: sound in, a print out that is near the same person's others, by a small network on mel bands."""

import asyncio
import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from voiceagent.audio.frame import Samples, to_ms, to_samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.mel import FFT, HOP, mel_bands
from voiceagent.speech.source import timbre
from voiceagent.speech.traits import Print, Traits, unit

CENTRE: Final = Path(__file__).with_name("voices_centre.npy")
"""The middle of many made voices, shape (256,), as tools/voices/centre.py found it. Voices are told apart by how they differ from
it: among recordings of people that lowers the equal-error rate by a third."""

_MAKE: Final = Path(__file__).with_name("voicenet.py")
_MAKING_S: Final = 120
_BANDS: Final = 40
_WINDOW: Final = 160
"""Frames of 10 ms that the network looks at."""

_STEP: Final = 80
_MOST_WINDOWS: Final = 10
_LOUDNESS: Final = 10 ** (-30 / 20)
_MAX_WAITING: Final = 8
_QUIET_DB: Final = 30.0
"""How far under its loudest stretches sound is left out: the network was trained without silence."""

_STRETCH: Final = to_samples(30)
_AROUND: Final = 3
"""Stretches on both sides of a loud one that are kept with it."""


class VoiceEncoder:
    """The encoder for all lines, in a worker thread of its own, one utterance at a time."""

    def __init__(self, pretrained: Path, centre: Print | None = None) -> None:
        """Loads the network that is made, once, beside the weights `pretrained`. Raises ModelError where it cannot be.

        `centre` takes the place of the shipped one.
        """
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        place = _made(pretrained)
        try:
            self._session = onnxruntime.InferenceSession(str(place), sess_options=options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelError(f"the voice encoder {place.name} cannot be loaded: {error}; remove that file") from error
        self._centre: Print = np.load(CENTRE) if centre is None else centre
        self._bands = mel_bands(_BANDS)
        self._hann = np.hanning(FFT + 1)[:-1].astype(np.float32)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="voices")
        self._waiting = 0

    async def traits(self, sound: Samples) -> Traits | None:
        """As TraitsReader's. Raises SpeechError also when it is closed, or too much waits already."""
        if self._waiting >= _MAX_WAITING:
            raise SpeechError(f"the voice encoder is overloaded: {_MAX_WAITING} utterances wait already")
        try:
            asked = asyncio.get_running_loop().run_in_executor(self._pool, self.read, sound)
        except RuntimeError as error:
            raise SpeechError("the voice encoder is closed") from error
        self._waiting += 1
        asked.add_done_callback(self._answered)
        return await asked

    def read(self, sound: Samples) -> Traits | None:
        """As traits(), here and now; blocks."""
        voice = voiced(sound)
        return Traits(self._print(voice), timbre(voice), to_ms(voice.size)) if voice.size else None

    def _print(self, voice: Samples) -> Print:
        """Of windows of 1.6 s, half overlapping, at most ten of them spread over the voice."""
        wave: NDArray[np.float32] = (voice / 32768).astype(np.float32)
        louder = max(1.0, _LOUDNESS / max(1e-9, float(np.sqrt(np.mean(wave * wave)))))
        mels = self._mels((wave * louder).astype(np.float32))
        starts = range(0, max(1, len(mels) - _WINDOW + 1), _STEP)
        chosen = [starts[at] for at in np.unique(np.linspace(0, len(starts) - 1, min(len(starts), _MOST_WINDOWS)).astype(int))]
        windows = np.stack([mels[at : at + _WINDOW] for at in chosen])
        try:
            prints = np.asarray(self._session.run(None, {"mels": windows})[0])
        except Exception as error:
            raise SpeechError(f"the voice encoder failed: {error}") from error
        return unit(unit(prints.mean(axis=0)) - self._centre)

    def close(self) -> None:
        """Lets the running utterance end, drops what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _mels(self, wave: NDArray[np.float32]) -> NDArray[np.float32]:
        """Power in 40 mel bands every 10 ms, shape (frames, 40), a window of them at least; what is short is repeated."""
        least = _WINDOW * HOP
        if wave.size < least:
            wave = np.tile(wave, -(-least // wave.size))[:least]
        frames = sliding_window_view(np.pad(wave, FFT // 2), FFT)[::HOP]
        power = np.abs(np.fft.rfft(frames * self._hann)) ** 2
        mels: NDArray[np.float32] = (power.astype(np.float32) @ self._bands.T).astype(np.float32)
        return mels

    def _answered(self, asked: "asyncio.Future[Traits | None]") -> None:
        self._waiting -= 1
        if not asked.cancelled():
            asked.exception()


def voiced(sound: Samples) -> Samples:
    """The sound without its silences: stretches that are not far under its loudest, with 90 ms around them."""
    count = sound.size // _STRETCH
    if not count:
        return sound[:0]
    stretches = sound[: count * _STRETCH].reshape(count, _STRETCH)
    wide = stretches.astype(np.float32)
    levels = 10 * np.log10(np.maximum(1.0, (wide * wide).mean(axis=1)))
    loud = (levels > 0) & (levels >= np.percentile(levels, 95) - _QUIET_DB)
    kept = np.convolve(loud, np.ones(2 * _AROUND + 1), mode="same") > 0 if count > 2 * _AROUND else loud
    return stretches[kept].reshape(-1)


def _made(pretrained: Path) -> Path:
    """The network, made beside the weights under their sha256 by a process of its own where it is not there yet."""
    digest = hashlib.sha256(pretrained.read_bytes()).hexdigest()[:16]
    place = pretrained.with_name(f"{pretrained.stem}.{digest}.onnx")
    if place.is_file():
        return place
    command = [sys.executable, "-P", str(_MAKE), str(pretrained), str(place)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_MAKING_S, check=False)
    except subprocess.TimeoutExpired:
        raise ModelError(f"the voice encoder was not made within {_MAKING_S} s; try again on a less busy machine") from None
    if done.returncode or not place.is_file():
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        needs = "; run: pip install onnx" if "No module named" in said[-1] else ""
        raise ModelError(f"the voice encoder cannot be made of {pretrained.name}: {said[-1]}{needs}")
    return place
