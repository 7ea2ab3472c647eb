"""The agent's own sound, kept for each speech: whatever was made ahead, of whomever."""

from collections.abc import AsyncIterator
from typing import cast

import numpy as np

from voiceagent.audio.frame import Samples
from voiceagent.cli.tap import Tap
from voiceagent.room.channel import RoomContext
from voiceagent.speech.engines import Timing, Word
from voiceagent.speech.speakable import speakable
from voiceagent.voice.mouth import SpokenSentence


class Here:
    """A room that nobody looks at."""


HERE = cast(RoomContext, Here())


class Counting:
    """Every sentence it makes is one number, repeated."""

    def __init__(self) -> None:
        self.made = 0

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        self.made += 1
        yield Timing((Word(text, 0, 1),))
        for _ in range(2):
            yield np.full(3, self.made, dtype=np.int16)


async def noted(tap: Tap, speech_id: str, text: str) -> None:
    await tap.note(SpokenSentence(text, "room", speech_id, None, None), HERE)


async def make(tap: Tap, text: str) -> None:
    async for _ in tap.speak(speakable(text)):
        pass


async def test_a_sentence_made_ahead_is_the_next_ones_who_say_it_and_nobody_gets_anothers() -> None:
    tap = Tap(speakable)
    tap.around(Counting())
    await noted(tap, "a", "It is $5.")
    await make(tap, "It is $5.")
    await make(tap, "Yes.")
    await noted(tap, "b", "Yes.")
    await noted(tap, "c", "Yes.")
    await make(tap, "Yes.")
    await noted(tap, "c", "It is $5.")
    assert tap.sound("a").tolist() == [1] * 6
    assert tap.sound("b").tolist() == [2] * 6
    assert tap.sound("c").tolist() == [3] * 6
    await make(tap, "It is $5.")
    assert tap.sound("c").tolist() == [3] * 6 + [4] * 6
    assert tap.sound("nobody").size == 0
