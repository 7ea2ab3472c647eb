"""What the notes brain reads of a prompt: who said what last, what was said before it, and the turn's notes. Pure."""

from dataclasses import dataclass, field
from typing import Final

from voiceagent.llm.model import CUT_MARK, Message
from voiceagent.llm.notes.asked import without_name
from voiceagent.llm.notes.noticing import name_in
from voiceagent.llm.turn_notes import Noted, noted

_EARLIER: Final = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """What the prompt's end says: the words to answer, the words the person said before, and the agent's last answer (`cut`: the
    whole of it, when it was cut); what others said before that answer, newest first; what the turn's notes say."""

    text: str
    before: str | None
    last: str | None
    cut: str | None = None
    earlier: tuple[str, ...] = ()
    noted: Noted = field(default_factory=Noted)
    name: str = ""


def turn_of(messages: tuple[Message, ...]) -> Turn:
    """The turn that a prompt's messages end with."""
    said = [number for number, message in enumerate(messages) if message.role == "user"]
    if not said:
        return Turn("", None, None)
    now = messages[said[-1]]
    earlier = [messages[number] for number in said[:-1] if messages[number].name == now.name]
    answers = [number for number in range(said[-1]) if messages[number].role == "assistant" and messages[number].content.strip()]
    last = messages[answers[-1]].content.strip() if answers else None
    whole = last.removesuffix(CUT_MARK).strip() if last is not None else None
    before_it = [messages[number] for number in reversed(said) if answers and number < answers[-1]]
    return Turn(
        text=without_name(now.content, now.name),
        before=without_name(earlier[-1].content, earlier[-1].name) if earlier else None,
        last=whole or None,
        cut=whole if whole != last else None,
        earlier=tuple(without_name(message.content, message.name) for message in before_it[:_EARLIER]),
        noted=noted(now.notes),
        name=name_in(messages[0].content) if messages[0].role == "system" else "",
    )
