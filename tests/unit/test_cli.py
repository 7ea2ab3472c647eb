"""The command line: quick help that loads nothing, exit codes, and messages that name what to change."""

import json
import socket
import subprocess
import sys
import wave
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voiceagent.cli.brain import brain_options
from voiceagent.cli.main import COMMANDS, app
from voiceagent.errors import ConfigError


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    return result.exit_code, result.output


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "ann.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(b"\0\0" * 1600)
    return path


def test_help_names_every_command_and_what_it_does() -> None:
    code, text = call("--help")
    assert code == 0
    for name in COMMANDS:
        assert name in text


def test_help_loads_no_command() -> None:
    look = """
import sys
from typer.testing import CliRunner
from voiceagent.cli.main import app
assert CliRunner().invoke(app, ["--help"]).exit_code == 0
print(*sys.modules)
"""
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert "voiceagent.cli.main" in loaded
    assert not {"voiceagent.app", "voiceagent.cli.talk", "numpy", "pydantic", "uvicorn"} & set(loaded)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_asked_for_help(name: str) -> None:
    code, text = call(name, "--help")
    assert code == 0
    assert "Usage" in text


def test_the_version_is_the_package_s() -> None:
    assert call("--version") == (0, "0.1.0\n")


def test_an_unknown_command_is_refused() -> None:
    assert call("tolk")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), "nobody calls"),
        (("gone.wav",), "gone.wav"),
        (("ann.wav", "--script", "x.toml"), "not both"),
        (("--script", "gone.toml"), "gone.toml"),
        (("ann.wav", "--llm", "canned:gone.jsonl"), "gone.jsonl"),
        (("ann.wav", "--llm", "clever"), "clever"),
        (("ann.wav", "--config", "gone.toml"), "gone.toml"),
    ],
)
def test_talk_refuses_input_that_it_cannot_use(arguments: tuple[str, ...], names: str) -> None:
    code, text = call("talk", *arguments)
    assert code == 2
    assert names in text


def test_talk_refuses_a_damaged_recording(tmp_path: Path) -> None:
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"RIFF____WAVEfmt rubbish")
    code, text = call("talk", str(bad))
    assert code == 2
    assert "bad.wav" in text


def test_talk_refuses_a_piece_that_lies_behind_the_recording(tmp_path: Path, recording: Path) -> None:
    script = tmp_path / "two.toml"
    script.write_text(f'[[caller]]\nname = "Ann"\nfile = "{recording.name}"\nfrom_ms = 5000\n')
    code, text = call("talk", "--script", str(script))
    assert code == 2
    assert "from_ms" in text


def test_talk_refuses_canned_answers_that_are_none(tmp_path: Path, recording: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"txt": "no"}\n')
    code, text = call("talk", str(recording), "--llm", f"canned:{answers}", "--fast")
    assert code == 2
    assert "answers.jsonl, line 1" in text


def test_talk_refuses_a_folder_that_it_cannot_make(recording: Path) -> None:
    code, text = call("talk", str(recording), "--out", str(recording / "run"))
    assert code == 2
    assert "cannot make the folder" in text


def test_talk_without_its_models_fails_and_says_how_to_get_them(
    tmp_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(tmp_path / "none"))
    code, text = call("talk", str(recording), "--llm", "echo", "--fast")
    assert code == 1
    assert "voiceagent models pull" in text


def test_a_setting_that_is_none_is_refused(tmp_path: Path) -> None:
    settings = tmp_path / "my.toml"
    settings.write_text("[hearing]\nmodl = 1\n")
    for command in ("serve", "console", "talk"):
        code, text = call(command, "--config", str(settings))
        assert code == 2
        assert "my.toml:2: unknown setting `hearing.modl`; did you mean `model`?" in text


def test_serve_refuses_to_be_reached_from_outside_unguarded() -> None:
    code, text = call("serve", "--host", "0.0.0.0")
    assert code == 2
    assert "token_secret" in text


def test_serve_names_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, text = call("serve", "--port", str(port))
    assert code == 1
    assert f"127.0.0.1:{port}" in text
    assert "--port" in text


def test_console_answers_each_line_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "always")
    result = CliRunner().invoke(app, ["console", "--llm", "echo"], input="hello\n\nand again\n", catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, "hello\nand again\n")


def test_console_says_when_the_agent_keeps_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__ANSWER_ONLY", '["Ann"]')
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "always")
    result = CliRunner().invoke(app, ["console", "--llm", "echo"], input="hello\n", catch_exceptions=False)
    assert (result.exit_code, result.output) == (0, "[silent: only listened to]\n")


def test_console_loads_nothing_that_hears_or_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "always")
    look = """
import sys
from typer.testing import CliRunner
from voiceagent.cli.main import app
assert CliRunner().invoke(app, ["console", "--llm", "echo"], input="x").output == "x\\n"
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    assert not {"faster_whisper", "piper", "aiortc", "ctranslate2", "openai"} & set(done.stdout.split())


@pytest.mark.parametrize(
    ("llm", "options"),
    [
        (None, {}),
        ("notes", {"llm.brain": "notes"}),
        ("notes:my.md", {"llm.brain": "notes", "llm.notes": "my.md"}),
        ("openai:gpt-x:latest", {"llm.brain": "openai", "llm.model": "gpt-x:latest"}),
        ("echo", {"llm.brain": "echo"}),
    ],
)
def test_a_brain_is_named_by_kind(llm: str | None, options: dict[str, str]) -> None:
    assert brain_options(llm) == options


def test_a_canned_brain_is_named_with_its_file(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"text": "yes"}))
    assert brain_options(f"canned:{answers}") == {"llm.brain": "canned", "llm.canned": str(answers)}


@pytest.mark.parametrize("llm", ["", "ekko", "echo:x", "canned", "gguf:", "gguf:gone.gguf"])
def test_a_brain_that_cannot_be_is_refused(llm: str) -> None:
    with pytest.raises(ConfigError, match="--llm"):
        brain_options(llm)


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "voiceagent", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert all(name in done.stdout for name in ("serve", "talk", "doctor"))
