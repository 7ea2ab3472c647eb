"""What the inbox tells: questions of all rooms by hosts, and how the rooms stand."""

from typing import Literal

from voiceagent.web.schema.data import Data
from voiceagent.web.schema.questions import QuestionAnswer, QuestionOpened


class NamedAnswer(QuestionAnswer):
    """What a person answered, and the name that they had in the room."""

    name: str | None = None


class QuestionEntry(QuestionOpened):
    """One question as the inbox lists it. All of its texts are an agent's or a person's: shown as they are, never as markup."""

    room_id: str
    state: Literal["open", "answered", "dismissed", "withdrawn", "ended"]
    created_at: str
    audience: Literal["all", "host"]
    started: Literal["you", "person", "agent"]
    """Who started its room; `you` also where nobody knows."""
    answerable: bool
    """Whether it is open, and the reader is among those whom it is put to."""
    end: Literal["answered", "dismissed", "withdrawn", "room_closed", "agent_detached", "unpaired", "refused"] | None = None
    ended_at: str | None = None
    answer: NamedAnswer | None = None


class InboxHost(Data):
    """The questions that one host keeps, the newest first: what is open, and what a person has ended in the last day."""

    host: str | None
    """A paired host's name; null: this one."""
    reachable: bool
    questions: list[QuestionEntry]
    age_ms: int | None = None
    """Of a paired host: how long ago it said so. One that is not reachable is listed as it was then; None: never."""


class Inbox(Data):
    """Every question that the reader may see."""

    is_host: bool
    every_room: bool
    """Whether the reader sees all rooms of this host, or the one that their token opens."""
    hosts: list[InboxHost]


class Attendant(Data):
    """Somebody who is in a room now."""

    participant_id: str
    name: str | None


class RoomStanding(Data):
    """How one room stands."""

    room_id: str
    open: bool
    questions: int
    """Questions that wait there; the agents go on."""
    cards: int
    """Blocking questions and approvals that wait there; an agent waits, too."""
    people: list[Attendant]
    agents: list[str]
    calls: int
    answers: int
    """Answers that are being made."""


class Overview(Data):
    """The rooms that the reader may see and that are open, or in which something waits."""

    rooms: list[RoomStanding]
