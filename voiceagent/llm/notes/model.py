"""The notes brain as a language model: reads the prompt's last turns and speaks facts as they are written, never others."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from voiceagent.llm.embedding import Embedder
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.llm.notes import facts
from voiceagent.llm.notes.asked import Asked, asked
from voiceagent.llm.notes.finder import Finder
from voiceagent.llm.notes.manners import courtesy, opened, reply, unknown
from voiceagent.llm.notes.noticing import accepts, asks_for_thought, gone_on, is_offer, key, offer, think_aloud
from voiceagent.llm.notes.plain import Plain
from voiceagent.llm.notes.pondering import Line, Pondered, Pondering
from voiceagent.llm.notes.scale import Scale, read
from voiceagent.llm.notes.turn import Turn, turn_of
from voiceagent.llm.notes.words import content
from voiceagent.llm.turn_notes import Noted

_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s)|$)\s*", re.DOTALL)


class NotesModel:
    """Answers from one Markdown file. System prompt, tools and schema are ignored: it can do nothing but speak its notes.

    One worker thread of its own does the looking up (about 10 to 20 ms a question); it may be shared by every room.
    """

    name = "notes"

    def __init__(self, notes: facts.Notes, embedder: Embedder, scale: Scale | None = None) -> None:
        self._notes = notes
        self._finder = Finder(notes, embedder, read() if scale is None else scale)
        self._plain = Plain(notes)
        self._pondering = Pondering(notes, embedder, self._numbers)
        self._by_key = {key(fact.text): fact for fact in notes.facts}
        self._executor: Executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="notes")

    @classmethod
    def from_file(cls, path: Path, embedder: Embedder) -> "NotesModel":
        """Reads and indexes the file (about a second for 60 facts; blocks). Raises LanguageModelError, naming the file."""
        return cls(facts.read(path), embedder)

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields the answer sentence by sentence, then Done. Never fails on what somebody says."""
        turn = turn_of(prompt.messages)
        answer = await asyncio.get_running_loop().run_in_executor(self._executor, self._say, turn)
        for piece in _SENTENCE.findall(answer):
            yield TextDelta(piece)
        yield Done()

    async def ponder(self, talk: Sequence[Line]) -> Pondered:
        """What the notes make of talk that nobody asks them about."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._pondering.ponder, talk)

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
        spoken = _spoken([self._notes.facts[number] for number in numbers])
        missing = sum(not several for several in found)
        return f"{spoken} The other thing I don't know." if missing else spoken

    def _say(self, turn: Turn) -> str:
        noted = turn.noted
        if noted.played_ms is not None and turn.cut:
            return gone_on(turn.cut, noted.played_ms)
        if noted.offers:
            return offer([self._notes.facts[number] for number in self._numbers(turn.text, turn.before)] or self._wished(noted))
        if asks_for_thought(turn.text):
            return think_aloud(noted.thought, noted.wishes)
        wanted = self._offered(turn) if is_offer(turn.last) and accepts(turn.text, turn.name) else []
        if not wanted and courtesy(turn.text) is None and not set(content(turn.text)) - {turn.name.lower()}:
            wanted = self._wished(noted)
        return _spoken(wanted) if wanted else self.answer(turn.text, turn.before, turn.last)

    def _offered(self, turn: Turn) -> list[facts.Fact]:
        """What the talk before an offer was about."""
        found = next((numbers for text in turn.earlier if (numbers := self._numbers(text, None))), [])
        return [self._notes.facts[number] for number in found]

    def _wished(self, noted: Noted) -> list[facts.Fact]:
        """The first of the thought's wishes that is a fact of these notes; nobody else's words are spoken."""
        return [self._by_key[key(wish)] for wish in noted.wishes if key(wish) in self._by_key][:1]

    def _numbers(self, text: str, before: str | None) -> list[int]:
        """The facts that answer an utterance, none twice."""
        found = map(self._first, asked(opened(text) or text, before))
        return list(dict.fromkeys(number for several in found for number in several))

    def _first(self, one: Asked) -> list[int]:
        stale = self._found(one.unlike) if one.unlike else []
        return next((numbers for numbers in map(self._found, one.variants) if numbers and numbers != stale), [])

    def _found(self, question: str) -> list[int]:
        """What its words tell of the house, what it means, or what its words are alone in telling."""
        return self._plain.house(question) or self._finder.find(question) or self._plain.covered(question)


def _spoken(found: Sequence[facts.Fact]) -> str:
    return " ".join(fact.text if fact.text[-1] in ".!?" else f"{fact.text}." for fact in found)
