"""Words from speech by Whisper: faster-whisper in one worker thread, decoded on a short window instead of 30 s of padding."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from ctranslate2 import StorageView
from faster_whisper import WhisperModel
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens
from numpy.typing import NDArray

from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.languages import AUTO, LANGUAGES
from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import compression, loops
from voiceagent.speech.tongue import NO_ODDS, Odds

_FRAMES_A_SECOND: Final = 100
_WINDOW_MIN_S: Final = 10
_WINDOW_SPARE_S: Final = 2
_PART_MAX_S: Final = 28
_SPLIT_SEARCH_S: Final = 5
_QUIET_WINDOW: Final = RATE // 10
_CAREFUL_MIN_S: Final = 15
_CAREFUL_SPARE_S: Final = 5
_TOKENS_A_SECOND: Final = 10
_TOKENS_SPARE: Final = 24
_TIMESTAMP_SAMPLES: Final = RATE // 50
_LATE_SAMPLES: Final = RATE // 2


@dataclass(slots=True)
class _Job:
    """One stretch to decode; `abandoned` once nobody waits for it any more."""

    sound: Samples
    partial: bool
    odds: Odds
    abandoned: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class _Part:
    """What one window gave: text, sum of its tokens' log probabilities, their number, probability that nobody spoke, language."""

    text: str
    log_probability: float
    tokens: int
    no_speech: float
    language: str


class WhisperEngine:
    """A recognizer for all calls: one model, one worker thread, one decode at a time.

    Whisper's encoder pads to 30 s by habit, not by need: given the utterance and 2 s of silence, at least 10 s, it costs a
    fifth and hears the same words. Timestamp tokens keep it from repeating itself in so short a window; a text that still does
    is decoded once more in a longer one. Finals wait in the order they came, at most `max_waiting` of them; a partial is decoded
    only when nothing else is, and is empty otherwise. NumPy's mel product spins a second thread unless the process starts with
    OPENBLAS_NUM_THREADS=1, which halves what partials cost. With the language `auto` each stretch is in the likeliest of the
    program's own languages, by one more step of the decoder.
    """

    def __init__(self, model: Path | str, *, language: str = "en", max_waiting: int = 16) -> None:
        """`model`: a folder of CTranslate2 weights, or a name that faster-whisper can fetch. Raises ModelError."""
        try:
            self._model = WhisperModel(str(model), device="cpu", compute_type="int8", cpu_threads=1, num_workers=1)
        except Exception as error:
            raise ModelError(f"the Whisper model {Path(model).name} cannot be loaded: {error}") from error
        multilingual = self._model.model.is_multilingual
        if not multilingual and language != "en":
            raise ModelError(f"the Whisper model {Path(model).name} knows English only: choose one without .en for {language!r}")
        spoken = tuple(LANGUAGES) if language == AUTO else (language,)
        if multilingual and any(code not in self._model.supported_languages for code in spoken):
            raise ModelError(f"Whisper does not know the language {language!r}")
        made = {code: Tokenizer(self._model.hf_tokenizer, multilingual, task="transcribe", language=code) for code in spoken}
        self._tokenizers, self._tokenizer = made, made[spoken[0]]
        self._suppressed = get_suppressed_tokens(self._tokenizer, [-1])
        self._language = spoken[0]
        self._max_waiting = max_waiting
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="whisper")
        self._lock = threading.Lock()
        self._jobs = 0

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        """Words of `sound` (16 kHz mono int16, any length); a partial is empty while the engine has other work.

        Raises SpeechError when decoding fails or more than `max_waiting` finals wait.
        """
        return await self.transcribe_in(sound, NO_ODDS, partial=partial)

    async def transcribe_in(self, sound: Samples, odds: Odds, *, partial: bool = False) -> Transcript:
        """The same; with the language `auto`, what is known of the person's language counts, too."""
        if not sound.size:
            return Transcript("", self._language)
        with self._lock:
            if self._jobs and partial:
                return Transcript("", self._language)
            if self._jobs > self._max_waiting:
                raise SpeechError(f"the recognizer is overloaded: {self._max_waiting} utterances wait already")
            self._jobs += 1
        job = _Job(sound, partial, odds)
        try:
            future = asyncio.get_running_loop().run_in_executor(self._pool, self._run, job)
        except RuntimeError as error:
            self._leave()
            raise SpeechError("the recognizer is closed") from error
        future.add_done_callback(_read)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            job.abandoned.set()
            raise

    def close(self) -> None:
        """Lets the running decode end, drops what waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _leave(self) -> None:
        with self._lock:
            self._jobs -= 1

    def _run(self, job: _Job) -> Transcript:
        """On the worker thread: decodes all parts, unless nobody waits for it any more."""
        try:
            parts = []
            for stretch in _stretches(job.sound):
                if job.abandoned.is_set():
                    break
                parts.append(self._decode(job, stretch))
            return _joined(parts, self._language)
        except Exception as error:
            raise SpeechError(f"the recognizer failed: {error}") from error
        finally:
            self._leave()

    def _decode(self, job: _Job, sound: Samples) -> _Part:
        seconds = len(sound) / RATE
        part = self._pass(sound, max(_WINDOW_MIN_S, seconds + _WINDOW_SPARE_S), job.odds)
        if job.partial or not loops(part.text):
            return part
        return self._pass(sound, max(_CAREFUL_MIN_S, seconds + _CAREFUL_SPARE_S), job.odds)

    def _pass(self, sound: Samples, window_s: float, odds: Odds) -> _Part:
        """One run of the model over `sound` and silence up to `window_s` seconds, 30 at most."""
        window = min(30, int(np.ceil(window_s)))
        padded: NDArray[np.float32] = np.zeros(window * RATE, dtype=np.float32)
        padded[: len(sound)] = sound.astype(np.float32) / 32768
        features = self._model.feature_extractor(padded)[:, : window * _FRAMES_A_SECOND]
        encoded = self._model.encode(np.ascontiguousarray(features))
        language = self._spoken(encoded, odds)
        prompt = self._tokenizers[language].sot_sequence
        result = self._model.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=min(448, len(prompt) + _TOKENS_SPARE + len(sound) * _TOKENS_A_SECOND // RATE),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=self._suppressed,
        )[0]
        tokens = result.sequences_ids[0]
        text = self._tokenizer.decode(self._within(tokens, len(sound))).strip()
        return _Part(text, result.scores[0] * len(tokens), len(tokens) + 1, result.no_speech_prob, language)

    def _spoken(self, encoded: StorageView, odds: Odds) -> str:
        """The code of the language spoken, of those that may be."""
        if len(self._tokenizers) == 1:
            return self._language
        likely = {token[2:-2]: share for token, share in self._model.model.detect_language(encoded)[0]}
        return max(self._tokenizers, key=lambda code: likely.get(code, 0.0) * odds.get(code, 1.0))

    def _within(self, tokens: list[int], samples: int) -> list[int]:
        """The text tokens of segments that begin inside the sound: what Whisper dates later, it made up."""
        kept: list[int] = []
        for token in tokens:
            if token < self._tokenizer.timestamp_begin:
                kept.append(token)
            elif kept and (token - self._tokenizer.timestamp_begin) * _TIMESTAMP_SAMPLES >= samples + _LATE_SAMPLES:
                break
        return kept


def _read(future: "asyncio.Future[Transcript]") -> None:
    """Takes the error of a decode that nobody waits for any more; it has been told to whoever still did."""
    if not future.cancelled():
        future.exception()


def _stretches(sound: Samples) -> list[Samples]:
    """`sound` in parts of at most 28 s, each cut in the quietest tenth of a second of its last five seconds."""
    parts = []
    while len(sound) > _PART_MAX_S * RATE:
        start = (_PART_MAX_S - _SPLIT_SEARCH_S) * RATE
        tail = sound[start : _PART_MAX_S * RATE].astype(np.float64)
        power = (tail.reshape(-1, _QUIET_WINDOW) ** 2).mean(axis=1)
        cut = start + int(power.argmin()) * _QUIET_WINDOW + _QUIET_WINDOW // 2
        parts.append(sound[:cut])
        sound = sound[cut:]
    parts.append(sound)
    return parts


def _joined(parts: list[_Part], language: str) -> Transcript:
    text = " ".join(part.text for part in parts if part.text)
    tokens = sum(part.tokens for part in parts)
    return Transcript(
        text,
        next((part.language for part in parts if part.text), language),
        no_speech=min((part.no_speech for part in parts), default=1.0),
        compression=compression(text),
        confidence=sum(part.log_probability for part in parts) / tokens if tokens else 0.0,
    )
