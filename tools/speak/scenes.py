"""Reads scenes: dialogues in plain text, of which every turn of a person is a labelled turn with the talk before it.

    = Nova | Petra, Gus | en | cooking
    Petra: turn it down, it's catching  # - 0
    Gus: Nova how long do these need  # s 3 req
    Nova: About eight minutes.
    > cut 1.5: Turn them once and then leave them to
    Gus: mm-hm  # s 0 res

After `#` stand the mode (s, o, -), the directness and the judgments that hold; `?req` leaves one out as unclear, `# ~` the
whole turn. `> listening NAME: TEXT` tells of a request to only listen made before, `> thought: MIND | WISH [| urgent]` what the
agent has in mind until `> thought:`, `> cut SECONDS: TEXT` what the next turn cut off.

    python -m tools.speak.scenes FILE.txt > FILE.jsonl
"""

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]

MODES: Final = {"s": "speak", "o": "offer", "-": "silent"}
FLAGS: Final = {
    "req": "request", "def": "deferred", "unf": "unfinished", "hush": "hush", "ans": "answered", "listen": "listen_request",
    "asked": "asked_me", "lift": "lift", "answers": "answers", "corrects": "corrects", "wait": "waiting", "res": "resume",
}  # fmt: skip
ALWAYS: Final = ("request", "deferred", "unfinished", "hush", "answered")
_TURN: Final = re.compile(r"^(?P<who>[^:#>=]+?):\s*(?P<text>.*?)(?:\s*#\s*(?P<marks>[^#]*))?$")
_CUT: Final = re.compile(r"^cut\s+(?P<seconds>[\d.]+)\s*:\s*(?P<text>.+)$")


class SceneError(ValueError):
    """A line of a scene that cannot be read: which, and why."""


@dataclass(slots=True)
class _Scene:
    """What holds at a place in a scene."""

    agent: str
    people: list[str]
    language: str
    tag: str
    history: list[dict[str, str]] = field(default_factory=list)
    listening: dict[str, str] | None = None
    thought: dict[str, Any] | None = None
    cut: dict[str, Any] | None = None

    def told(self, directive: str) -> None:
        """Takes in a line that begins with `>`."""
        kind, _, rest = directive.partition(":")
        if (found := _CUT.match(directive)) is not None:
            self.cut = {"text": found["text"], "played_ms": round(float(found["seconds"]) * 1000)}
            self.history.append({"speaker": self.agent, "text": found["text"]})
        elif kind.strip() == "thought":
            parts = [part.strip() for part in rest.split("|")]
            wish = parts[1] if len(parts) > 1 else parts[0]
            self.thought = {"text": parts[0], "want_to_say": [wish], "urgent": "urgent" in parts[2:]} if parts[0] else None
        elif kind.split()[0] == "listening":
            self.listening = {"speaker": kind.split(maxsplit=1)[1].strip(), "text": rest.strip()}
        else:
            raise SceneError(f"'> {directive}' is none of listening, thought, cut")

    def turn(self, who: str, text: str, marks: str | None) -> Row | None:
        """Takes in somebody's turn; the labelled turn, when a person's and clear."""
        said = {"speaker": who, "text": text}
        row = None
        if marks is None and who != self.agent:
            raise SceneError("a person's turn without '# mode directness flags'")
        if marks is not None and who not in self.people:
            raise SceneError(f"{who} is not among {', '.join(self.people)}")
        if marks is not None and marks.strip() != "~":
            row = self._row(said, marks.split())
        self.history = [*self.history, said]
        self.cut = None
        if row is not None and row["labels"].get("listen_request"):
            self.listening = said
        if row is not None and row["labels"].get("lift"):
            self.listening = None
        return row

    def _row(self, said: dict[str, str], marks: list[str]) -> Row:
        if len(marks) < 2 or marks[0] not in MODES or marks[1] not in ("0", "1", "2", "3", "?"):
            raise SceneError(f"'# {' '.join(marks)}': give the mode (s, o, -), the directness (0 to 3), flags")
        return {
            "agent": self.agent, "people": list(self.people), "history": self.history[-6:], "last": said,
            "expected": MODES[marks[0]], "labels": self._labels(marks[1], marks[2:]), "tags": [self.tag],
            "language": self.language,
            **({"listening": self.listening} if self.listening else {}),
            **({"thought": self.thought} if self.thought else {}), **({"cut": self.cut} if self.cut else {}),
        }  # fmt: skip

    def _labels(self, directness: str, flags: list[str]) -> dict[str, int]:
        unknown = [flag for flag in flags if flag.removeprefix("?") not in FLAGS]
        if unknown:
            raise SceneError(f"unknown flag {unknown[0]}; there are {', '.join(FLAGS)}")
        asked = [*ALWAYS, *(("asked_me", "lift") if self.listening else ("listen_request",))]
        asked += ["answers", "corrects", "waiting"] if self.thought else []
        asked += ["resume"] if self.cut else []
        labels = dict.fromkeys(asked, 0)
        for flag in flags:
            name = FLAGS[flag.removeprefix("?")]
            if name not in labels:
                raise SceneError(f"{flag} is not asked here: it needs a listening room, a thought or a cut")
            if flag.startswith("?"):
                del labels[name]
            else:
                labels[name] = 1
        if labels.get("waiting") and not (labels.get("answers") or labels.get("corrects")):
            labels = {name: label for name, label in labels.items() if name not in ("answers", "corrects")}
        return labels if directness == "?" else {"directness": int(directness), **labels}


def _opened(header: str) -> _Scene:
    parts = [part.strip() for part in header.split("|")]
    if len(parts) != 4 or parts[2] not in ("en", "fr", "es"):
        raise SceneError("a scene begins '= agent | people | en, fr or es | tag'")
    return _Scene(parts[0], [name.strip() for name in parts[1].split(",")], parts[2], parts[3])


def read_scenes(path: Path) -> list[Row]:
    """The labelled turns of a file of scenes, named after the file and the line. SceneError tells of all unreadable lines."""
    rows: list[Row] = []
    wrong: list[str] = []
    scene: _Scene | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        try:
            if text.startswith("="):
                scene = _opened(text[1:])
            elif text and scene is not None:
                row = _taken(scene, text)
                rows += [] if row is None else [{"id": f"{path.stem}-{number}", **row}]
        except SceneError as error:
            wrong.append(f"{path.name}:{number}: {error}")
    if wrong:
        raise SceneError("\n".join(wrong))
    return rows


def _taken(scene: _Scene, text: str) -> Row | None:
    if text.startswith(">"):
        scene.told(text[1:].strip())
        return None
    found = _TURN.match(text)
    if found is None:
        raise SceneError("neither a turn 'Name: words  # marks' nor a line that begins with = or >")
    return scene.turn(found["who"].strip(), found["text"].strip(), found["marks"])


if __name__ == "__main__":
    for labelled in read_scenes(Path(sys.argv[1])):
        print(json.dumps(labelled, ensure_ascii=False))
