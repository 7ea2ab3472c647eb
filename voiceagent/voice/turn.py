"""What a person's speech means for what sounds: cut, hold, say it to the room, or nothing; decided without a loop."""

from collections import deque
from dataclasses import dataclass

from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said, with its words. Times are milliseconds on the person's own line; `voiced_ms` leaves pauses out."""

    input_id: str
    text: str
    start_ms: int
    end_ms: int
    voiced_ms: int


@dataclass(frozen=True, slots=True)
class Sounding:
    """A reply of which the listener hears, or is about to hear, something; `played_ms` of it has been heard."""

    reply_id: str
    played_ms: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Stop the reply; `at_ms` is the place on the person's line where that was decided."""

    reply_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Say it to the room. `replaces`: an answer to it may take the place of the person's earlier ones that nobody has heard."""

    utterance: Utterance
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Keep it until the sounding reply has ended; a longer queue than that drops `instead`, its oldest."""

    utterance: Utterance
    instead: Utterance | None = None


SpeechDecision = Nothing | Cut
WordsDecision = Commit | Hold


class Turn:
    """One person's turns in one call."""

    def __init__(self, settings: BargeInSettings, held_segments: int = 8) -> None:
        self._settings = settings
        self._limit = held_segments
        self._held: deque[Utterance] = deque()
        self._cut: str | None = None
        self._against: str | None = None
        self._from_onset = False
        self._voiced_before = 0

    def started(self, at_ms: int, voiced_ms: int, sounding: Sounding | None) -> SpeechDecision:
        """Somebody begins to speak; `voiced_ms` of voice since the onset made that sure."""
        self._against = sounding.reply_id if sounding else None
        self._from_onset = sounding is not None
        self._voiced_before = 0
        return self._judge(at_ms, voiced_ms, sounding)

    def speaking(self, at_ms: int, voiced_ms: int, sounding: Sounding | None) -> SpeechDecision:
        """A frame later. A reply that began after the onset is cut only by what is said against it, whatever the strategy."""
        if sounding is not None and sounding.reply_id != self._against:
            self._against = sounding.reply_id
            self._from_onset = False
            self._voiced_before = voiced_ms
        return self._judge(at_ms, voiced_ms, sounding)

    def words(self, utterance: Utterance, sounding: Sounding | None) -> WordsDecision:
        """An utterance is over and its words are known."""
        if self._settings.strategy is not InterruptionStrategy.DISABLED:
            return Commit(utterance, utterance.voiced_ms >= self._settings.min_speech_ms)
        if sounding is None:
            return Commit(utterance)
        instead = self._held.popleft() if len(self._held) >= self._limit else None
        self._held.append(utterance)
        return Hold(utterance, instead)

    def quiet(self) -> tuple[Commit, ...]:
        """Nothing sounds any more: what was held is said now, in order."""
        held = tuple(Commit(utterance) for utterance in self._held)
        self._held.clear()
        return held

    def _judge(self, at_ms: int, voiced_ms: int, sounding: Sounding | None) -> SpeechDecision:
        if sounding is None or sounding.reply_id == self._cut or sounding.played_ms < self._settings.allow_during_first_ms:
            return Nothing()
        long_enough = voiced_ms - self._voiced_before >= self._settings.min_speech_ms
        match self._settings.strategy:
            case InterruptionStrategy.DISABLED:
                return Nothing()
            case InterruptionStrategy.CONFIRMED:
                cuts = long_enough
            case InterruptionStrategy.IMMEDIATE:
                cuts = self._from_onset or long_enough
        if not cuts:
            return Nothing()
        self._cut = sounding.reply_id
        return Cut(sounding.reply_id, at_ms)
