"""A stop word said to a line that sleeps while the agent sounds: found on this machine, and nothing else of what is said."""

import asyncio
import logging
from typing import Final

from voiceagent.audio.frame import Samples, to_ms
from voiceagent.speech.engines import SpeechToText, VoiceDetector
from voiceagent.speech.segmenter import Segmenter, SpeechHushed
from voiceagent.speech.settings import HearingSettings
from voiceagent.voice.murmurs import SHIPPED, Murmurs

log = logging.getLogger(__name__)

LONGEST_MS: Final = 2_000
"""An utterance with its pre-roll beyond which it is no mere stop."""

_BREATH_MS: Final = 60
"""Silence after which its words are asked for: half of what is waited in a conversation, since the reply goes on meanwhile."""


class StopListener:
    """One line's. What it hears it forgets; it tells only that a stop was said. Needs a running loop."""

    def __init__(
        self, stt: SpeechToText, detector: VoiceDetector, settings: HearingSettings | None = None, murmurs: Murmurs = SHIPPED
    ) -> None:
        """`stt` should be a recognizer of this machine: it is given what is said to a line that sleeps."""
        hearing = settings or HearingSettings()
        self._settings = hearing.model_copy(update={"decode_ms": _BREATH_MS})
        self._stt = stt
        self._detector = detector
        self._murmurs = murmurs
        self._segmenter = Segmenter(self._settings)
        self._asked: asyncio.Task[bool] | None = None
        self._back_ms = 0
        self._fresh = True

    def hear(self, samples: Samples) -> int | None:
        """Takes the next 20 ms; when a stop is known to have been said, how many ms ago it began, with its pre-roll."""
        self._fresh = False
        self._back_ms += to_ms(samples.size)
        for fact in self._segmenter.hear(samples, self._detector.probability(samples)):
            if isinstance(fact, SpeechHushed) and to_ms(fact.sound.size) <= LONGEST_MS:
                self._ask(fact.sound)
        if self._asked is None or not self._asked.done():
            return None
        stops = self._asked.result()
        self._asked = None
        return self._back_ms if stops else None

    def forget(self) -> None:
        """The agent sounds no more, or the line is awake: nothing of what was said counts."""
        if self._fresh:
            return
        self._fresh = True
        self._segmenter = Segmenter(self._settings)
        self._detector.reset()
        if self._asked is not None:
            self._asked.cancel()
            self._asked = None

    def _ask(self, sound: Samples) -> None:
        if self._asked is not None:
            self._asked.cancel()
        self._back_ms = to_ms(sound.size)
        self._asked = asyncio.create_task(self._stops(sound), name="stop")

    async def _stops(self, sound: Samples) -> bool:
        try:
            words = await self._stt.transcribe(sound)
        except Exception:
            log.exception("a stop that may have been said to a line that sleeps was not heard")
            return False
        return self._murmurs.kind_of(words.text, final=True) == "stop"
