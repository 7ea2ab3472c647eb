"""A notes file read into facts: Markdown headings, bullets, paragraphs and Q/A pairs, each fact spoken as it is written."""

import re
from dataclasses import dataclass
from pathlib import Path

from voiceagent.errors import LanguageModelError

MAX_BYTES = 512 * 1024
MAX_FACTS = 2000

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$")
_QUESTION = re.compile(r"^(?:\*\*)?Q(?:uestion)?\s*:(?:\*\*)?\s*(.*)$", re.IGNORECASE)
_ANSWER = re.compile(r"^(?:\*\*)?A(?:nswer)?\s*:(?:\*\*)?\s*(.*)$", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.])[*_](?!\w)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the notes say. `text` is what is spoken; `cues` are the texts it is found by, `heading` where it stands."""

    text: str
    cues: tuple[str, ...]
    heading: str


@dataclass(frozen=True, slots=True)
class Notes:
    """A whole file: its title (`my notes` when the file has none), its headings in order, its facts."""

    title: str
    headings: tuple[str, ...]
    facts: tuple[Fact, ...]


def read(path: Path) -> Notes:
    """The notes in a UTF-8 Markdown file of at most 512 KiB. Raises LanguageModelError, naming the file and its fault."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LanguageModelError(f"notes file {path}: larger than {MAX_BYTES // 1024} KiB", category="notes")
        raw = path.read_bytes()
    except OSError as error:
        raise LanguageModelError(f"notes file {path}: {error.strerror or 'cannot be read'}", category="notes") from error
    if b"\0" in raw:
        raise LanguageModelError(f"notes file {path}: binary, not Markdown text", category="notes")
    try:
        notes = parse(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LanguageModelError(f"notes file {path}: not UTF-8 text (byte {error.start})", category="notes") from error
    if not notes.facts:
        raise LanguageModelError(f"notes file {path}: holds no facts; write bullets, paragraphs or Q:/A: pairs", category="notes")
    if len(notes.facts) > MAX_FACTS:
        raise LanguageModelError(f"notes file {path}: more than {MAX_FACTS} facts", category="notes")
    return notes


def parse(text: str) -> Notes:
    """Notes from Markdown. The first heading of level one is the title; a paragraph or bullet may run over several lines."""
    reader = _Reader()
    for line in _COMMENT.sub("", text).splitlines():
        reader.line(line)
    reader.close()
    return Notes(reader.title or "my notes", tuple(dict.fromkeys(reader.headings)), tuple(reader.facts))


def sentences(text: str) -> list[str]:
    """A fact's sentences, in order."""
    return [part for part in _SENTENCE.split(text) if part]


class _Reader:
    """Reads line by line; a block is closed by an empty line, a heading, a bullet or a Q."""

    def __init__(self) -> None:
        self.title = ""
        self.headings: list[str] = []
        self.facts: list[Fact] = []
        self._heading = ""
        self._lines: list[str] = []
        self._questions: list[str] = []
        self._answering = False

    def line(self, line: str) -> None:
        bare = line.strip()
        heading, bullet = _HEADING.match(bare), _BULLET.match(line)
        question, answer = _QUESTION.match(bare), _ANSWER.match(bare)
        if heading:
            self.close()
            self._enter(len(heading[1]), _plain(heading[2]))
        elif not bare or set(bare) <= set("-=*_| "):
            self._end_block()
        elif question:
            if self._answering:
                self.close()
            self._flush_text()
            self._questions.append(_plain(question[1]))
        elif answer and self._questions:
            self._answering = True
            self._lines = [answer[1]]
        elif bullet:
            self.close()
            self._lines = [bullet[1]]
        else:
            self._lines.append(bare)

    def close(self) -> None:
        """Ends the open block; questions without an answer are dropped."""
        self._flush_text()
        self._questions = []
        self._answering = False

    def _end_block(self) -> None:
        if self._answering or not self._questions:
            self.close()

    def _enter(self, level: int, name: str) -> None:
        if level == 1 and not self.title:
            self.title = name
            return
        self._heading = name
        self.headings.append(name)

    def _flush_text(self) -> None:
        text = _plain(" ".join(self._lines))
        self._lines = []
        if not any(letter.isalnum() for letter in text):
            return
        if self._questions and self._answering:
            self.facts.append(Fact(text, (*self._questions, text), self._heading))
        elif not self._questions:
            parts = sentences(text)
            self.facts.extend(
                Fact(spoken, tuple(dict.fromkeys([spoken, *sentences(spoken)])), self._heading) for spoken in _blocks(parts)
            )


def _blocks(parts: list[str]) -> list[str]:
    """A short paragraph is one fact; a long one is cut, so that an answer stays short enough to listen to."""
    blocks: list[str] = []
    for part in parts:
        if blocks and len(blocks[-1]) + len(part) < 240:
            blocks[-1] = f"{blocks[-1]} {part}"
        else:
            blocks.append(part)
    return blocks


def _plain(text: str) -> str:
    text = _MARKS.sub("", _LINK.sub(r"\1", text))
    return re.sub(r"\s+", " ", text).strip()
