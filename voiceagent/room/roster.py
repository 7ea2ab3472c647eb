"""Who speaks in a room, by the name that tells them apart: kept as events come, never computed again."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from confusable_homoglyphs import confusables

from voiceagent.room.events import ChannelType, EventType, Participant, RoomEvent
from voiceagent.room.names import spoken_name

A_PARTICIPANT: Final = "(a participant)"
_ROLES: Final = frozenset({"you", "assistant", "user", "system", "agent", "tool", "developer"})


@dataclass(frozen=True, slots=True)
class Speaker:
    """One voice in the room: a participant, or one of several that a channel tells apart."""

    label: str
    named: bool


@dataclass(slots=True)
class Roster:
    """The labels of one room's speakers, in the order in which they were first met.

    A name that reads like an earlier, different person's carries a rank (`ALICE (2)`); a nameless sender is called by its channel
    (`@web`); a name that reads like a role in a prompt becomes `(a participant)`.
    """

    _speakers: dict[tuple[str, str], Speaker] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)

    def speaker(self, event: RoomEvent, person: Participant | None) -> Speaker | None:
        """Who sent a message; None for what nobody says."""
        if event.type not in (EventType.MESSAGE, EventType.INSTRUCTION):
            return None
        heard_as = event.metadata.get("sender_name")
        voice = heard_as if isinstance(heard_as, str) else ""
        key = (event.source.participant_id or f"@{event.source.channel_id}", voice)
        known = self._speakers.get(key)
        if known is None:
            name = voice or (person.display_name if person is not None else None)
            known = self._speakers[key] = self._called(spoken_name(name), event.source.channel_id)
        return known

    def _called(self, name: str, channel_id: str) -> Speaker:
        if not name:
            return Speaker(f"@{channel_id}", named=False)
        look = likeness(name)
        if look in _ROLE_LOOKS:
            return Speaker(A_PARTICIPANT, named=True)
        rank = self._taken[look] = self._taken.get(look, 0) + 1
        return Speaker(name if rank == 1 else f"{name} ({rank})", named=True)


def likeness(name: str) -> str:
    """What a name looks like: two names with one likeness are easily taken for each other.

    Case, accents, width and spaces are left out, and letters of other scripts read as the Latin ones they resemble (Unicode's
    list of confusable characters, by the confusable-homoglyphs package).
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name)).casefold()
    kept = [c for c in plain if not unicodedata.combining(c) and not c.isspace()]
    return "".join(_latin(c) for c in kept).casefold()


def _latin(character: str) -> str:
    if character.isascii():
        return {"0": "o", "1": "l", "|": "l", "i": "l"}.get(character, character)
    found = confusables.is_confusable(character, preferred_aliases=["latin"], greedy=True)
    if not found:
        return character
    likes = (entry["c"] for entry in found[0]["homoglyphs"])
    return next((_latin(like.casefold()) for like in likes if like.isascii() and like.isalpha()), character)


_ROLE_LOOKS: Final = frozenset(likeness(role) for role in _ROLES)


def people_around(participants: Iterable[Participant], agent_channel: str) -> list[str]:
    """The names of the active people whom an agent sits with, in order of joining: neither bots nor observers."""
    return [
        spoken_name(person.display_name)
        for person in participants
        if person.active
        and person.role not in ("bot", "observer")
        and person.connected_via != (agent_channel,)
        and spoken_name(person.display_name)
    ]


def is_person(event: RoomEvent) -> bool:
    """Whether a message came from a person's channel and not from an agent's."""
    return event.source.channel_type is not ChannelType.AI
