"""Fills `heard` in question files: what the recognizer makes of each question as Piper speaks it, so that fitting needs no sound.

python -m tools.notes.hear tools/notes/training/*/questions.jsonl
"""

import asyncio
import json
import sys
from pathlib import Path

import numpy as np

from voiceagent import weights
from voiceagent.speech.engines import SpeechToText, TextToSpeech, sound_of
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine

SILENCE = np.zeros(3200, dtype=np.int16)


class Ears:
    """Puts a text through a voice and a recognizer; without them, hands it on as it is."""

    def __init__(self, voice: TextToSpeech | None, recognizer: SpeechToText | None) -> None:
        self._voice = voice
        self._recognizer = recognizer

    async def hear(self, text: str) -> str:
        """What the recognizer makes of the spoken text."""
        if self._voice is None or self._recognizer is None:
            return text
        sound = np.concatenate([SILENCE, await sound_of(self._voice, text), SILENCE])
        return (await self._recognizer.transcribe(sound)).text


def real_ears() -> Ears:
    """The voice and the recognizer that the package comes with."""
    return Ears(PiperEngine(weights.path("en_US-joe-medium")), WhisperEngine(weights.path("whisper-tiny.en")))


async def main() -> None:
    """Hears every question of the named files that has not been heard yet, and writes the files again."""
    ears = real_ears()
    for path in map(Path, sys.argv[1:]):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for line in lines:
            if "heard" not in line:
                line["heard"] = await ears.hear(line["question"])
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
