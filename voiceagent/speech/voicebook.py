"""Whom the program knows by voice: names and prints in one file of the user's own, and nothing else of their voices."""

import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voiceagent.errors import ConfigError
from voiceagent.speech.traits import Print, unit

LONGEST_NAME: Final = 64
_STRANGER: Final = re.compile(r"voice \d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A person by one print or more, such as of different surroundings."""

    name: str
    prints: tuple[Print, ...]

    def likeness(self, print: Print) -> float:
        """How alike a voice is to this person's, where it is most."""
        return max(float(own @ print) for own in self.prints)


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    prints: list[list[float]] = Field(min_length=1)


class _Page(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: str
    voices: list[_Row]


class VoiceBook:
    """The file of one program's people. Reading follows the file: who is added or removed meanwhile is, at their next word."""

    def __init__(self, path: Path, model: str) -> None:
        """`model` names what makes the prints: those of another are of no use."""
        self.path = path
        self._model = model
        self._stamp: tuple[int, int] | None = None
        self._known: tuple[Known, ...] = ()

    def known(self) -> tuple[Known, ...]:
        """Everybody, in the order of their enrolment; nobody while there is no file. Raises ConfigError for a damaged one."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._known = None, ()
            return ()
        stamp = stat.st_mtime_ns, stat.st_size
        if stamp != self._stamp:
            rows = self._read().voices
            self._known = tuple(Known(row.name, tuple(unit(np.array(one)) for one in row.prints)) for row in rows)
            self._stamp = stamp
        return self._known

    def add(self, name: str, prints: Sequence[Print]) -> None:
        """Knows a person by these prints, in place of what was known of them. Raises ConfigError for what is no name, or a
        stranger's."""
        name = " ".join(name.split())
        if not name or len(name) > LONGEST_NAME or _STRANGER.fullmatch(name):
            raise ConfigError(
                f"{name!r} names nobody: give a name of 1 to {LONGEST_NAME} characters, and not voice with a number"
            )
        page = self._read()
        row = _Row(name=name, prints=[[round(float(value), 6) for value in print] for print in prints])
        kept = [other for other in page.voices if _key(other.name) != _key(name)]
        self._write(_Page(model=self._model, voices=[*kept, row]))

    def alike(self, name: str, likeness: float) -> list[str]:
        """Who else is at least so like a person that one may be taken for the other."""
        others = {_key(known.name): known for known in self.known()}
        person = others.pop(_key(name))
        return [other.name for other in others.values() if max(map(other.likeness, person.prints)) >= likeness]

    def remove(self, name: str) -> None:
        """Forgets a person for good. Raises ConfigError for one who is not known."""
        page = self._read()
        kept = [row for row in page.voices if _key(row.name) != _key(name)]
        if len(kept) == len(page.voices):
            names = ", ".join(row.name for row in page.voices) or "nobody"
            raise ConfigError(f"nobody is known as {name!r}; known: {names}")
        self._write(_Page(model=self._model, voices=kept))

    def _read(self) -> _Page:
        try:
            page = _Page.model_validate(json.loads(self.path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return _Page(model=self._model, voices=[])
        except (OSError, ValueError, ValidationError) as error:
            raise ConfigError(f"{self.path} is not a file of voices ({error}); remove it and enrol anew") from None
        if page.model != self._model:
            raise ConfigError(f"{self.path} holds voices as {page.model} hears them, not {self._model}; enrol anew")
        return page

    def _write(self, page: _Page) -> None:
        """In one step, for its owner's eyes only."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False, encoding="utf-8") as half_done:
            try:
                half_done.write(page.model_dump_json())
                half_done.flush()
                os.fsync(half_done.fileno())
                os.replace(half_done.name, self.path)
            except BaseException:
                Path(half_done.name).unlink(missing_ok=True)
                raise


def voices_file() -> Path:
    """Where people's prints lie unless the settings say otherwise: voiceagent/voices.json in the user's data directory."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "voiceagent" / "voices.json"


def _key(name: str) -> str:
    return "".join(name.split()).casefold()
