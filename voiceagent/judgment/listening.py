"""Staying quiet when asked: a state of a room, not a judgment made anew on every turn."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from voiceagent.judgment.classifier.question import Question, YesNoQuestion
from voiceagent.room.bounded import contained

log = logging.getLogger(__name__)

LONGEST: Final = 200

LISTEN_REQUEST: Final = YesNoQuestion(
    "Does `last_turn` ask the agent to stay quiet, or only to listen, from now on and not just for this turn?"
)
"""Asked in an open room."""

LISTENING_QUESTIONS: Final[Mapping[str, Question]] = MappingProxyType(
    {
        "asked_me": YesNoQuestion("Is `last_turn` a question or a request put to the agent itself, to be answered now?"),
        "lift": YesNoQuestion(
            "The agent was asked to only listen (`agent.listening_only`). Does `last_turn` allow it to talk again on its own?"
        ),
    }
)
"""Asked in a listening room, in place of `listen_request`."""


@dataclass(frozen=True, slots=True)
class Request:
    """Who asked the agent to only listen, and in what words: 200 characters at most, cut between words."""

    speaker: str
    text: str

    @staticmethod
    def of(speaker: str, text: str) -> "Request":
        """The request as it is kept."""
        text = " ".join(text.split())
        if len(text) > LONGEST:
            head = text[: LONGEST + 1]
            text = head[: head.rfind(" ")] if " " in head else head[:LONGEST]
        return Request(speaker, text)


def listening_in(policy: object, room_id: str) -> Request | None:
    """What keeps an agent quiet in a room, told by a policy with a method `listening(room_id)`, as ClassifierSpeakPolicy has;
    None in an open room, for any other policy, and for one that fails to tell."""
    tells: Callable[[str], object] | None = getattr(policy, "listening", None)
    if not callable(tells):
        return None
    try:
        with contained():
            request = tells(room_id)
    except Exception:
        log.exception("room %s: a policy failed to tell whether it only listens", room_id)
        return None
    return request if isinstance(request, Request) else None
