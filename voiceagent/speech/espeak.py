"""Sound from sentences by eSpeak NG, a program of its own: every language, no model, a voice that sounds like a machine."""

import asyncio
import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from voiceagent.audio.frame import RATE, Samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.settings import SpeakingSettings

Floats = NDArray[np.float32]

PROGRAM: Final = "espeak-ng"
_WORDS_A_MINUTE: Final = 165
_HEADER: Final = 44
_OWN_RATE: Final = 22_050
_READ: Final = 8_192
_PEAK: Final = 32_767


class EspeakEngine:
    """A voice for all calls; each sentence is a run of the program, which gets the words on its input and no other way."""

    def __init__(self, language: str, settings: SpeakingSettings | None = None) -> None:
        """`language`: a voice's code, such as fr or es-419. Raises ModelError when the program is not installed or knows no such
        voice by name."""
        settings = settings or SpeakingSettings()
        program = shutil.which(PROGRAM)
        if program is None:
            raise ModelError(f"no voice: {PROGRAM} is not installed (Debian: apt-get install {PROGRAM})")
        if not language.replace("-", "").isalnum():
            raise ModelError(f"{language!r} is no eSpeak voice; `{PROGRAM} --voices` lists them, such as fr or es-419")
        known = subprocess.run([program, "-v", language, "-q", "x"], capture_output=True, check=False)
        if known.returncode:
            raise ModelError(f"eSpeak has no voice {language!r}; `{PROGRAM} --voices` lists them, such as fr or es-419")
        self._command = (program, "-v", language, "-s", str(round(_WORDS_A_MINUTE * settings.speed)), "--stdin", "--stdout")
        self._gain = 10 ** (settings.gain_db / 20)

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        """Yields `text` as 16 kHz mono int16 pieces while the program makes them. Raises SpeechError."""
        if not any(char.isalnum() for char in text):
            return
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, stderr=pipe)
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        try:
            process.stdin.write(text.replace("[[", "[").replace("\n", " ").encode())
            process.stdin.close()
            narrow = soxr.ResampleStream(_OWN_RATE, RATE, 1, dtype="float32")
            left = b""
            await _skip(process.stdout, _HEADER)
            while piece := await process.stdout.read(_READ):
                whole = left + piece
                left = whole[len(whole) - len(whole) % 2 :]
                yield self._finished(narrow.resample_chunk(_floats(whole[: len(whole) - len(left)])))
            yield self._finished(narrow.resample_chunk(_floats(b""), last=True))
            if await process.wait():
                raise SpeechError(f"{PROGRAM} failed: {(await process.stderr.read()).decode(errors='replace').strip()}")
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _finished(self, sound: Floats) -> Samples:
        samples: Samples = np.clip(sound * self._gain * _PEAK, -_PEAK, _PEAK).astype(np.int16)
        return samples


async def _skip(stream: asyncio.StreamReader, size: int) -> None:
    """Passes over the WAV header, which a program that ends early may not have written whole."""
    with contextlib.suppress(asyncio.IncompleteReadError):
        await stream.readexactly(size)


def _floats(data: bytes) -> Floats:
    return np.frombuffer(data, dtype="<i2").astype(np.float32) * np.float32(1 / (_PEAK + 1))
