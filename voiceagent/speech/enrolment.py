"""Getting to know a person by voice: what they say becomes prints, unless it is too little or several people's."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from voiceagent.audio.frame import Samples, to_ms, to_samples
from voiceagent.errors import SpeechError
from voiceagent.speech.surroundings import surroundings
from voiceagent.speech.traits import Print, unit
from voiceagent.speech.voices import VoiceEncoder, voiced

LEAST_MS: Final = 6_000
"""Voice that is needed."""

PART_MS: Final = 3_000
"""Voice in each print: twice what is common in an answer, since errors halve."""

_ALIKE: Final = 0.4
"""How alike the least alike two prints of one person's are, at least: people here are at 0.5 and above."""


def enrolment(encoder: VoiceEncoder, sounds: Sequence[Samples]) -> tuple[Print, ...]:
    """The prints of one person who speaks in all of `sounds` (16 kHz mono); blocks. Raises SpeechError, saying what to do."""
    voice = np.concatenate([voiced(sound) for sound in sounds]) if sounds else np.zeros(0, dtype=np.int16)
    if to_ms(voice.size) < LEAST_MS:
        heard = to_ms(voice.size) / 1000
        raise SpeechError(f"{heard:.1f} s of voice are too little: speak for {LEAST_MS // 1000} s at least, whole sentences")
    parts = np.array_split(voice, voice.size // to_samples(PART_MS))
    plain = np.stack(_prints(encoder, parts))
    if float((plain @ plain.T).min()) < _ALIKE:
        raise SpeechError("this sounds like more than one person, or is too noisy: let one speak alone, near the microphone")
    return enrolled(encoder, parts)


def enrolled(encoder: VoiceEncoder, parts: Sequence[Samples]) -> tuple[Print, ...]:
    """The two prints that a person is known by: of what they said, and of that and what it would be elsewhere; blocks.

    Of people who are enrolled near the microphone and heard in a room, the first alone misses more than half.
    """
    here = unit(np.mean(_prints(encoder, parts), axis=0))
    elsewhere = unit(np.mean(_prints(encoder, [place for part in parts for place in surroundings(part)]), axis=0))
    return here, elsewhere


def _prints(encoder: VoiceEncoder, sounds: Sequence[Samples]) -> list[Print]:
    return [traits.print for sound in sounds if (traits := encoder.read(sound)) is not None]
