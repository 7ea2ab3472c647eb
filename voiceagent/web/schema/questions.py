"""What is told of questions that agents ask people without waiting."""

from typing import Literal

from voiceagent.web.schema.data import Data


class AskedBy(Data):
    """The agent, and the answer in which it asked."""

    channel_id: str
    generation_id: str


class QuestionOpened(Data):
    """An agent asks, and goes on without the answer; of kind `blocking` or `approval`, a turn of it waits. All of its texts are
    an agent's: shown as they are, never as markup."""

    question_id: str
    kind: Literal["question", "blocking", "approval"]
    question: str
    options: list[str]
    multiple: bool
    urgency: Literal["now", "normal"]
    asked_by: AskedBy
    asked_of: list[str]
    """Participants who may answer; empty: all."""
    about_room_id: str
    spoken: bool
    recommendation: str | None = None
    detail: str | None = None
    moved_from: str | None = None
    """The conversation in which it was asked, before that was compacted: the id of its first record, or the room's."""


class QuestionSpoken(Data):
    """It is being said aloud."""

    question_id: str
    speech_id: str


class QuestionProposed(Data):
    """Somebody seems to have answered it; the agent reads that back, and the question stays open."""

    question_id: str
    input_id: str
    confidence: float
    option: int | None = None
    text: str | None = None


class QuestionAnswer(Data):
    """What a person answered."""

    via: Literal["button", "text", "voice", "dtmf"]
    options: list[int] | None = None
    text: str | None = None
    participant_id: str | None = None
    event_id: str | None = None
    host: str | None = None
    """The paired host on which it was given."""
    name: str | None = None
    """How whoever gave it is called on that host."""


class QuestionEnded(Data):
    """It waits for nobody any more."""

    question_id: str
    end: Literal["answered", "dismissed", "withdrawn", "room_closed", "agent_detached", "unpaired", "refused"]
    delivered_to: list[str]
    """The agents that are told."""
    answer: QuestionAnswer | None = None
