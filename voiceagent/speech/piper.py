"""Sound from sentences by Piper; the only module that imports it, since Piper is GPL and the project can do without it."""

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import onnxruntime
from piper import PiperVoice, SynthesisConfig
from piper.config import PiperConfig
from piper.const import BOS, EOS, PAD

from voiceagent.audio.convert import Resampler, to_int16
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.engines import Timing, Word
from voiceagent.speech.halves import Floats, Halves, session_of, stretches
from voiceagent.speech.pronounced import BORDER, Phonemes, Span, spans
from voiceagent.speech.settings import SpeakingSettings

log = logging.getLogger(__name__)

_PIECE: Final = to_samples(200)
_AUDIBLE: Final = 0.01
_KEPT_BEFORE_VOICE: Final = to_samples(10)
_PEAK: Final = 32767
_WORDS_KNOWN: Final = 4_096

_SEED: Final = 1
"""Piper draws its rhythm at random; seeded, the same sentences in the same order sound the same in every run."""


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch:
    """Sound at the voice's own rate, and the words that begin in it or later, from the sentence's first sample on."""

    sound: Floats
    words: tuple[tuple[str, int, int], ...] = ()


class _Synthesis(Protocol):
    """A voice on the worker thread, piece by piece: what is not asked for is not made."""

    def stretches(self, text: str) -> Iterator[_Stretch]:
        """The sentence's sound, without anything done to it."""
        ...


class PiperEngine:
    """A voice for all calls: one model, one worker thread, one stretch of a sentence at a time, in the order asked for.

    A sentence's first sound comes before its last is made, where the voice can be split at its decoder, and its words' times
    come with it. Its leading silence (44-61 ms) is trimmed to 10 ms; loudness is the voice's own plus a fixed gain, never
    normalised by sentence, so that an answer does not pump.
    """

    def __init__(self, voice: Path, settings: SpeakingSettings | None = None) -> None:
        """`voice`: the .onnx file, with its .onnx.json beside it. Raises ModelError when either is missing or damaged."""
        settings = settings or SpeakingSettings()
        onnxruntime.set_seed(_SEED)
        try:
            config = PiperConfig.from_dict(json.loads(Path(f"{voice}.json").read_text(encoding="utf-8")))
            self._synthesis = _synthesis(voice, config, config.length_scale / settings.speed)
        except Exception as error:
            raise ModelError(f"the Piper voice {voice.name} cannot be loaded: {error}") from error
        self._rate = config.sample_rate
        self._gain = 10 ** (settings.gain_db / 20)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="piper")

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        """Yields `text` as 16 kHz mono int16 pieces of at most 200 ms, and where its words lie in them; nothing for text without
        words.

        What is closed or cancelled is not made any further. Raises SpeechError.
        """
        if not any(char.isalnum() for char in text):
            return
        abandoned = threading.Event()
        pieces = self._pieces(text.replace("[[", "["), abandoned)
        try:
            while (piece := await self._next(pieces)) is not None:
                if isinstance(piece, Timing):
                    yield piece
                    continue
                for start in range(0, len(piece), _PIECE):
                    yield piece[start : start + _PIECE]
        finally:
            abandoned.set()

    def close(self) -> None:
        """Lets what is being made end, drops what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _next(self, pieces: Iterator[Samples | Timing]) -> Samples | Timing | None:
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, next, pieces, None)
        except RuntimeError as error:
            raise SpeechError("the voice is closed") from error
        return await future

    def _pieces(self, text: str, abandoned: threading.Event) -> Iterator[Samples | Timing]:
        """On the worker thread. Stops where nobody waits any more."""
        if abandoned.is_set():
            return
        sentence = _Sentence(self._rate, self._gain)
        try:
            for stretch in self._synthesis.stretches(text):
                yield from sentence.take(stretch)
                if abandoned.is_set():
                    return
            yield from sentence.end()
        except Exception as error:
            raise SpeechError(f"the voice failed: {error}") from error


class _Sentence:
    """One sentence from the voice's rate to 16 kHz: louder or softer, its leading silence trimmed, its words told in time."""

    def __init__(self, rate: int, gain: float) -> None:
        self._rate = rate
        self._gain = gain
        self._resampler = Resampler(rate, RATE)
        self._silent: Samples | None = np.zeros(0, dtype=np.int16)
        self._trimmed = 0
        self._untold: list[tuple[str, int, int]] = []

    def take(self, stretch: _Stretch) -> Iterator[Samples | Timing]:
        """Words come before their sound; nothing comes while there was only silence."""
        self._untold.extend(stretch.words)
        yield from self._out(self._resampler.process(to_int16(np.clip(stretch.sound * self._gain, -1, 1) * _PEAK)), last=False)

    def end(self) -> Iterator[Samples | Timing]:
        """What the filter still holds."""
        yield from self._out(self._resampler.flush(), last=True)

    def _out(self, samples: Samples, *, last: bool) -> Iterator[Samples | Timing]:
        if self._silent is not None:
            samples = np.concatenate((self._silent, samples))
            loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > _AUDIBLE * _PEAK * min(1.0, self._gain))
            if not loud.size and not last:
                self._silent = samples
                return
            self._silent = None
            self._trimmed = max(0, int(loud[0]) - _KEPT_BEFORE_VOICE) if loud.size else 0
            samples = samples[self._trimmed :]
        if self._untold:
            yield Timing(tuple(Word(text, self._ms(start), self._ms(end)) for text, start, end in self._untold))
            self._untold.clear()
        if samples.size:
            yield samples

    def _ms(self, position: int) -> int:
        """Of a position at the voice's rate, from the first sample that is not trimmed."""
        return max(0, round(position * 1000 / self._rate - self._trimmed * 1000 / RATE))


def _synthesis(voice: Path, config: PiperConfig, length: float) -> _Synthesis:
    """Split where that can be."""
    try:
        return _Split(PiperVoice(session=None, config=config, download_dir=voice.parent), Halves(voice), length)
    except ModelError as error:
        log.warning("%s; a sentence sounds once all of it is made, and its words have no times", error)
    return _Whole(PiperVoice(session=session_of(voice), config=config, download_dir=voice.parent), length)


class _Whole:
    """A voice that makes whole sentences."""

    def __init__(self, voice: PiperVoice, length: float) -> None:
        self._voice = voice
        self._style = SynthesisConfig(length_scale=length, normalize_audio=False)

    def stretches(self, text: str) -> Iterator[_Stretch]:
        for chunk in self._voice.synthesize(text, self._style):
            yield _Stretch(chunk.audio_float_array)


class _Split:
    """A voice in two halves: the first tells how long each phoneme lasts, before there is any sound."""

    def __init__(self, voice: PiperVoice, halves: Halves, length: float) -> None:
        config = voice.config
        self._voice = voice
        self._halves = halves
        self._scales = (config.noise_scale, length, config.noise_w_scale)
        self._speaker = config.default_speaker_id if config.num_speakers > 1 else None
        self._alone = lru_cache(_WORDS_KNOWN)(self._pronounce)

    def stretches(self, text: str) -> Iterator[_Stretch]:
        """Piper may find several sentences in one text: each is synthesised for itself, once its turn comes."""
        parts = [part for part in self._voice.phonemize(text) if part]
        words = [word for word in text.split() if any(char.isalnum() for char in word)]
        said = list(zip(words, spans(words, [p for part in parts for p in (*part, BORDER)], self._alone) or (), strict=False))
        before = first = 0
        for part in parts:
            ids = self._voice.phonemes_to_ids(part)
            hidden, lengths = self._halves.hidden(ids, self._scales, self._speaker)
            hop = self._voice.config.hop_length
            edges = [before + hop * frames for frames in self._edges(part, lengths)]
            told = _placed(said, first, edges)
            for begin, end in stretches(hidden.shape[2]):
                yield _Stretch(self._halves.sound(hidden, begin, end, self._speaker), told)
                told = ()
            before += hop * hidden.shape[2]
            first += len(part) + 1

    def _pronounce(self, word: str) -> Phonemes:
        return tuple(phoneme for part in self._voice.phonemize(word) for phoneme in part)

    def _edges(self, part: list[str], lengths: list[int]) -> list[int]:
        """The frame at which each phoneme begins, and the one at which the last ends; empty where Piper's ids do not go with
        them: it pads each phoneme, and drops those that the voice does not know."""
        known = self._voice.config.phoneme_id_map
        pad = len(known[PAD])
        edges, at = [], len(known[BOS]) + pad
        for phoneme in part:
            edges.append(sum(lengths[:at]))
            at += len(known[phoneme]) + pad if phoneme in known else 0
        edges.append(sum(lengths[:at]))
        return edges if at + len(known[EOS]) == len(lengths) else []


def _placed(said: list[tuple[str, Span]], first: int, edges: list[int]) -> tuple[tuple[str, int, int], ...]:
    """The words whose phonemes begin in this part, which has its own from `first` on, with their places in the sound."""
    last = len(edges) - 1
    return tuple(
        (word, edges[span.first - first], edges[min(span.end - first, last)])
        for word, span in said
        if 0 <= span.first - first < last
    )
