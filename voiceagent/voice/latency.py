"""How long a person waits: from the end of their speech to its words, to the answer's first word, to its first sound."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

REMEMBERED: Final = 64
"""Utterances whose answer may still come."""


@dataclass(frozen=True, slots=True)
class TurnLatency:
    """One turn's waits in milliseconds; they add up to the total."""

    input_id: str
    end_of_speech_to_words_ms: int
    words_to_first_token_ms: int
    first_token_to_first_sound_ms: int

    @property
    def total_ms(self) -> int:
        """From the end of speech to the first sound."""
        return self.end_of_speech_to_words_ms + self.words_to_first_token_ms + self.first_token_to_first_sound_ms


@dataclass(slots=True)
class _Open:
    """A turn whose answer has not sounded; times are clock.now() milliseconds."""

    ended_at: int
    words_at: int
    first_token_at: int | None = None


class Latencies:
    """A room's open turns."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def heard(self, input_id: str, ended_at: int, words_at: int) -> None:
        """An utterance ended, and its words were known and taken for final."""
        self._open[input_id] = _Open(ended_at, words_at)
        if len(self._open) > REMEMBERED:
            self._open.popitem(last=False)

    def answered(self, input_id: str | None, now: int) -> None:
        """The first word of its answer is there."""
        turn = self._open.get(input_id or "")
        if turn is not None and turn.first_token_at is None:
            turn.first_token_at = max(now, turn.words_at)

    def sounded(self, input_id: str | None, now: int) -> TurnLatency | None:
        """The answer's first sound leaves now; None for an utterance that is not known, or was answered before."""
        turn = self._open.pop(input_id or "", None)
        if turn is None or input_id is None:
            return None
        first = now if turn.first_token_at is None else turn.first_token_at
        return TurnLatency(input_id, max(0, turn.words_at - turn.ended_at), first - turn.words_at, max(0, now - first))
