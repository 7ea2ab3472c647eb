"""The weights that come with the package: their files, checked against the sums of speak.json, and the heads' temperatures."""

import hashlib
import json
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.errors import ModelError
from voiceagent.judgment.classifier.heads import LEVELS, NAMES

DESCRIPTION: Final = "speak.json"


class Shipped:
    """The files in `folder`, the package's own when None. Raises ModelError for one that is missing, or not as described."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder: Traversable = folder or resources.files("voiceagent.judgment.classifier") / "weights"
        try:
            described = json.loads(self._read(DESCRIPTION))
            heads = tuple(described["heads"])
            self._sums: dict[str, str] = dict(described["sha256"])
            self.temperatures = _spread(described["temperatures"])
            self.lexical_temperatures = _spread(described["lexical_temperatures"])
        except (ValueError, KeyError, TypeError, IndexError):
            raise ModelError(f"the speak model's {DESCRIPTION} is damaged: install the package again") from None
        if heads != (*NAMES, "directness"):
            raise ModelError(f"{DESCRIPTION} describes other heads than this version asks for: install the package again")

    def file(self, name: str) -> bytes:
        """A file whose sum is the described one."""
        data = self._read(name)
        if hashlib.sha256(data).hexdigest() != self._sums.get(name):
            raise ModelError(f"{name} is not the file that {DESCRIPTION} describes: install the package again")
        return data

    def lines(self, name: str) -> list[str]:
        """A text file by its lines."""
        return self.file(name).decode("utf-8").splitlines()

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except OSError as error:
            raise ModelError(f"the speak model's {name} is missing: install the package again") from error


def _spread(temperatures: list[float]) -> NDArray[np.float32]:
    """One temperature for each logit: the yes/no heads', then directness's for each level."""
    return np.array([*temperatures[: len(NAMES)], *[temperatures[-1]] * LEVELS], dtype=np.float32)
