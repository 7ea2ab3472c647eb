"""Makes labelled turns from the phrase banks: scenarios in three languages, with the noise of recognised speech.

    python -m tools.speak.generate --count 24000 --seed 7 --out out/speak/generated.jsonl [--held-out]

A fifth of every bank's phrases is held out: they make the turns of `--held-out` and no others.
"""

import argparse
import json
import random
import zlib
from pathlib import Path
from typing import Any

from tools.speak.noise import noisy
from tools.speak.room import Room
from tools.speak.scenarios import SCENARIOS

BANKS = Path(__file__).with_name("banks")
LANGUAGES = {"en": 0.5, "fr": 0.27, "es": 0.23}


class Bank:
    """One language's phrases by what they do; of each list either the four fifths to train on, or the fifth held out."""

    def __init__(self, language: str, *, held_out: bool) -> None:
        lists: dict[str, list[str]] = {}
        name = ""
        for line in (BANKS / f"{language}.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                name = line[3:]
                lists[name] = []
            elif line.strip():
                lists[name].append(line.strip())
        self._lists = {name: _part(phrases, held_out=held_out) for name, phrases in lists.items()}

    def phrases(self, name: str) -> list[str]:
        """A list of phrases; never empty."""
        return self._lists[name]


def _part(phrases: list[str], *, held_out: bool) -> list[str]:
    """A fifth of the phrases, told by their letters, one at least; or the others."""
    fifth = [phrase for phrase in phrases if zlib.crc32(phrase.encode()) % 5 == 0] or phrases[:1]
    return fifth if held_out else [phrase for phrase in phrases if phrase not in fifth]


def generated(count: int, seed: int, *, held_out: bool = False) -> list[dict[str, Any]]:
    """`count` labelled turns, the same ones for the same seed."""
    random_ = random.Random(seed)
    banks = {language: Bank(language, held_out=held_out) for language in LANGUAGES}
    names, weights = list(SCENARIOS), [SCENARIOS[name][1] for name in SCENARIOS]
    rows: list[dict[str, Any]] = []
    while len(rows) < count:
        language = random_.choices(list(LANGUAGES), list(LANGUAGES.values()))[0]
        scenario = random_.choices(names, weights)[0]
        row = SCENARIOS[scenario][0](Room(random_, banks[language], language))
        if row is not None:
            rows.append(noisy({"id": f"gen-{len(rows):06d}", "tags": [scenario], **row}, random_))
    return rows


def main() -> None:
    """Writes the turns to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=24_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", encoding="utf-8") as file:
        for row in generated(given.count, given.seed, held_out=given.held_out):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
