"""Models that know their answers beforehand: an echo, answers from a file, and turns written by a test."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.values import JSON

_MAX_BYTES = 8 * 1024 * 1024


class EchoModel:
    """Says the last user message back, in one delta; nothing when there is none."""

    name = "echo"

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields the text and Done; never fails."""
        text = _last_user_text(prompt)
        if text:
            yield TextDelta(text)
        yield Done()


@dataclass(frozen=True, slots=True)
class CannedLine:
    """One answer. With `match` (a part of the user's text, in any case) it waits for that text and answers it once."""

    text: str
    match: str | None = None


class CannedModel:
    """Answers from a list.

    A line whose `match` occurs in the last user message answers first, once, the earliest such line winning; otherwise the next
    line without `match` does, in order. When those are used up, the last of them repeats; with none, nothing is said.

    It keeps its place in the list, so one object serves one room.
    """

    name = "canned"

    def __init__(self, lines: Iterable[CannedLine]) -> None:
        """Raises LanguageModelError when there is no line at all."""
        lines = tuple(lines)
        if not lines:
            raise LanguageModelError("canned answers: there are none", category="canned")
        self._matching = [line for line in lines if line.match is not None]
        self._ordered = [line.text for line in lines if line.match is None]
        self._place = 0

    @property
    def keeps_place(self) -> bool:
        """Whether the next request is answered otherwise than the one after it may be."""
        return bool(self._matching) or self._place < len(self._ordered) - 1

    @classmethod
    def from_file(cls, path: Path) -> "CannedModel":
        """Reads JSON lines {"text", "match"?}; empty lines are skipped. Raises LanguageModelError, naming file and line."""
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise LanguageModelError(f"canned answers {path}: larger than {_MAX_BYTES} bytes", category="canned")
            content = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise LanguageModelError(f"canned answers {path}: cannot be read as UTF-8 text", category="canned") from error
        lines = enumerate(content.split("\n"), start=1)
        parsed = [_canned_line(line, f"canned answers {path}, line {number}") for number, line in lines if line.strip()]
        if not parsed:
            raise LanguageModelError(f"canned answers {path}: there are none", category="canned")
        return cls(parsed)

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields the chosen line in one delta, and Done."""
        text = self._choose(_last_user_text(prompt).lower())
        if text:
            yield TextDelta(text)
        yield Done()

    def _choose(self, said: str) -> str:
        for line in self._matching:
            if line.match is not None and line.match.lower() in said:
                self._matching.remove(line)
                return line.text
        if not self._ordered:
            return ""
        text = self._ordered[min(self._place, len(self._ordered) - 1)]
        self._place += 1
        return text


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait of whole milliseconds on the loop's clock within a scripted turn."""

    ms: int


Step = str | Chunk | Pause | BaseException
"""A str is a TextDelta."""


class ScriptedModel:
    """Plays turns that a test wrote: each call of `stream` takes the next, the last one repeats; `prompts` keeps what was asked.

    A turn without Done at its end gets one, unless it ends by an exception. `closed` counts streams left before their end.
    """

    def __init__(self, turns: Sequence[str | Sequence[Step]], name: str = "scripted") -> None:
        """A turn is its text, or its steps."""
        self.name = name
        self.prompts: list[Prompt] = []
        self.closed = 0
        self._turns = [(turn,) if isinstance(turn, str) else tuple(turn) for turn in turns] or [()]

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields the turn's chunks; raises the exceptions that it holds."""
        steps: tuple[Step, ...] = self._turns[min(len(self.prompts), len(self._turns) - 1)]
        self.prompts.append(prompt)
        finished = False
        try:
            for step in steps:
                match step:
                    case str():
                        yield TextDelta(step)
                    case Pause():
                        await asyncio.sleep(step.ms / 1000)
                    case BaseException():
                        finished = True
                        raise step
                    case _:
                        finished = isinstance(step, Done)
                        yield step
            if not finished:
                finished = True
                yield Done()
        finally:
            self.closed += not finished


def _last_user_text(prompt: Prompt) -> str:
    return next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")


def _canned_line(line: str, where: str) -> CannedLine:
    try:
        value: JSON = json.loads(line)
    except ValueError as error:
        raise LanguageModelError(f"{where}: not JSON", category="canned") from error
    if not isinstance(value, dict) or not set(value) <= {"text", "match"}:
        raise LanguageModelError(f'{where}: must be an object with "text" and, if wanted, "match"', category="canned")
    text, match = value.get("text"), value.get("match")
    if not isinstance(text, str) or not (match is None or (isinstance(match, str) and match)):
        raise LanguageModelError(f'{where}: "text" must be a string, and "match" a string that is not empty', category="canned")
    return CannedLine(text, match)
