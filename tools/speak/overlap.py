"""How much labelled turns share with others: runs of five words in common."""

import re

from tools.speak.data import Row

RUN = 5


def words(row: Row) -> list[str]:
    """The words of a turn's last words, in small letters."""
    return re.findall(r"[^\W_]+", row["last"]["text"].lower())


def grams(rows: list[Row]) -> set[tuple[str, ...]]:
    """Every run of five words in the turns."""
    return {tuple(said[i : i + RUN]) for said in map(words, rows) for i in range(len(said) - RUN + 1)}


def shared(rows: list[Row], others: set[tuple[str, ...]]) -> int:
    """How many turns hold one of the runs."""
    return sum(any(tuple(said[i : i + RUN]) in others for i in range(len(said) - RUN + 1)) for said in map(words, rows))
