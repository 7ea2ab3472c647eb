"""The page's scripts that draw nothing, under node: what they make of a room's lines, and how they follow it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from voiceagent.web.server import PAGE

TESTS = Path(__file__).parent / "page"
LONGEST_CLIENT = 300
SCRIPTS = ("client", "story", "questions")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's scripts under names by which node knows them for modules."""
    folder = tmp_path_factory.mktemp("page")
    for script in SCRIPTS:
        shutil.copy(PAGE / f"{script}.js", folder / f"{script}.mjs")
    return folder


@pytest.mark.parametrize("script", SCRIPTS)
def test_under_node(script: str, modules: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is missing: install Debian's package nodejs")
    command = (node, "--test", "--test-reporter=tap", str(TESTS / f"{script}.mjs"))
    run = subprocess.run(
        command, env={**os.environ, "PAGE": str(modules)}, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_client_is_short_and_needs_nothing() -> None:
    text = (PAGE / "client.js").read_text(encoding="utf-8")
    assert len(text.splitlines()) < LONGEST_CLIENT
    assert "import " not in text
