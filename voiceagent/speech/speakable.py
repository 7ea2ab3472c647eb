"""Text made fit to be read out: marks nobody says are removed, numbers and signs become the words people say."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from voiceagent.speech.english import dotted, english

_UNSAID: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})
"""Unicode categories of characters that nobody says: controls, formats, surrogates, private, unassigned, pictures."""

_MARKS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?<=\d) ?\* ?(?=\d)"), " times "),
    (re.compile(r"```[^`]*(?:`{1,2}[^`]+)*(?:```|\Z)"), " "),
    (re.compile(r"`([^`\n]*)`"), r"\1"),
    (re.compile(r"!?\[([^\[\]]{0,1000})\]\([^()\s]{0,2000}(?:\s[^()]{0,500})?\)"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,500}>"), " "),
    (re.compile(r"^(?=[^\n]*[-*_=])[ \t:|*_=-]+$", re.MULTILINE), " "),
    (re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE), r"\1."),
    (re.compile(r"^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*>[ \t]*", re.MULTILINE), ""),
    (re.compile(r"\*+|~~|(?<!\w)_+|_+(?!\w)"), ""),
)
_URL: Final = re.compile(
    r"(?:https?://|(?=www\.))(?:www\.)?([A-Za-z0-9.-]{1,253})(?::\d+)?(?:[/?#](?:[^\s<>\"]*[^\s<>\".,;:!?)\]])?)?"
)
_LEFT_OVER: Final = re.compile(r"[*_`#~^\\<>{}\[\]|]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language says what is written in figures and signs, and the name of a host."""

    words: Callable[[str], str]
    host: Callable[[str], str]


_SPELLINGS: Final = {"en": Spelling(english, dotted)}
"""By two-letter code; numbers of other languages are left to the voice."""

_AS_IT_IS: Final = Spelling(str, str)


def speakable(text: str, language: str = "en") -> str:
    """What a person would say who reads `text` out; empty when nothing of it can be said.

    Markdown marks, code blocks, emoji, control and direction characters go; a link becomes its words, a URL its host. In
    English, numbers, money, times, dates, units and common abbreviations are spelled out; in other languages they are left
    to the voice.
    """
    spelling = _SPELLINGS.get(language[:2].lower(), _AS_IT_IS)
    said = _visible(text)
    for pattern, replacement in _MARKS:
        said = pattern.sub(replacement, said)
    said = _URL.sub(lambda match: _host(match[1], spelling), said)
    said = _LEFT_OVER.sub(" ", spelling.words(said))
    return _tidy(said) if any(char.isalnum() for char in said) else ""


def _visible(text: str) -> str:
    """`text` without control, direction, joining and private characters, emoji and other pictures; degree signs stay."""
    return "".join(
        char if char in "\n°" else " " if char.isspace() else "" if _unsaid(char) else char
        for char in unicodedata.normalize("NFC", text)
    )


def _unsaid(char: str) -> bool:
    category = unicodedata.category(char)
    return (category in _UNSAID and char not in "`^") or 0xFE00 <= ord(char) <= 0xFE0F


def _host(host: str, spelling: Spelling) -> str:
    return spelling.host(host.strip(".-")) + ("." if host.endswith(".") else "")


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" +([,.;:!?)])", r"\1", text)
    text = re.sub(r"[,;:]+(?=[.!?])|(?<=[.!?,;:])[,;:]+", "", text)
    text = re.sub(r"\(\s*\)|\"\s*\"", "", text)
    return text.strip(" ,;:-–—")
