"""Finds the middle of many made voices, which the voice encoder's prints are measured from.

    python -m tools.voices.centre

Each of the voices speaks four sentences, as they are and as a microphone in a room has them. None of them is measured anywhere.
Needs espeak-ng and the model voice-encoder.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from tools.voices.material import CENTRE, SENTENCES, Voice, espeak_says, in_room
from voiceagent.audio.frame import Samples
from voiceagent.speech.traits import Print, unit
from voiceagent.speech.voices import CENTRE as PLACE
from voiceagent.speech.voices import VoiceEncoder
from voiceagent.weights import Weights

UTTERANCE_MS = 1_500


def middle(encoder: VoiceEncoder, voice: Voice, through: Callable[[Samples], Samples]) -> Print:
    """The mean print of what a voice says."""
    read = [encoder.read(through(sound)) for sound in voice.utterances(UTTERANCE_MS)]
    return unit(np.mean([traits.print for traits in read if traits is not None], axis=0))


def main() -> None:
    """Writes the file."""
    encoder = VoiceEncoder(Weights().whole("voice-encoder"), np.zeros(256, dtype=np.float32))
    voices = [Voice(name, "made", tuple(espeak_says(name, text) for text in SENTENCES)) for name in CENTRE]
    prints = [
        middle(encoder, voice, through) for seed, voice in enumerate(voices) for through in (np.copy, partial(in_room, seed=seed))
    ]
    np.save(PLACE, np.mean(prints, axis=0).astype(np.float32))
    encoder.close()


if __name__ == "__main__":
    main()
