"""A thinker without a language model: it looks up what the talk is about, and what the notes would answer or correct."""

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

from voiceagent.judgment.thinker import Heard
from voiceagent.judgment.thought import MOST_WANTED, Thought
from voiceagent.llm.notes.pondering import Line, Pondered

_LINES: Final = 8
_LONGEST: Final = 1_000
_NAME: Final = 64


@runtime_checkable
class Notebook(Protocol):
    """Notes that can be asked what they make of talk; NotesModel is one."""

    async def ponder(self, talk: Sequence[Line]) -> Pondered:
        """What they make of it, within milliseconds."""
        ...


class NotesThinker:
    """Thinks by looking up. What it wants to say are facts of the notes, as they are written; what it thinks is made of their
    headings and people's names, in English. Whoever made the notes closes them."""

    def __init__(self, notes: Notebook) -> None:
        self._notes = notes

    async def think(self, heard: Heard, previous: Thought) -> Thought:
        """The new thought, from the last turns; an older one leaves nothing behind."""
        talk = [
            Line((message.name or "Somebody") if message.role == "user" else None, message.content[:_LONGEST])
            for message in heard.messages[-_LINES:]
            if message.role in ("user", "assistant") and message.content and not message.instruction
        ]
        return _thought(await self._notes.ponder(talk), talk)


def _thought(pondered: Pondered, talk: Sequence[Line]) -> Thought:
    people = list(dict.fromkeys(line.who[:_NAME] for line in talk if line.who is not None))
    if not people:
        return Thought()
    parts = [_topic(pondered.topic, people)]
    if pondered.corrects:
        parts.append(f"My notes say otherwise than {pondered.teller or 'somebody'}.")
    if pondered.answers:
        parts.append(f"{pondered.asker or 'Somebody'} would like to know something that is in my notes.")
    wanted = tuple(dict.fromkeys(fact.text for fact in (*pondered.corrects, *pondered.answers)))
    return Thought(" ".join(parts), wanted[:MOST_WANTED])


def _topic(topic: str | None, people: Sequence[str]) -> str:
    who = people[0] if len(people) == 1 else f"{', '.join(people[:-1])} and {people[-1]}"
    does = "is" if len(people) == 1 else "are"
    if topic is None:
        return f"{who} {does} talking about something that is not in my notes."
    return f"{who} {does} talking about this: {topic[0].lower()}{topic[1:]}."
