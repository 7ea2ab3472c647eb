"""Who speaks in a room, by the name that tells them apart: kept as events come, never computed again."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from confusable_homoglyphs import confusables

from voiceagent.room.events import EventType, Participant, Role, RoomEvent
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
    (`@web`), and nobody else is, since a name leaves out its leading `@`; a name that reads like a role in a prompt becomes
    `(a participant)`. No other two share a label.
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
            own = spoken_name(person.display_name) if person is not None else ""
            if voice and spoken_name(voice) == own:
                return self._met((key[0], ""), own, event.source.channel_id)
            known = self._met(key, spoken_name(voice) or own, event.source.channel_id)
        return known

    def _met(self, key: tuple[str, str], name: str, channel_id: str) -> Speaker:
        """A speaker's label from now on; one without a name may still be given one."""
        known = self._speakers.get(key)
        if known is None:
            known = self._called(name, channel_id)
            if known.named:
                self._speakers[key] = known
        return known

    def _called(self, name: str, channel_id: str) -> Speaker:
        name = _unmarked(name)
        if not name:
            return Speaker(f"@{channel_id}", named=False)
        look = likeness(name)
        if look in _ROLE_LOOKS:
            return Speaker(A_PARTICIPANT, named=True)
        rank = self._taken.get(look, 0) + 1
        while rank > 1 and likeness(f"{name} ({rank})") in self._taken:  # somebody is called that, rank and all
            rank += 1
        label = name if rank == 1 else f"{name} ({rank})"
        self._taken[likeness(label)] = 1
        self._taken[look] = rank
        return Speaker(label, named=True)


def likeness(name: str) -> str:
    """What a name looks like: two names with one likeness are easily taken for each other.

    Case, accents, width and spaces are left out, and letters of other scripts read as the Latin ones they resemble (Unicode's
    list of confusable characters, by the confusable-homoglyphs package); `rn` reads as `m`, `vv` as `w`.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name))
    kept = [c for c in plain if not unicodedata.combining(c) and not c.isspace()]
    return "".join(map(_latin, kept)).replace("rn", "m").replace("vv", "w")


def _latin(character: str) -> str:
    """Capitals are compared as they stand: a Greek capital looks like another Latin letter than its small form."""
    folded = character.casefold()
    if character.isascii():
        return {"0": "o", "1": "l", "|": "l", "i": "l"}.get(folded, folded)
    letter = _resembled(character) or _resembled(character.upper())
    if letter is not None:
        return _latin(letter)
    return folded if folded == character else "".join(map(_latin, folded))


def _resembled(character: str) -> str | None:
    """The Latin letter that another script's letter is confusable with."""
    found = confusables.is_confusable(character, greedy=True)
    likes = (entry["c"] for entry in found[0]["homoglyphs"]) if found else ()
    return next((like for like in likes if like.isascii() and like.isalpha()), None)


_ROLE_LOOKS: Final = frozenset(likeness(role) for role in _ROLES)


def _unmarked(name: str) -> str:
    return name.lstrip("@\uff20\ufe6b ")


def people_around(participants: Iterable[Participant], agent_channel: str) -> list[str]:
    """The names of the active people whom an agent sits with, in order of joining: neither bots nor observers."""
    return [
        name
        for person in participants
        if person.active
        and person.role not in (Role.BOT, Role.OBSERVER)
        and person.connected_via != (agent_channel,)
        and (name := _unmarked(spoken_name(person.display_name)))
    ]
