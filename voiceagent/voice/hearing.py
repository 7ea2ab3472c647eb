"""What all lines hear with: the shared recognizer, the judge of ends, and a detector for each line."""

import asyncio
import copy
import logging
from collections.abc import Callable
from functools import partial
from typing import Self

from voiceagent.audio.frame import Samples
from voiceagent.speech.endpoint import EndJudge
from voiceagent.speech.engines import SpeechToText, VoiceDetector
from voiceagent.speech.onset import Onset
from voiceagent.speech.settings import HearingSettings
from voiceagent.speech.streaming import Chained, listening
from voiceagent.speech.tongue import Tongue
from voiceagent.speech.traits import TraitsReader
from voiceagent.voice.attributed import AttributedRecognition
from voiceagent.voice.recognition import BatchRecognition, Desk, Recognition
from voiceagent.voice.settings import VoiceSettings
from voiceagent.voice.streamed import StreamedRecognition

log = logging.getLogger(__name__)


class Hearing:
    """Lends each utterance its recognition, and each line its detector."""

    def __init__(
        self,
        stt: SpeechToText,
        detector_factory: Callable[[], VoiceDetector],
        settings: HearingSettings | None = None,
        *,
        judge: EndJudge | None = None,
        onset: Callable[[], Onset | None] = lambda: None,
    ) -> None:
        """Without a `judge`, words and silence alone tell where an utterance ends; `onset` makes each line's notice of what may
        be a voice, before the detector is sure."""
        self.reader: TraitsReader | None = None
        self.detector_factory = detector_factory
        self.settings = settings or HearingSettings()
        self.onset = onset
        self._stt = stt
        self._desk = Desk(stt)
        self._judge = judge
        self._judges = judge is not None

    def recognition(self, tasks: asyncio.TaskGroup, settings: VoiceSettings, tongue: Tongue | None = None) -> Recognition:
        """The words of an utterance that begins now, by a person of this tongue; what works on them are tasks of that group."""
        whole = BatchRecognition(self._desk, tasks, settings, tongue or Tongue())
        words: Recognition = whole
        engine = listening(self._stt)
        if engine is not None:
            words = StreamedRecognition(engine, whole, tasks, self.settings.late_ms, partial(self._failed, engine))
        return words if self.reader is None else AttributedRecognition(words, self.reader, tasks)

    def attributing(self, reader: TraitsReader) -> Self:
        """The same hearing for a line that several people share: what is said carries the traits of who said it."""
        shared = copy.copy(self)
        shared.reader = reader
        return shared

    def let_go(self, detector: VoiceDetector) -> None:
        """A line has ended: its detector is closed, where it can be."""
        close = getattr(detector, "close", None)
        if close is not None:
            close()

    def _failed(self, engine: object, error: Exception) -> None:
        if isinstance(self._stt, Chained):
            self._stt.failed(engine, error)

    def finished(self, tasks: asyncio.TaskGroup, sound: Samples) -> asyncio.Future[float | None]:
        """Starts on whether speech that has paused sounds finished (0..1); None when nobody can tell."""
        return tasks.create_task(self._finished(sound), name="end")

    async def _finished(self, sound: Samples) -> float | None:
        """A judge that fails is done without; said once, until it works again."""
        if self._judge is None:
            return None
        try:
            finished = float(await self._judge.finished(sound))
            if not 0 <= finished <= 1:
                raise ValueError(f"the judge of ends gave {finished} for a probability")
        except Exception:
            if self._judges:
                log.exception("degraded: the judge of ends failed; words and silence tell where turns end until it works again")
            self._judges = False
            return None
        self._judges = True
        return finished
