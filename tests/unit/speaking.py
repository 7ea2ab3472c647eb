"""States as the speak policy writes them, for the tests of what reads them."""

from collections.abc import Sequence

from voiceagent.values import JSON


def said(*turns: tuple[str, str]) -> list[JSON]:
    """Turns as (speaker, text)."""
    return [{"speaker": speaker, "text": text} for speaker, text in turns]


def state(
    speaker: str, text: str, before: Sequence[JSON] = (), *, people: Sequence[str] = ("Ann", "Bo"), agent: str = "Nova"
) -> dict[str, JSON]:
    """A state of an open room."""
    return {
        "agent": {"name": agent},
        "people": list(people),
        "recent_turns": list(before),
        "last_turn": {"speaker": speaker, "text": text},
    }
