"""Asking about another room: whether an agent may, and the card by which a person allows it first."""

from dataclasses import replace
from typing import Final, Literal, Protocol

from voiceagent.room.origin import Origin
from voiceagent.room.questions.question import Answer, Asking, Question
from voiceagent.room.register.entry import Register
from voiceagent.room.rooms import Rooms

OtherRooms = Literal["off", "ask", "allow"]
"""Whether agents may ask about rooms other than the one they sit in: never, once a person has allowed it, or always."""

ALLOW: Final = 0
"""The option of the card that allows it; the other one refuses."""

_SHOWN: Final = 100


class Afar(Protocol):
    """The hosts that this one is paired with."""

    async def place(self, about: str) -> tuple[str | None, str | None]:
        """The pairing with the host that keeps questions about a room of its own, written HOST/ROOM, and why an agent may not
        ask there; None and None when there is no such host. Raises StoreError."""
        ...


class Elsewhere:
    """What one engine's agents may ask about rooms that they work with: where they sit, or which they or their room started."""

    def __init__(self, rooms: Rooms, register: Register, policy: OtherRooms = "off") -> None:
        self._rooms = rooms
        self._register = register
        self.policy = policy
        self.afar: Afar | None = None

    async def place(self, origin: Origin, about: str) -> tuple[str | None, str | None]:
        """The pairing with the host that keeps questions about a room, None when this one does; and why an agent may not ask
        about it, None when it may. Raises StoreError."""
        if self.policy != "off" and self.afar is not None and self._rooms.get(about) is None and "/" in about:
            kept_by, why = await self.afar.place(about)
            if kept_by is not None or why is not None:
                return kept_by, why
        return None, await self.refusal(origin, about)

    async def strange(self, room_id: str) -> str | None:
        """Why nobody can be asked in a room; None when somebody can. Raises StoreError."""
        entry = await self._register.get(room_id)
        if entry is not None and entry.archived_at is not None:
            return "that room is closed for good"
        known = entry is not None or self._rooms.get(room_id) is not None
        return None if known else "there is no such room, or nobody has it open"

    async def refusal(self, origin: Origin, about: str) -> str | None:
        """Why an agent may not ask about a room; None when it may. Raises StoreError."""
        if self.policy == "off":
            return "questions about other rooms are switched off: ask about this room, without `about`"
        entry = await self._register.get(about)
        if entry is not None and entry.archived_at is not None:
            return "that room is closed for good"
        room = self._rooms.get(about)
        if room is not None and room.seat(origin.channel_id) is not None:
            return None
        if entry is not None and entry.works_for(origin.room_id, origin.channel_id):
            return None
        return "you do not work with that room: name one in which you sit, or which you started"


def card_of(question: Question) -> Question:
    """The card in the asking room by which a person allows a question about another one; its id is made of the question's."""
    asking = question.asking
    asked = "\n".join((asking.question, *(f"- {option}" for option in asking.options)))
    allowing = Asking(
        f"May {question.channel_id[:_SHOWN]} ask this in the room {question.room_id[:_SHOWN]}?",
        ("Allow", "Refuse"),
        detail=asked[:2_000],
        urgency=asking.urgency,
    )
    return replace(
        question,
        question_id=card_id(question.question_id),
        room_id=question.asked_in,
        asking=allowing,
        kind="approval",
        state="open",
        allows=question.question_id,
        kept_by=None,
    )


def card_id(question_id: str) -> str:
    """The id of the card by which a question is allowed."""
    return f"{question_id}-allow"


def allowed(answer: Answer | None) -> bool:
    """Whether a person's answer to the card allows the question."""
    return answer is not None and answer.options == (ALLOW,)
