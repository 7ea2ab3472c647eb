"""Answers of a real voice, cut at chosen places: what is said to have been heard, against what the far end received."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import jiwer
import numpy as np

from tests.scenario.scripted import ROOM, house
from tests.sound.hearing import model
from tests.sound.references import plain
from voiceagent import clock
from voiceagent.audio.frame import RATE, Samples, to_ms
from voiceagent.cli.loop import run
from voiceagent.room.events import Participant
from voiceagent.room.feed import FeedEvent
from voiceagent.speech.engines import TextToSpeech, Timing
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.transport.file import FileCall

SAID = (
    "The parcel left our house this morning with the first van. It is on its way to you, and the driver will ring at your door.",
    "You can keep a book for three weeks and borrow ten of them at once, when you leave your name at the desk before six.",
    "In the middle of the town there is a garden. It opens early in the summer, and nobody has to pay for a walk in it.",
)
PLACES = range(600, 5_000, 530)
"""Ms into an answer at which it is cut: nine in each, and no two at the same place of a frame or a word."""


class Once:
    """A voice that makes each sentence once, and gives it again as it was."""

    def __init__(self, voice: TextToSpeech) -> None:
        self._voice = voice
        self._made: dict[str, list[Samples | Timing]] = {}

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        if text not in self._made:
            self._made[text] = [piece async for piece in self._voice.speak(text)]
        for piece in self._made[text]:
            yield piece


@dataclass(frozen=True, eq=False)
class CutAnswer:
    """What was said of one cut, and what was received until then."""

    said: str
    told: FeedEvent
    received: Samples


async def cut_at(piper: PiperEngine, text: str, places: range) -> list[CutAnswer]:
    """One call in which the same answer begins anew after each cut."""
    found = []
    async with house(tts=Once(piper)) as here:
        call = FileCall("s1", np.zeros(0, dtype=np.int16))
        calling = asyncio.create_task(here.reception.receive(call, room_id=ROOM, participant=Participant("ann", "Ann")))
        await clock.sleep_until(clock.now() + 100)
        for place in places:
            before = len(call.heard())
            reply = await here.engine.say(ROOM, text)
            while not reply.heard:
                await clock.sleep_until(clock.now() + 5)
            await clock.sleep_until(clock.now() + place)
            reply.cancel("explicit")
            await clock.sleep_until(clock.now() + 300)
            found.append(np.concatenate([piece.samples for piece in call.heard()[before:]]))
        call.finish()
        await calling
        cuts = [event for event in await here.read() if event.type == "speech.cut"]
    return [CutAnswer(text, told, received) for told, received in zip(cuts, found, strict=True)]


def words_in(recognized: str, said: str) -> int:
    """How many words of what was said the recognized ones are: the beginning that takes the fewest changes, the shortest of equal
    ones."""
    words = plain(said).split()
    return min(range(1, len(words) + 1), key=lambda count: changes(" ".join(words[:count]), plain(recognized) or "-"))


def changes(words: str, others: str) -> int:
    """Words to put in, take out and exchange."""
    made = jiwer.process_words(words, others)
    return made.substitutions + made.deletions + made.insertions


def test_of_cut_answers_the_words_that_were_heard_are_known(whisper: WhisperEngine) -> None:
    """Within one word in 95 % of 27 cuts, judged by a recognizer on the received sound. By a voice of its own: what others
    had said before changes how the next sentence sounds."""
    piper = PiperEngine(model("en_US-joe-medium"))
    cuts = [cut for text in SAID for cut in run(cut_at(piper, text, PLACES), virtual=True)]
    assert len(cuts) == 27
    piper.close()
    off = []
    for cut in cuts:
        assert cut.told.data["exact"] is True
        assert cut.told.data["played_ms"] == to_ms(cut.received.size)
        heard = str(cut.told.data["heard_text"])
        assert cut.said.startswith(heard)
        sound = np.concatenate((cut.received, np.zeros(RATE // 2, dtype=np.int16)))
        recognized = asyncio.run(whisper.transcribe(sound)).text
        off.append((words_in(recognized, cut.said) - len(heard.split()), heard, recognized))
    wrong = [one for one in off if abs(one[0]) > 1]
    assert len(wrong) <= 0.05 * len(cuts), wrong
