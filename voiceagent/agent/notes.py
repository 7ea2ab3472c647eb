"""Notes of the host for one turn: they hang on the turn's last message from a person."""

from collections.abc import Sequence
from dataclasses import replace

from voiceagent.llm.model import Message


def add_turn_note(messages: Sequence[Message], note: str) -> list[Message]:
    """The messages with `note` on the last user message (on a new, empty one when there is none).

    A model reads a note as the application's words: put text of other people into it only inside `fence()`.
    """
    noted = list(messages)
    for place in range(len(noted) - 1, -1, -1):
        if noted[place].role == "user":
            noted[place] = replace(noted[place], notes=(*noted[place].notes, note))
            return noted
    return [*noted, Message("user", "", notes=(note,))]
