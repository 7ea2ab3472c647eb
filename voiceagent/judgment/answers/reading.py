"""An utterance or an option as the matcher compares them: words without accents and endings, figures as digits, in clauses."""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Final

from text_to_num import alpha2digit

from voiceagent.judgment.answers.lexicon import LEXICONS, Lexicon, lexicon

_HOUR: Final = re.compile(r"(?<=\d)[:h.]00\b")
_CLOCK: Final = re.compile(r"(?<=\d)[:h.](?=\d\d\b)")
_CLAUSES: Final = re.compile(r"[.,;:!?¿¡—–()\n]+|\s-\s")
_WORD: Final = re.compile(r"est-ce|[a-z]+|\d+[a-z]*")
_ENDINGS: Final = {"en": ("ing", "est", "er", "ed", "es", "s", "e"), "fr": ("s", "x"), "es": ("s",)}
_SHORTEST: Final = 4


@dataclass(frozen=True, slots=True)
class Clause:
    """One stretch of what was said. `taken_back`: a word before it takes back what was said earlier; `denied`: a "no" right
    before or behind it says that it is not so."""

    words: tuple[str, ...]
    taken_back: bool = False
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """What was said, in clauses; `asks`: it is a question by its words, `rises`: by its mark alone."""

    clauses: tuple[Clause, ...]
    asks: bool
    rises: bool

    @property
    def words(self) -> tuple[str, ...]:
        """All of them in order."""
        return tuple(word for clause in self.clauses for word in clause.words)


def tokens(text: str, language: str) -> tuple[str, ...]:
    """The words of a text in one row: casefolded, without accents, numbers above three and times of day in figures."""
    return tuple(word for row in _rows(text, language) for word in row)


def said(text: str, language: str) -> Said:
    """An utterance in clauses, which end at punctuation, at words that break off, and at those that take back."""
    words = lexicon(language)
    clauses: list[Clause] = []
    asks = False
    for row in _rows(text, language):
        asks = asks or (row[:1] != () and row[0] in words.asking and row[1:2] != ("not",))
        clauses += _broken(row, words)
    return Said(tuple(clauses), asks, text.rstrip().endswith("?"))


def stem(word: str, language: str) -> str:
    """A word without its ending, as far as a few rules go."""
    for ending in _ENDINGS.get(language[:2], ("s",)):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - 1 and not word[0].isdigit():
            return word.removesuffix(ending)
    return word


def _rows(text: str, language: str) -> list[tuple[str, ...]]:
    words = lexicon(language)
    code = language[:2].casefold()
    text = text.casefold().replace("’", "'")
    text = alpha2digit(text, code if code in LEXICONS else "en")
    text = _CLOCK.sub(" ", _HOUR.sub("", text))
    for short, whole in words.contractions:
        text = text.replace(short, whole)
    text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return [tuple(_timed(_WORD.findall(part), words)) for part in _CLAUSES.split(text) if part.strip()]


def _timed(row: list[str], words: Lexicon) -> list[str]:
    """Times of day in figures, small figures in words, and words that are another's equal as that one."""
    row = [words.alike.get(word, word) for word in row]
    at = 0
    while at < len(row):
        for phrase, figures in words.times:
            piece = row[at : at + len(phrase)]
            number = _number(piece, phrase, words)
            if number is not None:
                row[at : at + len(phrase)] = figures.replace("#", number).split()
                break
        at += 1
    return [words.figures.get(word, word) for word in row]


def _number(piece: list[str], phrase: tuple[str, ...], words: Lexicon) -> str | None:
    """The number in a piece that is this phrase."""
    if len(piece) != len(phrase):
        return None
    for word, wanted in zip(piece, phrase, strict=True):
        if wanted == "#" and not (word.isdigit() or word in words.figures.values()):
            return None
        if wanted not in ("#", word):
            return None
    return piece[phrase.index("#")]


def _broken(row: tuple[str, ...], words: Lexicon) -> list[Clause]:
    clauses: list[Clause] = []
    piece: list[str] = []
    taken_back = False
    for word in row:
        if word in words.marks or word in words.breaks:
            if piece:
                clauses.append(Clause(tuple(piece), taken_back))
                piece, taken_back = [], False
            taken_back = taken_back or word in words.marks
            if word not in words.no:
                continue
        piece.append(word)
    if piece or taken_back:
        clauses.append(Clause(tuple(piece), taken_back))
    return [_denied(clause, clauses[place + 1 :], words) for place, clause in enumerate(clauses)]


def _denied(clause: Clause, after: list[Clause], words: Lexicon) -> Clause:
    """With what a "no" of the same breath does to it: "no Monday", and "Monday no" where nothing else follows."""
    before = len(clause.words) > 1 and clause.words[0] in words.no
    behind = len(after) == 1 and bool(after[0].words) and words.no.issuperset(after[0].words)
    return replace(clause, denied=True) if before or behind else clause
