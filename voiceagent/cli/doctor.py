"""`voiceagent doctor`: looks at everything a conversation needs on this machine and says what to do about what is missing."""

import importlib.util
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import av
import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import RATE
from voiceagent.audio.wav import WavWriter
from voiceagent.errors import AudioError, ModelError
from voiceagent.weights import Weights

app = typer.Typer()

State = Literal["ok", "warn", "fail"]

_COLOURS: Final = {"ok": "green", "warn": "yellow", "fail": "red"}
_CODECS: Final = ("flac", "mp3", "vorbis", "opus", "pcm_s16le", "pcm_mulaw")
_ENGINES: Final = {
    "faster_whisper": ("hearing", "pip install faster-whisper"),
    "webrtcvad": ("hearing", "pip install webrtcvad-wheels"),
    "piper": ("speaking", "pip install 'voiceagent[piper]'"),
    "aiortc": ("browsers", "pip install aiortc"),
}
_DEVICES: Final = (
    "import sounddevice as s; d = s.query_devices();"
    " print(sum(x['max_input_channels'] > 0 for x in d), sum(x['max_output_channels'] > 0 for x in d))"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; `next_step` is empty when nothing needs doing."""

    name: str
    state: State
    detail: str
    next_step: str = ""


@app.command(epilog="Examples: voiceagent doctor · voiceagent doctor --port 9000")
def doctor(port: Annotated[int, typer.Option(help="The port `voiceagent serve` will use.", min=1, max=65535)] = 8080) -> None:
    """Check Python, models, decoding, audio devices and the port; exit 1 when something must be mended first."""
    out = Console(highlight=False)
    table = Table("check", "state", box=None, pad_edge=False)
    table.add_column("found", overflow="fold")
    table.add_column("next step", overflow="fold")
    findings = list(examine(port, Weights()))
    for finding in findings:
        colour = _COLOURS[finding.state]
        table.add_row(finding.name, f"[{colour}]{finding.state}[/]", finding.detail, finding.next_step)
    out.print(table)
    failures = sum(finding.state == "fail" for finding in findings)
    out.print(f"{failures} must be mended first." if failures else "Ready: voiceagent serve")
    raise typer.Exit(1 if failures else 0)


def examine(port: int, weights: Weights) -> Iterator[Finding]:
    """Every check in turn; reads the default models whole, so it takes about a second."""
    yield check_python(sys.version_info[:2])
    for module, (purpose, step) in _ENGINES.items():
        yield check_engine(module, purpose, step)
    for model in weights.models.values():
        if model.default:
            yield check_model(weights, model.name)
    yield check_decoding()
    yield check_devices(sys.executable)
    yield check_port(port)


def check_python(version: tuple[int, int]) -> Finding:
    """3.11 or newer."""
    said = ".".join(map(str, version))
    if version >= (3, 11):
        return Finding("python", "ok", said)
    return Finding("python", "fail", said, "install Python 3.11 or newer and make the environment again")


def check_engine(module: str, purpose: str, step: str) -> Finding:
    """Whether an engine's package is installed; it is not imported."""
    if importlib.util.find_spec(module):
        return Finding(f"engine {module}", "ok", purpose)
    return Finding(f"engine {module}", "fail", f"not installed: no {purpose}", step)


def check_model(weights: Weights, name: str) -> Finding:
    """Whether a model is here and undamaged; a conversation can do without the one that judges ends."""
    try:
        weights.verify(name)
    except ModelError as error:
        found, _, step = str(error).rpartition("; ")
        if weights.models[name].kind == "turn":
            return Finding(f"model {name}", "warn", f"{found}: words and silence alone tell where turns end", step)
        return Finding(f"model {name}", "fail", found, step)
    return Finding(f"model {name}", "ok", str(weights.path(name)))


def check_decoding(read: Callable[[Path], object] = read_sound) -> Finding:
    """Whether sound files can be written, read and decoded here."""
    missing = [codec for codec in _CODECS if codec not in av.codecs_available]
    if missing:
        step = "install PyAV again from its wheel: pip install --force-reinstall --only-binary :all: av"
        return Finding("decoding", "fail", f"no {', '.join(missing)}", step)
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "tone.wav"
            with WavWriter(place, 1) as file:
                file.append((8000 * np.sin(np.arange(RATE) * 0.2)).astype(np.int16))
            read(place)
    except (AudioError, OSError) as error:
        return Finding("decoding", "fail", str(error), "free space in the temporary directory ($TMPDIR), then try again")
    return Finding("decoding", "ok", "wav, flac, mp3, ogg, mu-law")


def check_devices(python: str) -> Finding:
    """Microphones and loudspeakers, asked in a process of its own since drivers may crash; a browser does not need them."""
    if not importlib.util.find_spec("sounddevice"):
        return Finding("audio devices", "ok", "not looked at: sounddevice is not installed, and browsers bring their own")
    try:
        asked = subprocess.run([python, "-c", _DEVICES], capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return Finding("audio devices", "warn", "the sound system does not answer", "restart it, or use a browser")
    if asked.returncode:
        reason = (asked.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return Finding("audio devices", "warn", reason, "install PortAudio (Debian: apt-get install libportaudio2)")
    microphones, loudspeakers = asked.stdout.split()
    found = f"{microphones} inputs, {loudspeakers} outputs"
    if "0" in (microphones, loudspeakers):
        return Finding("audio devices", "warn", found, "connect one to talk without a browser; browsers bring their own")
    return Finding("audio devices", "ok", found)


def check_port(port: int) -> Finding:
    """Whether the page can be served on the loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            step = f"stop what listens there, or choose another: voiceagent serve --port {port + 1 if port < 65535 else 8080}"
            return Finding(f"port {port}", "fail", str(error.strerror), step)
    return Finding(f"port {port}", "ok", "free")
