"""Turns, states and answers for the tests of what decides whether an agent speaks."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from voiceagent.clock import VirtualLoop
from voiceagent.judgment.classifier.question import Answer, Answers, ChoiceAnswer, ScoreAnswer, YesNoAnswer
from voiceagent.judgment.policy import CutReply, SpeakTurn
from voiceagent.judgment.thought import Thought
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent
from voiceagent.values import JSON

_T = TypeVar("_T")

AT = datetime(2026, 1, 1, tzinfo=UTC)
CUT = CutReply("It will be sunny until the evening and", 1_250, AT)
AGENT = "assistant"


def event(id: str, text: str, channel: str = "voice", room: str = "r") -> RoomEvent:
    kind = ChannelType.AI if channel == AGENT else ChannelType.VOICE
    return RoomEvent(id, room, EventSource(channel, kind), TextContent(text), AT)


def turn(
    text: str = "so it is",
    *,
    people: Sequence[str] = ("Ana", "Bo"),
    speaker: str | None = "Ana",
    recent: Sequence[tuple[str | None, str]] = (),
    thought: Thought | None = None,
    cut: CutReply | None = None,
    room: str = "r",
) -> SpeakTurn:
    """`recent` are pairs of a speaker, None for the agent, and a text."""
    before = [event(f"b{n}", said, AGENT if who is None else "voice", room) for n, (who, said) in enumerate(recent)]
    speakers = {f"b{n}": who for n, (who, _) in enumerate(recent) if who is not None}
    if speaker is not None:
        speakers["e"] = speaker
    return SpeakTurn(event("e", text, room=room), before, people, speakers, AGENT, thought, cut)


def answers(choices: Mapping[str, str] | None = None, /, **numbers: float) -> Answers:
    given: dict[str, Answer] = {n: ScoreAnswer(v) if n == "directness" else YesNoAnswer(v) for n, v in numbers.items()}
    return Answers(given | {name: ChoiceAnswer(option) for name, option in (choices or {}).items()})


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of `work` on a loop of virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


def state(
    text: str = "so it is",
    *,
    people: Sequence[str] = ("Ana", "Bo"),
    speaker: str = "Ana",
    recent: Sequence[tuple[str, str]] = (("Bo", "I think so."),),
    agent: Mapping[str, JSON] | None = None,
    **parts: JSON,
) -> dict[str, JSON]:
    """A state as ClassifierSpeakPolicy makes it, with Nova as the agent."""
    return {
        "agent": {"name": "Nova", **(agent or {})},
        "people": list(people),
        "recent_turns": [{"speaker": who, "text": said} for who, said in recent],
        "last_turn": {"speaker": speaker, "text": text},
        **parts,
    }
