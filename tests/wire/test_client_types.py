"""The JavaScript client's types, by TypeScript's own checker: whole in themselves, and of use to whoever calls it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.wire.pipecat_page import INSTALL
from voiceagent.web.server import PAGE

SOURCE = Path(__file__).parent / "typescript"
CHECK = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022", "--module", "es2022")
LIBRARIES = ("--lib", "es2022,dom,dom.iterable,dom.asynciterable")


def test_the_client_is_typed_and_a_host_is_told_of_its_mistakes(tmp_path: Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node and npm are missing: install Debian's packages nodejs and npm")
    compiler = SOURCE / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.is_file():
        fetched = subprocess.run([npm, *INSTALL], cwd=SOURCE, capture_output=True, text=True, timeout=300, check=False)
        if fetched.returncode:
            unmade = f"npm could not fetch TypeScript: {fetched.stderr[-500:]}"
            (pytest.fail if os.environ.get("CI") else pytest.skip)(unmade)
    for script in (PAGE / "client.js", SOURCE / "host.js"):
        shutil.copy(script, tmp_path)
    command = (node, str(compiler), *CHECK, *LIBRARIES, "client.js", "host.js")
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout
