"""The peers' environments: each in a folder of its own, made once, with nothing of ours in it."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = {"livekit_agents": "requirements-livekit.txt", "pipecat": "requirements-pipecat.txt"}


def python_of(system: str, folder: Path) -> Path | None:
    """The Python that runs this system's adapter, its environment made when it is missing; None when it cannot be made, which
    is said. A file of requirements that has changed makes it anew."""
    if system not in REQUIREMENTS:
        return Path(sys.executable)
    wanted = HERE / REQUIREMENTS[system]
    home = folder / system
    python, made = home / "bin" / "python", home / "made-from.txt"
    if made.is_file() and made.read_text() == wanted.read_text():
        return python
    print(f"making the environment of {system} in {home}", flush=True)
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), "-m", "pip", "install", "-q", "-r", str(wanted)],
    )
    for command in commands:
        if subprocess.run(command, check=False).returncode:
            print(f"{system} is left out: its environment cannot be made; see what pip says above", flush=True)
            return None
    made.write_text(wanted.read_text())
    return python
