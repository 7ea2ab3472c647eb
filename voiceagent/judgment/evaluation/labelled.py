"""Labelled turns: one JSON object a line, read and checked; tools/speak/README.md gives the format."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from voiceagent.errors import ConfigError
from voiceagent.judgment.policy import MODES, Mode
from voiceagent.values import JSON

LABELS: Final = (
    "directness", "deferred", "unfinished", "hush", "request", "answered", "listen_request", "asked_me", "lift", "answers",
    "corrects", "waiting", "resume",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """Words, and who said them."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Wish:
    """What the agent has in mind: the fields of a Thought."""

    text: str
    want_to_say: tuple[str, ...]
    urgent: bool


@dataclass(frozen=True, slots=True)
class Cut:
    """The agent's answer that was cut off, and how many ms of it were heard."""

    text: str
    played_ms: int


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """One turn with the mode that is right for it, and the labels that are clear: directness 0..3, the others 0 or 1."""

    id: str
    agent: str
    people: tuple[str, ...]
    history: tuple[Said, ...]
    last: Said
    expected: Mode
    labels: Mapping[str, int]
    tags: tuple[str, ...] = ()
    language: str = ""
    listening: Said | None = None
    cut: Cut | None = None
    thought: Wish | None = None


def read_turns(path: Path) -> list[LabelledTurn]:
    """Every turn of a file. Raises ConfigError naming the file and the line that is not one, or a file with none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    turns = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            turns.append(turn_of(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}:{number}: not a labelled turn: {error}") from error
    if not turns:
        raise ConfigError(f"{path} holds no turns")
    return turns


def turn_of(value: JSON) -> LabelledTurn:
    """A turn from its JSON. Raises ValueError saying what is wrong."""
    row = _object(value, "the line")
    expected = row.get("expected")
    if expected not in MODES:
        raise ValueError(f"`expected` is none of {', '.join(MODES)}")
    mode: Mode = "speak" if expected == "speak" else "offer" if expected == "offer" else "silent"
    thought, cut = row.get("thought"), row.get("cut")
    return LabelledTurn(
        id=_text(row, "id", ""),
        agent=_text(row, "agent"),
        people=tuple(_texts(row, "people")),
        history=tuple(_said(turn, "history") for turn in _list(row, "history")),
        last=_said(row.get("last"), "last"),
        expected=mode,
        labels=_labels(row.get("labels", {})),
        tags=tuple(_texts(row, "tags")),
        language=_text(row, "language", ""),
        listening=_said(row["listening"], "listening") if row.get("listening") is not None else None,
        cut=_cut(_object(cut, "cut")) if cut is not None else None,
        thought=_wish(_object(thought, "thought")) if thought is not None else None,
    )


def _labels(value: JSON) -> Mapping[str, int]:
    labels: dict[str, int] = {}
    for name, label in _object(value, "labels").items():
        most = 3 if name == "directness" else 1
        if name not in LABELS:
            raise ValueError(f"unknown label {name!r}")
        if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label <= most:
            raise ValueError(f"label {name!r} is {label!r}, not 0..{most}")
        labels[name] = label
    return labels


def _cut(row: Mapping[str, JSON]) -> Cut:
    """Text and played_ms; also read are was_saying and heard_seconds, as classifiers are told of a cut."""
    as_told = "was_saying" in row
    played = row.get("heard_seconds" if as_told else "played_ms", 0)
    if isinstance(played, bool) or not isinstance(played, int | float) or played < 0:
        raise ValueError("how long the answer of `cut` played is not a time")
    return Cut(_text(row, "was_saying" if as_told else "text"), round(played * 1000 if as_told else played))


def _wish(row: Mapping[str, JSON]) -> Wish:
    return Wish(_text(row, "text", ""), tuple(_texts(row, "want_to_say")), row.get("urgent") is True)


def _said(value: JSON, where: str) -> Said:
    row = _object(value, where)
    return Said(_text(row, "speaker"), _text(row, "text"))


def _object(value: JSON, where: str) -> Mapping[str, JSON]:
    if not isinstance(value, dict):
        raise ValueError(f"{where if where.startswith('the') else f'`{where}`'} is not an object")
    return value


def _list(row: Mapping[str, JSON], name: str) -> Sequence[JSON]:
    value = row.get(name, [])
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is not a list")
    return value


def _texts(row: Mapping[str, JSON], name: str) -> list[str]:
    values = _list(row, name)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) != len(values):
        raise ValueError(f"`{name}` holds something that is not text")
    return texts


def _text(row: Mapping[str, JSON], name: str, default: str | None = None) -> str:
    value = row.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is missing" if value is None else f"`{name}` is not text")
    return value
