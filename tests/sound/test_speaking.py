"""The voice: what it says is heard back, starts at once, stops at once, and is the same in every run."""

import asyncio
import re

import jiwer
import numpy as np
import pytest

from tests.sound.hearing import MADE, model
from voiceagent.audio.frame import to_samples
from voiceagent.errors import ModelError
from voiceagent.speech.engines import Timing, sound_of
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.settings import SpeakingSettings
from voiceagent.speech.speakable import speakable
from voiceagent.speech.whisper import WhisperEngine

SAID = (
    "The library is open on Saturday from nine to five.",
    "You can keep a book for three weeks.",
    "Please leave your name and your telephone number at the desk.",
    "I do not know that, but I can ask somebody.",
    "The reading room is on the second floor, next to the stairs.",
    "Children may join with the signature of a parent.",
)
"""Sentences that a recognizer has no second spelling for."""

HIGHEST_WER = 0.02


async def test_what_is_said_is_heard_back(whisper: WhisperEngine) -> None:
    """By a voice of its own: what others had said before changes how the next sentence sounds."""
    voice = PiperEngine(model("en_US-joe-medium"))
    spelled = {"9": "nine", "5": "five", "3": "three", "2nd": "second"}
    heard = []
    for text in SAID:
        words = (await whisper.transcribe(await sound_of(voice, text))).text
        heard.append(" ".join(spelled.get(word, word) for word in re.findall(r"[a-z0-9]+", words.lower())))
    assert jiwer.wer([" ".join(re.findall(r"[a-z]+", text.lower())) for text in SAID], heard) <= HIGHEST_WER, heard
    voice.close()


async def test_an_amount_is_said_as_people_say_it(piper: PiperEngine, whisper: WhisperEngine) -> None:
    assert "$12.50" in (await whisper.transcribe(await sound_of(piper, speakable("It costs $12.50 a year.")))).text


async def test_pieces_are_short_and_the_voice_begins_at_once(piper: PiperEngine) -> None:
    pieces = [piece async for piece in piper.speak("The library is open.") if not isinstance(piece, Timing)]
    assert all(0 < piece.size <= to_samples(200) and piece.dtype == np.int16 for piece in pieces)
    assert np.abs(pieces[0][: to_samples(20)]).max() > 300


@pytest.mark.parametrize("text", ["", " ", "...", "🎉"])
async def test_nothing_to_say_is_silence(piper: PiperEngine, text: str) -> None:
    assert (await sound_of(piper, text)).size == 0


async def test_a_cancelled_sentence_stops_and_the_next_is_said(piper: PiperEngine) -> None:
    async def first() -> None:
        await sound_of(piper, "This is a rather long sentence that nobody will ever hear to its end, " * 4)

    waits = [asyncio.create_task(first()) for _ in range(4)]
    await asyncio.sleep(0)
    for wait in waits:
        wait.cancel()
    await asyncio.gather(*waits, return_exceptions=True)
    assert all(wait.cancelled() for wait in waits)
    assert (await sound_of(piper, "Hello.")).size > to_samples(200)


async def test_two_runs_sound_the_same_and_gain_is_fixed() -> None:
    plain, again = PiperEngine(model("en_US-joe-medium")), PiperEngine(model("en_US-joe-medium"))
    soft = PiperEngine(model("en_US-joe-medium"), SpeakingSettings(gain_db=-6))
    sounds = [await sound_of(engine, "Hello there.") for engine in (plain, again, soft)]
    assert np.array_equal(sounds[0], sounds[1])
    assert np.abs(sounds[2]).max() / np.abs(sounds[0]).max() == pytest.approx(0.5, abs=0.02)
    for engine in (plain, again, soft):
        engine.close()


def test_a_voice_that_is_not_there_says_so() -> None:
    with pytest.raises(ModelError, match="nothing"):
        PiperEngine(MADE / "nothing.onnx")
