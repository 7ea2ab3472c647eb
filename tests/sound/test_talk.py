"""`voiceagent talk` with the real models: right words under the right names, and with --fast the same files every time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from voiceagent.cli.script import from_files

pytestmark = pytest.mark.usefixtures("default_models")

FILES = ("transcript.json", "timeline.jsonl", "mix.wav")


def talk(out: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-c",
        "from voiceagent.cli.main import main; main()",
        "talk",
        "--fast",
        "--out",
        str(out),
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads((out / "transcript.json").read_text())
    return rows


def test_a_fast_run_is_the_same_byte_for_byte_every_time(shared_audio: Path, tmp_path: Path) -> None:
    files = [str(shared_audio / "tau2-order_status.wav"), str(shared_audio / "tau2-hello.ulaw")]
    for folder in ("first", "second"):
        rows = talk(tmp_path / folder, *files, "--llm", "echo")
        assert {row["speaker"] for row in rows} == {"tau2-order_status", "tau2-hello", "Nova"}
    for name in FILES:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def test_callers_of_a_script_are_answered_by_canned_lines(shared_audio: Path, tmp_path: Path) -> None:
    script = tmp_path / "two.toml"
    callers = [("Ann", "tau2-order_status.wav", 0), ("Bob", "tau2-thank_you.wav", 5000)]
    script.write_text(
        "".join(f'[[caller]]\nname = "{name}"\nfile = "{shared_audio / file}"\nstart_ms = {at}\n' for name, file, at in callers)
    )
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"text": "It is on its way."}\n{"match": "thank", "text": "You are welcome."}\n')
    rows = talk(tmp_path / "out", "--script", str(script), "--llm", f"canned:{answers}")
    assert [(row["speaker"], row["text"]) for row in rows[1::2]] == [("Nova", "It is on its way."), ("Nova", "You are welcome.")]
    assert [row["speaker"] for row in rows[0::2]] == ["Ann", "Bob"]
    assert "order status" in rows[0]["text"].lower()
    assert "thank you" in rows[2]["text"].lower()
    assert [row["responds_to"] for row in rows[1::2]] == [row["event_id"] for row in rows[0::2]]


def test_noise_is_no_turn(shared_audio: Path, tmp_path: Path) -> None:
    noises = [shared_audio / f"tau2-noise_{what}.wav" for what in ("car_horn", "dog_bark")]
    assert len(from_files(noises)) == 2
    assert talk(tmp_path / "out", *map(str, noises), "--llm", "echo") == []
