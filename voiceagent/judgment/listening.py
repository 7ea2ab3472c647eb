"""Staying quiet when asked: a state of a room, not a judgment made anew on every turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from voiceagent.judgment.classifier.question import Question, YesNoQuestion

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
