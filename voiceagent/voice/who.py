"""Which person a voice is: a known one by name, a stranger by a number that stays theirs for as long as the room is open."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.errors import ConfigError
from voiceagent.speech.settings import VoicesSettings
from voiceagent.speech.source import Talk, loudspeaker
from voiceagent.speech.traits import Print, Traits, unit
from voiceagent.speech.voicebook import Known

log = logging.getLogger(__name__)

MOST_STRANGERS: Final = 32
_LEARNED: Final = 10
"""Utterances after which a stranger's print changes no faster."""

_FOLLOWS: Final = 0.2
"""How fast the usual level of known people is followed."""


@dataclass(frozen=True, slots=True)
class Found:
    """Whose a voice is; `known`: somebody who was enrolled."""

    name: str
    known: bool = False


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who said an utterance: a name, None where it cannot be told, and the chance (0 to 1) that a loudspeaker did."""

    name: str | None = None
    loudspeaker: float | None = None


NOT_TOLD: Final = Speaker()


@dataclass(slots=True, eq=False)
class _Stranger:
    print: Print
    utterances: int = 1

    def heard(self, print: Print) -> None:
        """They have spoken again."""
        self.utterances = min(_LEARNED, self.utterances + 1)
        self.print = unit(self.print + (print - self.print) / self.utterances)


class Company:
    """Who has been heard in one room, whatever line they are on; pure but for `known`, which is asked each time."""

    def __init__(self, known: Callable[[], Sequence[Known]], settings: VoicesSettings | None = None) -> None:
        self._known = known
        self._settings = settings or VoicesSettings()
        self._strangers: list[_Stranger] = []
        self._unreadable = False

    def name(self, traits: Traits) -> Found | None:
        """Who this is, changing nothing: the known person it is most alike, or the stranger; somebody new gets the next number.

        None for too little voice to make somebody new of.
        """
        person = self._person(traits.print)
        if person is not None:
            return Found(person, known=True)
        number = self._stranger(traits.print)
        if number is None and not self._enough(traits):
            return None
        return Found(f"voice {len(self._strangers) + 1 if number is None else number + 1}")

    def heard(self, traits: Traits) -> Found | None:
        """The same, for good: a new stranger is known from now on, and an old one better. Known people's prints stay as they were
        enrolled, so that nobody grows into somebody else."""
        found = self.name(traits)
        if found is None or found.known:
            return found
        number = self._stranger(traits.print)
        if number is None:
            self._strangers.append(_Stranger(traits.print))
        elif self._enough(traits):
            self._strangers[number].heard(traits.print)
        return found

    def _enough(self, traits: Traits) -> bool:
        return traits.voice_ms >= self._settings.least_ms

    def _person(self, print: Print) -> str | None:
        alike = [(known.likeness(print), known.name) for known in self._everybody()]
        likeness, name = max(alike, default=(0.0, ""))
        return name if likeness >= self._settings.likeness else None

    def _stranger(self, print: Print) -> int | None:
        """The most alike stranger's place; where no more are told apart, that one however alike."""
        alike = [float(stranger.print @ print) for stranger in self._strangers]
        best = max(range(len(alike)), key=alike.__getitem__, default=None)
        full = len(alike) >= MOST_STRANGERS
        return best if best is not None and (full or alike[best] >= self._settings.likeness) else None

    def _everybody(self) -> Sequence[Known]:
        """Nobody where they cannot be read; said once, until they can."""
        try:
            known = self._known()
        except ConfigError as error:
            if not self._unreadable:
                log.warning("degraded: nobody is known by voice: %s", error)
            self._unreadable = True
            return ()
        self._unreadable = False
        return known


class Who:
    """One line's: names the speakers of its utterances, and guesses at what they come out of."""

    def __init__(self, company: Company) -> None:
        self._company = company
        self._talk = Talk()
        self._usual: float | None = None

    def hear(self, *, voiced: bool) -> None:
        """The line's next 20 ms."""
        self._talk.hear(voiced=voiced)

    def guess(self, traits: Traits | None) -> Speaker:
        """Whose an utterance is that may go on; changes nothing."""
        return NOT_TOLD if traits is None else self._told(traits, self._company.name(traits))

    def heard(self, traits: Traits | None) -> Speaker:
        """Whose an utterance is that is over."""
        if traits is None:
            return NOT_TOLD
        found, level = self._company.heard(traits), traits.timbre.level
        told = self._told(traits, found)
        if found is not None and found.known:
            self._usual = level if self._usual is None else self._usual + _FOLLOWS * (level - self._usual)
        return told

    def _told(self, traits: Traits, found: Found | None) -> Speaker:
        chance = loudspeaker(traits.timbre, self._talk.share, self._usual)
        return Speaker(None if found is None else found.name, round(chance, 2))
