"""A talk in another language than English: one setting, the multilingual recognizer, and eSpeak where Piper has no voice here.

The French is a recording; there is none in Spanish, which is made by eSpeak.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.sound.hearing import model
from tests.sound.talking import together, write
from voiceagent.audio.frame import Samples, to_samples
from voiceagent.errors import ModelError
from voiceagent.languages import AUTO
from voiceagent.speech.engines import sound_of
from voiceagent.speech.espeak import EspeakEngine
from voiceagent.speech.tongue import Tongue, words_of
from voiceagent.speech.whisper import WhisperEngine

TABLE = "Quiero reservar una mesa para dos personas."


@pytest.mark.parametrize("language", ["fr", "auto"])
def test_a_talk_in_french_by_one_setting(shared_audio: Path, tmp_path: Path, language: str) -> None:
    model("whisper-base")
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    ran, said = talked(shared_audio / "leopard-test_fr.wav", tmp_path, language, "Nous sommes ouverts de neuf heures à midi.")
    assert "consulat" in said and "conservateur" in said
    assert "neuf heures" in ran


@pytest.mark.parametrize("language", ["es", "auto"])
def test_a_talk_in_spanish_by_one_setting(tmp_path: Path, language: str) -> None:
    model("whisper-base")
    spoken = write(tmp_path / "Ana.wav", together((0, made(TABLE, "es-419")), (7_000, quiet(500))))
    ran, said = talked(spoken, tmp_path, language, "Tenemos una mesa a las nueve.")
    assert "mesa" in said and "personas" in said
    assert "a las nueve" in ran


@pytest.mark.parametrize(("word", "alone"), [("sí", "en"), ("no", "es")])
async def test_a_lone_word_is_heard_in_the_language_that_its_person_has_used(word: str, alone: str) -> None:
    """Whatever it passes for `alone`; the same person's English sentence is heard as one all the same."""
    engine = WhisperEngine(model("whisper-base"), language=AUTO)
    tongue = Tongue()

    async def heard(text: str, voice: str) -> str:
        sound = await asyncio.to_thread(made, text, voice)
        words = await words_of(engine, sound, tongue.odds(sound))
        tongue.heard(words)
        return words.language

    assert await heard(word, "es-419") == alone
    assert [await heard(TABLE, "es-419"), await heard(word, "es-419")] == ["es", "es"]
    assert await heard("What time do you open tomorrow morning?", "en-us") == "en"
    assert await heard(word, "es-419") == "en"
    engine.close()


@pytest.mark.parametrize("voice", ["zz", "../fr", ""])
def test_a_voice_that_espeak_does_not_have_is_refused_at_the_start(voice: str) -> None:
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    with pytest.raises(ModelError, match="--voices"):
        EspeakEngine(voice)


def made(text: str, voice: str) -> Samples:
    """What eSpeak says, with 300 ms before and 100 ms behind it, as an utterance has."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    spoken = asyncio.run(sound_of(EspeakEngine(voice), text))
    return np.concatenate([quiet(300), spoken, quiet(100)])


def quiet(ms: int) -> Samples:
    return np.zeros(to_samples(ms), dtype=np.int16)


def talked(file: Path, folder: Path, language: str, answer: str) -> tuple[str, str]:
    """What a talk in a process of its own prints, and what it has written down, in small letters."""
    (folder / "answers.jsonl").write_text(json.dumps({"text": answer}), encoding="utf-8")
    talk = ["talk", str(file), "--llm", f"canned:{folder / 'answers.jsonl'}"]
    program = "from voiceagent.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, *talk, "--out", str(folder / "out")],
        env={**os.environ, "VOICEAGENT_LANGUAGE": language, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert (folder / "out" / "mix.wav").stat().st_size > 200_000
    return ran.stdout, (folder / "out" / "transcript.json").read_text(encoding="utf-8").lower()
