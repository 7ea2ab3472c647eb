"""Who judges whether speech over the agent wants the turn: the protocol for others, and the shipped one by phrases."""

from dataclasses import dataclass
from typing import Protocol

from voiceagent.audio.frame import Samples
from voiceagent.voice.murmurs import SHIPPED, Murmurs


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """Speech over a reply that sounds, as far as it has come.

    `text` is what was understood of it ("" while nothing is), `final` whether its words are over. `voiced_ms` of its
    `lasted_ms` were voice. `sound` is all of it, 16 kHz mono int16 of shape (n,). `playing_text` is what the reply says.
    """

    text: str
    final: bool
    voiced_ms: int
    lasted_ms: int
    sound: Samples
    playing_text: str


class InterruptionDetector(Protocol):
    """Asked again while speech over a reply lasts, until it has an opinion."""

    async def judge(self, overlap: Overlap) -> bool | None:
        """True: the person wants the turn. False: not. None: no opinion; how long the voice lasts decides."""
        ...


class PhraseBackchannelDetector:
    """By words alone: acknowledgements do not want the turn, other words do, and what may still become one is waited for."""

    def __init__(self, murmurs: Murmurs = SHIPPED, *, cut_without_words: bool = True) -> None:
        """`cut_without_words` False: a voice of which nothing was understood never wants the turn."""
        self._murmurs = murmurs
        self._without_words = None if cut_without_words else False

    async def judge(self, overlap: Overlap) -> bool | None:
        """By the phrases; see InterruptionDetector."""
        match self._murmurs.kind_of(overlap.text, overlap.final):
            case "stop" | "words":
                return True
            case "backchannel":
                return False
            case "nothing":
                return self._without_words
            case "pending":
                return None
