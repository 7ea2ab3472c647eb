"""How far a second reader agrees with the writers: somebody who was shown the turns of a blind writer without labels.

A line of `second_reader/*.txt`: a turn's id and s, o, - or ? (people would really disagree).
"""

from pathlib import Path
from typing import Final

from tools.speak.data import WRITTEN, Row, read
from tools.speak.scenes import MODES

SECOND: Final = Path(__file__).with_name("second_reader")


def readings(path: Path) -> dict[str, str]:
    """The second reader's mode of each turn by its id; "unclear" for a question mark."""
    pairs = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return {turn: MODES.get(mark, "unclear") for turn, mark in pairs}


def table() -> list[str]:
    """A row for each writer who was read again, as if the second reader had been a classifier; silent where unclear."""
    lines = ["| writer | turns | same mode | false-speak | missed-speak | called unclear |", "|---|---:|---:|---:|---:|---:|"]
    for path in sorted(SECOND.glob("*.txt")):
        rows, read_as = read(WRITTEN / f"{path.stem}.jsonl"), readings(path)
        silent = [row for row in rows if row["expected"] == "silent"]
        spoken = [row for row in rows if row["expected"] == "speak"]
        figures = (
            _share([read_as[row["id"]] == row["expected"] for row in rows]),
            _share([read_as[row["id"]] == "speak" for row in silent]),
            _share([read_as[row["id"]] in ("silent", "unclear") for row in spoken]),
            _share([read_as[row["id"]] == "unclear" for row in rows]),
        )
        lines.append(f"| {path.stem} | {len(rows)} | {' | '.join(figures)} |")
    return lines


def clear(rows: list[Row], path: Path) -> list[Row]:
    """The turns on which writer and second reader agree."""
    read_as = readings(path)
    return [row for row in rows if read_as[row["id"]] == row["expected"]]


def _share(hits: list[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.1f} %" if hits else "-"
