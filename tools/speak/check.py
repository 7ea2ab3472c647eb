"""Checks files of labelled turns: every line has the right shape, and its labels lead to the mode that it expects.

python tools/speak/check.py tools/speak/written/*.jsonl
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

YES_NO = {
    "deferred", "unfinished", "hush", "request", "answered", "listen_request",
    "asked_me", "lift", "answers", "corrects", "waiting", "resume",
}  # fmt: skip
FIELDS = {"id", "agent", "people", "history", "last", "expected", "labels", "tags", "language", "listening", "cut", "thought"}


def problems(row: dict[str, Any]) -> list[str]:
    """What is wrong with one line; nothing when it is fine."""
    found = [f"unknown field {name}" for name in row.keys() - FIELDS]
    found += [f"missing field {name}" for name in FIELDS - {"listening", "cut", "thought"} - row.keys()]
    if found:
        return found
    labels = row["labels"]
    found += [f"unknown label {name}" for name in labels.keys() - YES_NO - {"directness"}]
    found += [f"label {name} is not 0 or 1" for name in labels.keys() & YES_NO if labels[name] not in (0, 1)]
    if labels.get("directness", 0) not in (0, 1, 2, 3):
        found.append("directness is not 0, 1, 2 or 3")
    if row["expected"] not in ("speak", "offer", "silent"):
        found.append("expected is none of speak, offer, silent")
    if row["language"] not in ("en", "fr", "es"):
        found.append("language is none of en, fr, es")
    if row["last"]["speaker"] not in row["people"]:
        found.append("the last speaker is not among the people")
    if "listening" in row and "listen_request" in labels:
        found.append("listen_request is not asked in a listening room")
    if "listening" not in row and {"asked_me", "lift"} & labels.keys():
        found.append("asked_me and lift are asked in a listening room only")
    if not found and composed(row) != row["expected"]:
        found.append(f"the labels lead to {composed(row)!r}, not {row['expected']!r}")
    return found


def composed(row: dict[str, Any]) -> str:
    """The mode that the labels lead to by the rules of the speak policy."""
    labels = row["labels"]
    held = any(labels.get(name) for name in ("unfinished", "deferred", "hush"))
    if "listening" in row and not labels.get("lift"):
        return "speak" if labels.get("asked_me") and labels.get("directness", 0) >= 2 and not held else "silent"
    stopped = labels.get("hush") or labels.get("unfinished")
    if "cut" in row and labels.get("resume") and not stopped and not labels.get("listen_request"):
        return "speak"
    return "silent" if held or labels.get("listen_request") else invited(row)


def invited(row: dict[str, Any]) -> str:
    """The mode when nothing holds the agent back: whether it is addressed, wondered about, or has something to add."""
    labels = row["labels"]
    directness = labels.get("directness", 0)
    alone = len(row["people"]) == 1
    if labels.get("answered") or directness >= 2 or (labels.get("request") and (alone or directness >= 1)):
        return "speak"
    useful = labels.get("answers") or labels.get("corrects")
    if directness >= 1:
        return "speak" if useful else "offer"
    return "offer" if useful else "silent"


def main(paths: list[str]) -> int:
    """Reports on each file; 1 when a line is wrong."""
    wrong = 0
    for path in map(Path, paths):
        ids: Counter[str] = Counter()
        modes: Counter[str] = Counter()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                found = problems(row)
            except (ValueError, KeyError, TypeError) as error:
                found, row = [f"cannot be read: {error!r}"], {}
            ids[str(row.get("id"))] += 1
            modes[f"{row.get('language')}/{row.get('expected')}"] += 1
            wrong += bool(found)
            for problem in found:
                print(f"{path}:{number}: {problem}")
        twice = [name for name, count in ids.items() if count > 1]
        if twice:
            wrong += 1
            print(f"{path}: ids that stand twice: {', '.join(twice[:5])}")
        print(f"{path}: {sum(modes.values())} turns, {dict(sorted(modes.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
