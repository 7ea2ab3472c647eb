"""`voiceagent evaluate` as a process: each classifier that asks a server, against one on loopback, and what it says of faults."""

import asyncio
import json
import os
import pty
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.wire import decision_server
from tests.wire.decision_server import DecisionServer
from voiceagent.values import JSON

KEYS = {
    "n", "modes_right", "modes_right_ci", "false_speak", "false_speak_ci", "missed_speak", "missed_speak_ci", "false_offer",
    "false_offer_ci", "by_language", "by_people", "by_tag", "per_question", "latency_ms", "rss_mb",
}  # fmt: skip
PART = {"n", "modes_right", "false_speak", "missed_speak", "false_offer"}
QUESTION = {"n", "positives", "auc", "ece", "brier", "right"}
LINE: dict[str, JSON] = {
    "id": "one",
    "agent": "Nova",
    "people": ["Ann", "Bo"],
    "history": [{"speaker": "Bo", "text": "How far is it?"}],
    "last": {"speaker": "Ann", "text": "Nova, how far is it?"},
    "expected": "silent",
    "labels": {"directness": 3, "request": 1, "hush": 0},
    "tags": ["named"],
    "language": "en",
}
LONGEST_S = 60


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DecisionServer]:
    async with decision_server.serving() as running:
        yield running


def turns(folder: Path, *lines: JSON) -> Path:
    path = folder / "turns.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def settings(folder: Path, text: str) -> list[str]:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return ["--config", str(path)]


async def evaluated(*arguments: str, errors: int = asyncio.subprocess.PIPE) -> tuple[int, str, str]:
    """Exit code, what it printed, what it said of errors; `errors` may be a terminal. No key is in its environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "TYPESAFE_", "VOICEAGENT_"))}
    command = [sys.executable, "-c", "from voiceagent.cli.main import main; main()", "evaluate", *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, stderr=errors, env=kept)
    async with asyncio.timeout(LONGEST_S):
        said, failed = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode(), (failed or b"").decode()


@pytest.mark.parametrize("which", ["llm", "jev", "openai"])
async def test_a_classifier_behind_a_server_is_scored(server: DecisionServer, tmp_path: Path, which: str) -> None:
    told = {
        "llm": f'[llm]\nbrain = "openai"\nurl = "{server.url}/v1"\nmodel = "judging"\n',
        "jev": f'[judgment]\nclassifier_url = "{server.url}"\n',
        "openai": f'[judgment]\nclassifier_url = "{server.url}/v1"\n',
    }[which]
    path = turns(tmp_path, LINE, {**LINE, "id": "two", "expected": "speak", "language": "fr", "people": ["Ann"]})
    chosen = ("--set", str(path), "--classifier", which, "--json", *settings(tmp_path, told))
    code, said, errors = await evaluated(*chosen)
    assert (code, errors) == (0, "")
    figures = json.loads(said)
    assert set(figures) == KEYS
    assert (figures["n"], figures["modes_right"], figures["false_speak"], figures["missed_speak"]) == (2, 0.5, 0.0, 1.0)
    assert {language: set(part) for language, part in figures["by_language"].items()} == {"en": PART, "fr": PART}
    assert {size: part["n"] for size, part in figures["by_people"].items()} == {"1": 1, "2": 1}
    assert set(figures["by_tag"]) == {"named"}
    assert set(figures["per_question"]) == {"directness", "request", "hush"}
    assert {name: set(question) - {"error"} for name, question in figures["per_question"].items()} == dict.fromkeys(
        figures["per_question"], QUESTION
    )
    assert set(figures["latency_ms"]) == {"p50", "p95"}
    assert figures["latency_ms"]["p50"] <= figures["latency_ms"]["p95"]
    assert figures["rss_mb"] > 10
    assert len(server.bodies) == (2 if which != "llm" else 14)


@pytest.mark.parametrize(
    ("which", "told", "code", "says"),
    [
        ("openai", "", 2, ("OPENAI_API_KEY", "[judgment] classifier_url")),
        ("jev", "", 2, ("TYPESAFE_API_KEY", "[judgment] classifier_url")),
        ("llm", '[llm]\nbrain = "echo"\n', 2, ("[judgment] classifier", '[llm] brain = "openai"')),
        ("openai", '[judgment]\nclassifier_url = "http://127.0.0.1:{port}/v1"\n', 1, ("turn one", "cannot be reached", "/v1")),
        (
            "jev",
            '[judgment]\nclassifier_url = "http://127.0.0.1:{port}"\n',
            1,
            ("turn one", "cannot be reached", "classifier_url"),
        ),
        (
            "llm",
            '[llm]\nbrain = "openai"\nurl = "{url}/v1"\nmodel = "refused"\n',
            1,
            ("turn one", "HTTP 401", "[llm] url, model"),
        ),
    ],
)
async def test_what_fails_is_told_with_what_to_change(
    server: DecisionServer, tmp_path: Path, which: str, told: str, code: int, says: tuple[str, ...]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    chosen = settings(tmp_path, told.replace("{port}", str(port)).replace("{url}", server.url))
    left, said, errors = await evaluated("--set", str(turns(tmp_path, LINE)), "--classifier", which, "--json", *chosen)
    assert (left, said) == (code, "")
    assert errors.startswith("voiceagent: ")
    assert len(errors.splitlines()) == 1, errors
    for words in says:
        assert words in errors


async def test_a_broken_line_is_named_and_nothing_is_asked(server: DecisionServer, tmp_path: Path) -> None:
    path = turns(tmp_path, LINE, {**LINE, "expected": "shout"})
    told = settings(tmp_path, f'[judgment]\nclassifier_url = "{server.url}/v1"\n')
    code, said, errors = await evaluated("--set", str(path), "--classifier", "openai", *told)
    assert (code, said) == (2, "")
    assert "turns.jsonl:2: " in errors
    assert "expected" in errors
    assert server.bodies == []


async def test_a_terminal_sees_how_far_it_is_and_the_figures_stay_clean(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        code, said, _ = await evaluated(
            "--set", str(turns(tmp_path, *[LINE] * 20)), "--classifier", "named", "--json", errors=theirs
        )
        shown = os.read(ours, 65_536).decode()
    finally:
        os.close(theirs)
        os.close(ours)
    assert code == 0
    assert json.loads(said)["n"] == 20
    assert "named" in shown
    assert "100%" in shown
