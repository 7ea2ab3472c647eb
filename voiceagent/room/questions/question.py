"""A question that an agent asks a person without waiting for the answer: what it holds, its limits, and its one end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from voiceagent.room.line import Audience
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

LONGEST_QUESTION: Final = 500
LONGEST_DETAIL: Final = 2_000
LONGEST_OPTION: Final = 200
LONGEST_ANSWER: Final = 4_000
MOST_OPTIONS: Final = 8
MOST_ASKED_OF: Final = 20

MOST_ASKED: Final = 20
"""Open questions that one agent may have asked in one room."""

MOST_WAITING: Final = 20
"""Open questions that may wait in one room, whoever asked them."""

Urgency = Literal["now", "normal"]
Speak = Literal["auto", "never", "now"]

Kind = Literal["question", "blocking", "approval"]
"""`question`: the agent goes on. `blocking`: a tool of its waits for the answer. `approval`: a step of it waits for a yes. None
becomes another."""

State = Literal["awaiting_allow", "open", "answered", "dismissed", "withdrawn", "ended"]
"""`awaiting_allow`: about another room, whose people have not been shown it yet; `ended`: silently, with room or agent."""

Via = Literal["button", "text", "voice", "dtmf"]

End = Literal["answered", "dismissed", "withdrawn", "room_closed", "agent_detached", "unpaired", "refused"]
"""How the feed tells of an end."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What an agent asks. `options` become buttons; `recommendation` is one of them or a line of its own; `detail` is folded.

    `asked_of` names the participants who may answer, all when empty. `urgency` now also pushes. `speak` says whether it is said
    aloud: auto where there is no screen or it is urgent. `multiple`: several options may be chosen, for blocking cards alone.
    """

    question: str
    options: tuple[str, ...] = ()
    recommendation: str | None = None
    detail: str | None = None
    urgency: Urgency = "normal"
    asked_of: tuple[str, ...] = ()
    speak: Speak = "auto"
    multiple: bool = False

    def refusal(self) -> str | None:
        """Why it cannot be asked, in words an agent can act on; None when it can."""
        if not self.question.strip():
            return "the question is empty"
        if self.recommendation is not None and not self.recommendation.strip():
            return "the recommendation is empty: leave it out"
        for what, text, most in (
            ("question", self.question, LONGEST_QUESTION),
            ("recommendation", self.recommendation or "", LONGEST_QUESTION),
            ("detail", self.detail or "", LONGEST_DETAIL),
        ):
            if len(text) > most:
                return f"the {what} has {len(text)} characters, and at most {most} are taken: shorten it"
        if len(self.asked_of) > MOST_ASKED_OF:
            return f"it is asked of {len(self.asked_of)} people, and at most {MOST_ASKED_OF} can be: leave asked_of empty for all"
        return _options_refusal(self.options)


def _options_refusal(options: Sequence[str]) -> str | None:
    if len(options) > MOST_OPTIONS:
        return f"there are {len(options)} options, and at most {MOST_OPTIONS} are taken: ask for less, or let people write"
    if any(not option.strip() for option in options):
        return "an option is empty"
    if any(len(option) > LONGEST_OPTION for option in options):
        return f"an option has more than {LONGEST_OPTION} characters: shorten it, and put the rest into the detail"
    if len({option.strip().casefold() for option in options}) != len(options):
        return "two options are the same"
    return None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person answered: options by their places, or words of their own; none of both when it was dismissed.

    `event_id` is the utterance that was the answer, `host` the name of a paired host on which it was given, and `name` how
    whoever gave it is called there.
    """

    via: Via
    options: tuple[int, ...] = ()
    text: str | None = None
    participant_id: str | None = None
    event_id: str | None = None
    host: str | None = None
    name: str | None = None

    def told(self) -> dict[str, JSON]:
        """As hosts read it."""
        known: dict[str, JSON] = {
            "options": list(self.options) or None,
            "text": self.text,
            "participant_id": self.participant_id,
            "event_id": self.event_id,
            "host": self.host,
            "name": self.name,
        }
        return {"via": self.via, **{name: value for name, value in known.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class Question:
    """One question and what became of it.

    `room_id` is the room it is about, in which its card is; `asked_in` the room in which its agent sits, the same one as a rule.
    `told`: nothing of its answer is left to be brought to the agent. `lined`: the room's feed has told of its end.
    `response_visibility`, `parent_event_id` and `chain_depth` bound what the agent makes of the answer, as they bound the turn
    that asked. `allows`: this is the card by which a person allows that question, which is about another room. `told_there`:
    nothing of the answer is left to be brought to the agent of the room that it is about, where that is another one; `is_copy`:
    this value is on its way there, and its `channel_id` is that agent's. `kept_by`: the pairing with the host that keeps it, of
    whose room it is, while this is a reference to it; `asked_from`: the pairing with the host whose agent asks here.
    """

    question_id: str
    room_id: str
    asked_in: str
    channel_id: str
    generation_id: str
    asking: Asking
    created_at: datetime
    kind: Kind = "question"
    state: State = "open"
    ended_at: datetime | None = None
    end: End | None = None
    answer: Answer | None = None
    told: bool = True
    lined: bool = True
    response_visibility: str | None = None
    parent_event_id: str | None = None
    chain_depth: int = 0
    moved_from: str | None = None
    allows: str | None = None
    told_there: bool = True
    is_copy: bool = False
    kept_by: str | None = None
    asked_from: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it waits: for its answer, or to be allowed."""
        return self.state in ("open", "awaiting_allow")

    @property
    def audience(self) -> Audience:
        """Who is told of it: what comes of something private is for hosts alone."""
        return "all" if self.response_visibility in (None, ALL, "transport") else "host"

    def may_answer(self, participant_id: str | None) -> bool:
        """Whether this person may: everybody who is known, unless it is put to somebody."""
        return not self.asking.asked_of or participant_id in self.asking.asked_of

    @property
    def is_plain(self) -> bool:
        """Whether its agent goes on without the answer, and nothing is allowed by it."""
        return self.kind == "question" and self.allows is None

    def kept_from(self, participant_id: str | None, via: Via, host: str | None = None) -> str | None:
        """Why this person may not end it this way; None when they may. What is said or keyed, or comes from a paired host, ends
        plain questions alone, nothing that an agent waits for."""
        if not self.may_answer(participant_id):
            return "not_asked_of"
        if host is not None and not self.is_plain:
            return "not_from_afar"
        return None if self.is_plain or via in ("button", "text") else "not_by_voice"

    def refusal(self, answer: Answer) -> str | None:
        """Why an answer cannot be taken; None when it can."""
        kept = self.kept_from(answer.participant_id, answer.via, answer.host)
        if kept is not None:
            return kept
        if answer.text is not None and len(answer.text) > LONGEST_ANSWER:
            return "too_long"
        if not answer.options and not (answer.text or "").strip():
            return "empty"
        return self._options_refusal(answer)

    def _options_refusal(self, answer: Answer) -> str | None:
        if any(not 0 <= place < len(self.asking.options) for place in answer.options):
            return "no_such_option"
        if len(answer.options) > 1 and not self.asking.multiple:
            return "one_option"
        own_words = bool((answer.text or "").strip()) or not answer.options
        return "choose_an_option" if self.kind == "approval" and own_words else None

    def ended(self, state: State, end: End, at: datetime, answer: Answer | None = None) -> "Question":
        """The same question at its end. Agents are to be told of what a person did, and of nothing else."""
        by_person = end in ("answered", "dismissed") and self.allows is None
        elsewhere = by_person and self.kept_by is None and (self.asked_in != self.room_id or self.asked_from is not None)
        told = (not by_person and end != "refused") or self.asked_from is not None
        ended = replace(self, state=state, end=end, ended_at=at, answer=answer, told=told)
        return replace(ended, told_there=not elsewhere, lined=self.state == "awaiting_allow" or self.kept_by is not None)

    def copy_for(self, channel_id: str) -> "Question":
        """The same question as an agent of the room that it is about is told of its answer; "" stands for whoever sits there."""
        return replace(
            self, asked_in=self.room_id, channel_id=channel_id, response_visibility=None, parent_event_id=None, is_copy=True
        )

    def opened_data(self, *, spoken: bool) -> dict[str, JSON]:
        """What the feed tells when it is put to people."""
        asking = self.asking
        known: dict[str, JSON] = {"recommendation": asking.recommendation, "detail": asking.detail, "moved_from": self.moved_from}
        return {
            "question_id": self.question_id,
            "kind": self.kind,
            "question": asking.question,
            "options": list(asking.options),
            "multiple": asking.multiple,
            "urgency": asking.urgency,
            "asked_by": {"channel_id": self.channel_id, "generation_id": self.generation_id},
            "asked_of": list(asking.asked_of),
            "about_room_id": self.room_id,
            "spoken": spoken,
            **{name: value for name, value in known.items() if value is not None},
        }

    def ended_data(self) -> dict[str, JSON]:
        """What the feed tells of its end."""
        told: dict[str, JSON] = {"question_id": self.question_id, "end": self.end}
        if self.answer is not None and self.state == "answered":
            told["answer"] = self.answer.told()
        return {**told, "delivered_to": [] if self.told else [self.channel_id]}

    def summary(self) -> dict[str, JSON]:
        """The whole of it for those who list questions."""
        ended: dict[str, JSON] = {}
        if self.ended_at is not None:
            ended = {"end": self.end, "ended_at": self.ended_at.isoformat()}
            if self.answer is not None:
                ended["answer"] = self.answer.told()
        return {
            **self.opened_data(spoken=False),
            "room_id": self.room_id,
            "state": self.state,
            "created_at": self.created_at.isoformat(),
            "audience": self.audience,
            **ended,
        }
