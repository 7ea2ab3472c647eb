"""What recognising speech does to a turn: small letters, no signs, lost apostrophes, fillers, names misheard."""

import random
import re
from typing import Any

FILLERS = {
    "en": ["um", "uh", "well", "so", "like", "you know", "I mean", "okay"],
    "fr": ["euh", "ben", "bon", "alors", "enfin", "du coup"],
    "es": ["eh", "pues", "bueno", "este", "o sea", "a ver"],
}


def noisy(row: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The same turn as a recogniser may write it; now and then as it was."""
    manner = rng.choices(("written", "bare", "lower"), (0.5, 0.38, 0.12))[0]
    last = dict(row["last"])
    if rng.random() < 0.12:
        last["text"] = _filled(last["text"], row["language"], rng)
    if rng.random() < 0.07:
        last["text"] = re.sub(rf"\b{re.escape(row['agent'])}\b", misheard(row["agent"], rng), last["text"])
    last["text"] = as_heard(last["text"], manner, rng)
    other = rng.choice(("written", manner, manner))
    history = [{**turn, "text": as_heard(turn["text"], other, rng)} for turn in row["history"]]
    return {**row, "last": last, "history": history}


def as_heard(text: str, manner: str, rng: random.Random) -> str:
    """`text` as written, in small letters, or bare: small letters without signs, some apostrophes lost."""
    if manner == "written":
        return text if text[:1].isupper() or rng.random() < 0.4 else text[:1].upper() + text[1:] + _closed(text, rng)
    text = text.lower()
    if manner == "bare":
        text = re.sub(r"[^\w\s'’-]", " ", text)
        if rng.random() < 0.3:
            text = re.sub(r"['’]", rng.choice(("", " ")), text)
    return " ".join(text.split())


def misheard(name: str, rng: random.Random) -> str:
    """A name with one vowel changed, a letter put after it, doubled, or in two words."""
    vowels = [i for i, c in enumerate(name) if c.lower() in "aeiou"]
    kind = rng.randrange(4)
    if kind == 0 and vowels:
        place = rng.choice(vowels)
        return name[:place] + rng.choice("aeiou") + name[place + 1 :]
    if kind == 1:
        return name + rng.choice(("r", "h", "s"))
    if kind == 2 and len(name) > 3:
        return f"{name[:2]} {name[2:]}"
    return name[:2] + name[1:2] + name[2:]


def _closed(text: str, rng: random.Random) -> str:
    if text[-1:] in ".?!…,":
        return ""
    return "." if rng.random() < 0.5 else ""


def _filled(text: str, language: str, rng: random.Random) -> str:
    words = text.split()
    words.insert(rng.randrange(0, max(1, len(words))), rng.choice(FILLERS[language]))
    return " ".join(words)
