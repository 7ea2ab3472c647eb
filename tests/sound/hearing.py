"""All of hearing in a row, as a call has it, on real engines."""

from pathlib import Path

import numpy as np
import pytest
from faster_whisper.audio import decode_audio

from voiceagent import weights
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples
from voiceagent.errors import ModelError
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.engines import Transcript
from voiceagent.speech.rejection import reject
from voiceagent.speech.segmenter import Segmenter, SpeechEnded
from voiceagent.speech.settings import HearingSettings
from voiceagent.speech.whisper import WhisperEngine

MADE = Path(__file__).resolve().parent.parent / "audio"


def model(name: str) -> Path:
    """Where a model lies; skips the test when it is not here."""
    try:
        return weights.path(name)
    except ModelError as error:
        pytest.skip(str(error))


def load(path: Path) -> Samples:
    """A recording at 16 kHz mono, with a second of silence behind it."""
    sound: Samples = np.clip(decode_audio(str(path), sampling_rate=RATE) * 32768, -32768, 32767).astype(np.int16)
    return np.concatenate([sound, np.zeros(RATE, dtype=np.int16)])


class Hearing:
    """Detector, segmenter, recognizer and rejection in a row, as a call has them."""

    def __init__(self, silero: Silero, whisper: WhisperEngine) -> None:
        self.whisper = whisper
        self._silero = silero

    def probabilities(self, sound: Samples) -> list[float]:
        detector = GatedDetector(self._silero)
        frames = range(0, len(sound) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
        return [detector.probability(sound[at : at + FRAME_SAMPLES]) for at in frames]

    def utterances(self, sound: Samples) -> list[SpeechEnded]:
        segmenter = Segmenter(HearingSettings())
        events = [
            event
            for index, probability in enumerate(self.probabilities(sound))
            for event in segmenter.hear(sound[index * FRAME_SAMPLES : (index + 1) * FRAME_SAMPLES], probability)
        ]
        return [event for event in (*events, *segmenter.finish()) if isinstance(event, SpeechEnded)]

    async def turns(self, sound: Samples) -> list[str]:
        """The words of every utterance that is a turn."""
        said: list[str] = []
        for utterance in self.utterances(sound):
            words: Transcript = await self.whisper.transcribe(utterance.sound)
            if reject(words, utterance.voiced_ratio, (utterance.end - utterance.start) * 1000 // RATE) is None:
                said.append(words.text)
        return said
