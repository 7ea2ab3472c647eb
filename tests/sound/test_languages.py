"""A talk in another language than English: one setting, the multilingual recognizer, and eSpeak where Piper has no voice here."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sound.hearing import model


@pytest.mark.parametrize("language", ["fr", "auto"])
def test_a_talk_in_french_by_one_setting(shared_audio: Path, tmp_path: Path, language: str) -> None:
    model("whisper-base")
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    answer = "Nous sommes ouverts de neuf heures à midi."
    (tmp_path / "answers.jsonl").write_text(json.dumps({"text": answer}), encoding="utf-8")
    talk = ["talk", str(shared_audio / "leopard-test_fr.wav"), "--llm", f"canned:{tmp_path / 'answers.jsonl'}"]
    program = "from voiceagent.cli.main import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, *talk, "--out", str(tmp_path / "out")],
        env={**os.environ, "VOICEAGENT_LANGUAGE": language, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    said = (tmp_path / "out" / "transcript.json").read_text(encoding="utf-8").lower()
    assert "consulat" in said and "conservateur" in said
    assert "neuf heures" in ran.stdout
    wav = (tmp_path / "out" / "mix.wav").stat().st_size
    assert wav > 200_000
