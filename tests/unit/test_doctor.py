"""What the doctor finds and what it says to do."""

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voiceagent.audio.decode import read_sound
from voiceagent.cli import doctor
from voiceagent.errors import AudioError
from voiceagent.weights import Weights, registry


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(("version", "state"), [((3, 11), "ok"), ((3, 14), "ok"), ((3, 10), "fail")])
def test_python(version: tuple[int, int], state: str) -> None:
    assert doctor.check_python(version).state == state


def test_an_engine_that_is_not_installed_comes_with_its_command() -> None:
    assert doctor.check_engine("json", "hearing", "pip install x").state == "ok"
    found = doctor.check_engine("no_such_engine", "hearing", "pip install x")
    assert (found.state, found.next_step) == ("fail", "pip install x")


def test_a_missing_model_comes_with_its_command(tmp_path: Path) -> None:
    found = doctor.check_model(Weights(tmp_path), "en_US-joe-medium")
    assert found.state == "fail"
    assert "en_US-joe-medium (63 MB) is not on this machine" in found.detail
    assert found.next_step == "run: voiceagent models pull en_US-joe-medium"
    assert doctor.check_model(Weights(tmp_path), "silero-vad").state == "ok"


def test_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path) -> None:
        raise AudioError("no")

    assert doctor.check_decoding(read_sound).state == "ok"
    assert doctor.check_decoding(broken).state == "fail"
    monkeypatch.setattr(doctor, "_CODECS", ("flac", "no_such_codec"))
    assert doctor.check_decoding(read_sound).detail == "no no_such_codec"


def test_a_port_in_use_names_another() -> None:
    port = free_port()
    assert doctor.check_port(port).state == "ok"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        found = doctor.check_port(port)
    assert found.state == "fail"
    assert f"--port {port + 1}" in found.next_step


@pytest.mark.parametrize(
    ("printed", "code", "state", "detail"),
    [
        ("2 1", 0, "ok", "2 inputs, 1 outputs"),
        ("0 1", 0, "warn", "0 inputs, 1 outputs"),
        ("", 1, "warn", "it ended without a word"),
    ],
)
def test_devices(monkeypatch: pytest.MonkeyPatch, printed: str, code: int, state: str, detail: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(doctor, "_DEVICES", f"print('{printed}'); raise SystemExit({code})")
    found = doctor.check_devices(sys.executable)
    assert (found.state, found.detail) == (state, detail)


def test_devices_that_do_not_answer_and_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("x", 1)

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert doctor.check_devices(sys.executable).state == "ok"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(subprocess, "run", hang)
    assert doctor.check_devices(sys.executable).state == "warn"


def test_the_command_exits_1_when_something_must_be_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(tmp_path))
    result = CliRunner().invoke(doctor.app, ["--port", str(free_port())], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "voiceagent models pull whisper-tiny.en" in result.output
    assert "3 must be mended first" in result.output


def test_the_command_exits_0_when_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", lambda port, weights: iter([doctor.Finding("python", "ok", "3.11")]))
    result = CliRunner().invoke(doctor.app, [])
    assert result.exit_code == 0
    assert "Ready: voiceagent serve" in result.output


def test_every_default_model_is_looked_at(tmp_path: Path) -> None:
    names = {finding.name for finding in doctor.examine(free_port(), Weights(tmp_path))}
    assert {f"model {model.name}" for model in registry().values() if model.default} <= names
