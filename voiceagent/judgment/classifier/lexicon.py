"""The tables of words: what a word or a phrase does in a turn, for each language, and which language a text is in."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from voiceagent.judgment.classifier.names import plain

LANGUAGES: Final = ("en", "fr", "es")
"""The languages that the turn's features are made for."""

_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class Lexicon:
    """One language's concepts: sets of single words, and patterns of words and phrases."""

    def __init__(self, tables: Mapping[str, Iterable[str]]) -> None:
        self._words = {name: frozenset(entry for entry in entries if " " not in entry) for name, entries in tables.items()}
        self._patterns = {
            name: re.compile(rf"(?<!\S)(?:{'|'.join(sorted(map(re.escape, entries), key=len, reverse=True))})(?!\S)")
            for name, entries in tables.items()
        }

    def has(self, concept: str, word: str) -> bool:
        """Whether a plain word is one of a concept's."""
        return word in self._words[concept]

    def count(self, concept: str, text: str) -> int:
        """How often a concept's words and phrases stand in `text`, plain words with single spaces."""
        return len(self._patterns[concept].findall(text))

    def whole(self, concept: str, text: str) -> bool:
        """Whether `text` is made of nothing but a concept's words and phrases."""
        return bool(text) and not self.without(concept, text)

    def without(self, concept: str, text: str) -> str:
        """What is left of `text` when a concept's words and phrases are taken out."""
        return self._patterns[concept].sub("", text).strip()


@cache
def lexicon(language: str) -> Lexicon:
    """The tables of one of LANGUAGES."""
    tables = tomllib.loads(_data(f"{language}.toml"))
    return Lexicon({name: [str(entry) for entry in entries] for name, entries in tables.items()})


@cache
def common_words() -> frozenset[str]:
    """Plain words so common that none is taken for a name misheard."""
    words = set(_data("common.txt").split())
    for profile in profiles().values():
        words.update(plain(word) for word in profile.words)
    for language in LANGUAGES:
        for entries in tomllib.loads(_data(f"{language}.toml")).values():
            words.update(word for entry in entries for word in entry.split() if word not in ("nova", "novas"))
    return frozenset(words)


@cache
def small_words() -> frozenset[str]:
    """Words that two turns may share without being about the same thing."""
    return frozenset(_data("small.txt").split())


@dataclass(frozen=True, slots=True)
class Profile:
    """What tells a language: its names in several languages, frequent words, letters of its own, a script."""

    names: frozenset[str]
    words: frozenset[str]
    letters: frozenset[str]
    script: str


@cache
def profiles() -> Mapping[str, Profile]:
    """The languages that can be told apart, by their codes."""
    return {
        code: Profile(
            frozenset(table["names"]),
            frozenset(table.get("words", "").split()),
            frozenset(table.get("letters", "")),
            table.get("script", ""),
        )
        for code, table in tomllib.loads(_data("languages.toml")).items()
    }


def points(text: str, code: str) -> float:
    """How much in `text` speaks for a language: a point a frequent word, three a word in its script, some for its own letters."""
    profile = profiles()[code]
    small = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    words = _TOKEN.findall(small)
    found = sum(1.0 for word in words if word in profile.words or word.split("'")[0] + "'" in profile.words)
    found += sum(0.7 for word in words if "'" in word and word.split("'")[0] in profile.words)
    if profile.script:
        found += sum(3.0 for word in words if unicodedata.name(word[0], "").startswith(profile.script))
    return found + sum(0.7 for c in small if c in profile.letters) * (1.0 if code != "en" else 0.3)


def spoken(texts: Iterable[str]) -> str:
    """Which of LANGUAGES the texts are in, the first one weighing most; English when nothing tells."""
    scores = dict.fromkeys(LANGUAGES, 0.0)
    scores["en"] = 0.1
    for place, text in enumerate(texts):
        for code in LANGUAGES:
            scores[code] += points(text, code) / (1.0 + 0.5 * place)
    return max(scores, key=lambda code: scores[code])


def _data(name: str) -> str:
    return (resources.files("voiceagent.judgment.classifier") / "words" / name).read_text(encoding="utf-8")
