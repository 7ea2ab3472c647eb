"""The recognizer's worker: who waits, who is let go, and sound of every length."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from tests.sound.hearing import MADE, load, model
from voiceagent.audio.frame import RATE
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.whisper import WhisperEngine


async def test_a_partial_is_empty_while_a_final_is_decoded(whisper: WhisperEngine) -> None:
    sound = load(MADE / "spoken_opening_hours.wav")
    final = asyncio.create_task(whisper.transcribe(sound))
    await asyncio.sleep(0)
    assert (await whisper.transcribe(sound, partial=True)).text == ""
    assert "library" in (await final).text
    assert "library" in (await whisper.transcribe(sound, partial=True)).text


async def test_a_cancelled_wait_leaves_the_engine_whole(whisper: WhisperEngine) -> None:
    sound = load(MADE / "spoken_opening_hours.wav")
    waits = [asyncio.create_task(whisper.transcribe(sound)) for _ in range(6)]
    await asyncio.sleep(0)
    for wait in waits:
        wait.cancel()
    assert all(isinstance(end, asyncio.CancelledError) for end in await asyncio.gather(*waits, return_exceptions=True))
    assert "library" in (await whisper.transcribe(sound)).text
    assert "library" in (await whisper.transcribe(sound, partial=True)).text


async def test_more_finals_than_may_wait_are_refused() -> None:
    engine = WhisperEngine(model("whisper-tiny.en"), max_waiting=1)
    sound = load(MADE / "spoken_yes.wav")
    ends = await asyncio.gather(*(engine.transcribe(sound) for _ in range(4)), return_exceptions=True)
    assert sum(isinstance(end, SpeechError) for end in ends) == 2
    assert (await engine.transcribe(sound)).text
    engine.close()
    with pytest.raises(SpeechError):
        await engine.transcribe(sound)


@pytest.mark.parametrize("length", [0, 1, 200, 320, 16_000])
async def test_sound_of_any_length_is_taken(whisper: WhisperEngine, length: int) -> None:
    await whisper.transcribe(np.zeros(length, dtype=np.int16))


async def test_a_minute_is_decoded_in_parts(whisper: WhisperEngine) -> None:
    sound = np.tile(load(MADE / "spoken_opening_hours.wav"), 15)[: 60 * RATE]
    words = await whisper.transcribe(sound)
    assert words.text.lower().count("library") >= 12


def test_a_model_that_is_not_there_or_speaks_another_language_says_so() -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        WhisperEngine(MADE / "nothing")
    with pytest.raises(ModelError, match="English only"):
        WhisperEngine(model("whisper-tiny.en"), language="fr")


@pytest.mark.parametrize(
    ("recording", "language", "word"),
    [("leopard-test_fr.wav", "fr", "consulat"), ("leopard-test.wav", "en", "classes"), ("tau2-order_status.wav", "en", "order")],
)
async def test_with_auto_each_recording_is_heard_in_its_own_language(
    shared_audio: Path, recording: str, language: str, word: str
) -> None:
    engine = WhisperEngine(model("whisper-base"), language="auto")
    heard = await engine.transcribe(load(shared_audio / recording))
    engine.close()
    assert (heard.language, word in heard.text.lower()) == (language, True)
