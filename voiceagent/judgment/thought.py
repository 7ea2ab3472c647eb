"""What an agent thinks while it listens."""

from dataclasses import dataclass, replace
from typing import Final

from voiceagent.llm.turn_notes import THOUGHT, WANTED

MOST_WANTED: Final = 3
LONGEST_TEXT: Final = 600
LONGEST_WISH: Final = 300
_NO_QUOTES: Final = str.maketrans(dict.fromkeys('"\u00ab\u00bb\u201c\u201d\u201e\u201f\u300c\u300d\uff02', "'"))


@dataclass(frozen=True, slots=True)
class Thought:
    """What the agent makes of what it hears, in the first person; what it would say if given the turn, most important first and
    three at most; and whether that cannot wait. Raises TypeError for anything but texts and a yes or no."""

    text: str = ""
    want_to_say: tuple[str, ...] = ()
    urgent: bool = False

    def __post_init__(self) -> None:
        wishes = () if _is_text(self.want_to_say) else tuple(self.want_to_say)
        if not _is_text(self.text) or _is_text(self.want_to_say) or not all(map(_is_text, wishes)):
            raise TypeError("a thought is a text and a sequence of sentences")
        if not isinstance(self.urgent, bool):
            raise TypeError("urgent is True or False")
        wanted = tuple(wish.strip() for wish in wishes if wish.strip())[:MOST_WANTED]
        object.__setattr__(self, "want_to_say", wanted)
        if not wanted:
            object.__setattr__(self, "urgent", False)

    def spoken(self) -> "Thought":
        """The same thought once the agent has spoken: nothing is left to say."""
        return replace(self, want_to_say=(), urgent=False)

    def note(self) -> str:
        """The thought as a note for a turn: quoted on one line, bounded, and named as information. Empty for an empty thought."""
        if not self.text and not self.want_to_say:
            return ""
        lines = [THOUGHT]
        lines.append(quoted(self.text, LONGEST_TEXT))
        if self.want_to_say:
            lines.append(WANTED)
            lines.extend(f"- {quoted(wish, LONGEST_WISH)}" for wish in self.want_to_say)
        lines.append("Asked what you are thinking about, answer with this impression.")
        return "\n".join(lines)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def quoted(text: str, longest: int) -> str:
    """`text` in one pair of quotation marks that it cannot close, on one line, at most `longest` characters of it."""
    line = " ".join(text.split()).translate(_NO_QUOTES)
    return f'"{line[:longest]}"'
