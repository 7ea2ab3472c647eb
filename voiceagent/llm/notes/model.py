"""The notes brain as a language model: reads the prompt's last turns and speaks facts as they are written, never others."""

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from voiceagent.llm.embedding import Embedder
from voiceagent.llm.model import Chunk, Done, Message, Prompt, TextDelta
from voiceagent.llm.notes import facts
from voiceagent.llm.notes.asked import Asked, asked, without_name
from voiceagent.llm.notes.finder import Finder
from voiceagent.llm.notes.manners import courtesy, opened, reply, unknown

_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|$)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the prompt's end says: the words to answer, the words the person said before, and the agent's last answer."""

    text: str
    before: str | None
    last: str | None


class NotesModel:
    """Answers from one Markdown file. System prompt, tools and schema are ignored: it can do nothing but speak its notes.

    One worker thread of its own does the looking up (about 10 to 20 ms a question); it may be shared by every room.
    """

    name = "notes"

    def __init__(self, notes: facts.Notes, embedder: Embedder) -> None:
        self._notes = notes
        self._finder = Finder(notes, embedder)
        self._executor: Executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="notes")

    @classmethod
    def from_file(cls, path: Path, embedder: Embedder) -> "NotesModel":
        """Reads and indexes the file (about a second for 60 facts; blocks). Raises LanguageModelError, naming the file."""
        return cls(facts.read(path), embedder)

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields the answer sentence by sentence, then Done. Never fails on what somebody says."""
        turn = _turn(prompt.messages)
        answer = await asyncio.get_running_loop().run_in_executor(self._executor, self.answer, turn.text, turn.before, turn.last)
        for piece in _SENTENCE.findall(answer):
            yield TextDelta(piece)
        yield Done()

    @property
    def size(self) -> int:
        """How many facts it knows."""
        return len(self._notes.facts)

    def answer(self, text: str, before: str | None = None, last: str | None = None) -> str:
        """What is said to `text`; `before` is what the person said a turn ago, `last` what the agent said. Blocks."""
        kind = courtesy(text)
        if kind is not None:
            return reply(kind, self._notes, last)
        questions = asked(opened(text) or text, before)
        found = [self._first(one) for one in questions]
        numbers = list(dict.fromkeys(number for several in found for number in several))
        if not numbers:
            return unknown(again=last is not None and last.startswith("I don't know"))
        spoken = " ".join(_ended(self._notes.facts[number].text) for number in numbers)
        missing = sum(not several for several in found)
        return f"{spoken} The other thing I don't know." if missing else spoken

    def _first(self, one: Asked) -> list[int]:
        stale = self._finder.find(one.unlike) if one.unlike else []
        return next((numbers for numbers in map(self._finder.find, one.variants) if numbers and numbers != stale), [])


def _turn(messages: tuple[Message, ...]) -> _Turn:
    said = [number for number, message in enumerate(messages) if message.role == "user"]
    if not said:
        return _Turn("", None, None)
    now = messages[said[-1]]
    earlier = [messages[number] for number in said[:-1] if messages[number].name == now.name]
    answers = [message.content for message in messages[: said[-1]] if message.role == "assistant" and message.content.strip()]
    return _Turn(
        text=without_name(now.content, now.name),
        before=without_name(earlier[-1].content, earlier[-1].name) if earlier else None,
        last=answers[-1].strip() if answers else None,
    )


def _ended(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."
