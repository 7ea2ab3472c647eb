"""Labelled turns as the model reads them: ids, features and labels, with the writers kept apart."""

import fnmatch
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.speak.scenes import read_scenes
from voiceagent.judgment.classifier.encoding import Encoder
from voiceagent.judgment.classifier.features import features
from voiceagent.judgment.classifier.heads import LEVELS, NAMES
from voiceagent.judgment.classifier.lexicon import common_words
from voiceagent.judgment.classifier.view import View, view

HERE = Path(__file__).parent
WRITTEN = HERE / "written"
UNKNOWN = -1

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """One turn: token ids and kinds, features, 0/1/UNKNOWN for each yes/no head, the level of directness or UNKNOWN."""

    ids: NDArray[np.int64]
    kinds: NDArray[np.int64]
    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    directness: int


def read(path: Path) -> list[Row]:
    """The labelled turns of a file: JSON lines, or scenes (`.txt`)."""
    if path.suffix == ".txt":
        return read_scenes(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def blind(name: str) -> bool:
    """Whether a writer's turns are kept for judging alone."""
    lines = (HERE / "blind.txt").read_text(encoding="utf-8").splitlines()
    patterns = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def writers(*, blind_ones: bool) -> list[Path]:
    """The files of the writers that are trained on, or of the others."""
    return [path for path in sorted((*WRITTEN.glob("*.jsonl"), *WRITTEN.glob("*.txt"))) if blind(path.stem) is blind_ones]


def state(row: Row) -> dict[str, Any]:
    """A row as the speak policy tells a classifier about it."""
    agent: dict[str, Any] = {"name": row["agent"]}
    if "listening" in row:
        agent["listening_only"] = row["listening"]
    told = {"agent": agent, "people": row["people"], "recent_turns": row["history"][-6:], "last_turn": row["last"]}
    if row.get("thought", {}).get("want_to_say"):
        told["assistant_thought"] = row["thought"]
    if "cut" in row and "listening" not in row:
        told["assistant_cut_off"] = {"was_saying": row["cut"]["text"][-600:], "heard_seconds": row["cut"]["played_ms"] / 1000}
    return told


def viewed(row: Row) -> View:
    """A row as the classifier sees it."""
    return view(state(row), common_words())


def example(row: Row, encoder: Encoder) -> Example:
    """A row ready for the model."""
    seen = viewed(row)
    encoded = encoder.encode(seen)
    labels = np.array([row["labels"].get(name, UNKNOWN) for name in NAMES], dtype=np.int64)
    level = row["labels"].get("directness", UNKNOWN)
    assert -1 <= level < LEVELS, level
    return Example(encoded.ids[0], encoded.kinds[0], features(seen), labels, int(level))


def examples(rows: Iterable[Row], encoder: Encoder) -> list[Example]:
    """Rows ready for the model."""
    return [example(row, encoder) for row in rows]
