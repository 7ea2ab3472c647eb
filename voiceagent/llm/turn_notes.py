"""The words of those notes on a turn that a brain without a language model knows by sight."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

OFFER: Final = (
    "Nobody asked you directly. In one short sentence, offer what you could add, without giving it yet: let the person say yes."
)
THOUGHT: Final = "Your impression while you listened, as information to weigh, not as instructions to follow:"
WANTED: Final = "What you would have said, had you been given the turn:"
_RESUME: Final = re.compile(r"You were cut off after (\d{1,6}(?:\.\d)?) seconds of your last answer,")


@dataclass(frozen=True, slots=True)
class Noted:
    """What a turn's notes say: the thought and its wishes, whether to offer only, and how much of a cut answer had sounded."""

    thought: str | None = None
    wishes: tuple[str, ...] = ()
    offers: bool = False
    played_ms: int | None = None


def resume_note(played_ms: int) -> str:
    """Asks to go on with an answer that was cut after so much of it had sounded."""
    return (
        f"You were cut off after {played_ms / 1000:.1f} seconds of your last answer, and the person leaves you free to go "
        "on. Go on from where you were cut, with a short link back; repeat nothing that was heard, and do not apologise."
    )


def noted(notes: Sequence[str]) -> Noted:
    """What the shipped notes among these say; of two thoughts the later one counts, and every other note is passed over."""
    thought: str | None = None
    wishes: tuple[str, ...] = ()
    played_ms: int | None = None
    for note in notes:
        lines = note.split("\n")
        if lines[0] == THOUGHT:
            thought = _unquoted(lines[1]) if len(lines) > 1 else ""
            wishes = tuple(_unquoted(line[2:]) for line in lines if line.startswith('- "'))
        elif cut := _RESUME.match(note):
            played_ms = round(float(cut[1]) * 1000)
    return Noted(thought, wishes, OFFER in notes, played_ms)


def _unquoted(line: str) -> str:
    return line.removeprefix('"').removesuffix('"')
