"""A turn as one line of an evaluation set, so that what a host says of a decision can be measured later."""

from itertools import islice
from typing import Final

from voiceagent.judgment.listening import Request
from voiceagent.judgment.policy import SpeakTurn
from voiceagent.room.events import RoomEvent
from voiceagent.values import JSON

HISTORY: Final = 6
LONGEST: Final = 2_000


def line_of(turn: SpeakTurn, agent: str, listening: Request | None) -> dict[str, JSON]:
    """The line without what is expected of it: id, agent, people, history (six turns), last, and where they apply listening, cut
    and thought. Texts are cut at 2,000 characters."""
    newest = islice((event for event in reversed(turn.recent) if event.content.body.strip()), HISTORY)
    line: dict[str, JSON] = {
        "id": turn.event.id,
        "agent": agent,
        "people": list(turn.people),
        "history": [_said(turn, event, agent) for event in reversed(list(newest))],
        "last": _said(turn, turn.event, agent),
    }
    if listening is not None:
        line["listening"] = {"speaker": listening.speaker, "text": listening.text}
    if turn.cut is not None:
        line["cut"] = {"text": turn.cut.text[:LONGEST], "played_ms": turn.cut.played_ms}
    if turn.thought is not None and (turn.thought.text or turn.thought.want_to_say):
        wanted: list[JSON] = list(turn.thought.want_to_say)
        line["thought"] = {"text": turn.thought.text, "want_to_say": wanted, "urgent": turn.thought.urgent}
    return line


def _said(turn: SpeakTurn, event: RoomEvent, agent: str) -> JSON:
    speaker = agent if turn.by_agent(event) else turn.speakers.get(event.id, "someone")
    return {"speaker": speaker, "text": event.content.body[-LONGEST:]}
