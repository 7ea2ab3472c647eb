"""What a person's speech does to what sounds, and whether it is the room's: cut, hold, say, drop; decided without a loop."""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

from voiceagent.voice.interruption import NOTHING, Cut, Interruption, OverKind, SpeechDecision
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy
from voiceagent.voice.who import NOT_TOLD, Speaker

PENDING: Final = 64
"""Utterances whose words may be out; of more, the oldest is forgotten."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """What somebody said, with its words. Times are milliseconds on the person's own line; `voiced_ms` leaves pauses out. On a
    shared line, `speaker` is who of those there it was."""

    input_id: str
    text: str
    start_ms: int
    end_ms: int
    voiced_ms: int
    speaker: Speaker = NOT_TOLD


@dataclass(frozen=True, slots=True)
class Sounding:
    """A reply of which the listener hears, or is about to hear, something; `played_ms` of it has been heard."""

    reply_id: str
    played_ms: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Say it to the room. `replaces`: an answer to it may take the place of the person's earlier ones that nobody has heard.
    `cuts`: it has cut a reply."""

    utterance: Utterance
    replaces: bool = False
    cuts: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """Keep it until the sounding reply has ended; a longer queue than that drops `instead`, its oldest."""

    utterance: Utterance
    instead: Utterance | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """It is nothing for the room: a sign of listening to the reply `over_reply_id`, or no words of a person at all."""

    utterance: Utterance
    disposition: Literal["backchannel", "rejected"]
    reason: str
    over_reply_id: str | None = None


WordsDecision = Commit | Hold | Drop


@dataclass(slots=True)
class _Speech:
    """An utterance whose words are out: the reply that sounded when its last voice was heard, and whether it has cut it."""

    over: str | None = None
    cut: bool = False


class Turn:
    """One person's turns in one call. Its line's frames are its clock: `frame` comes once for each, after what it brought."""

    def __init__(self, settings: BargeInSettings, held_segments: int = 8) -> None:
        self._settings = settings
        self._limit = held_segments
        self._held: deque[Utterance] = deque()
        self._at = 0
        self._open: str | None = None
        self._due: dict[str, _Speech] = {}
        self._against: Interruption | None = None
        self._cut: str | None = None

    def began(self, input_id: str, sounding: Sounding | None) -> None:
        """It is sure that somebody speaks."""
        self._open = input_id
        self._due[input_id] = _Speech(sounding.reply_id if sounding else None)
        if len(self._due) > PENDING:
            del self._due[next(iter(self._due))]
        against = self._meet(sounding)
        if against is not None:
            against.began()

    def frame(
        self, at_ms: int, voiced: bool, sounding: Sounding | None, *, sudden: bool = False, lasting: bool = False
    ) -> SpeechDecision:
        """The next 20 ms of the line, which end at `at_ms`; `voiced`: a voice is in it, and not the reply's own; `sudden`: a
        sound has just begun that may be one; `lasting`: it goes on."""
        self._at = at_ms
        against = self._meet(sounding)
        speech = self._due.get(self._open or "")
        if voiced and speech is not None:
            speech.over = sounding.reply_id if sounding else None
        if against is None or sounding is None:
            return NOTHING
        may = sounding.played_ms >= self._settings.allow_during_first_ms
        return self._done(against.frame(at_ms, voiced, sudden=sudden, lasting=lasting, may=may))

    def calm(self) -> SpeechDecision:
        """What stirred came to nothing; where words of an earlier utterance are still out, they decide."""
        against = self._against
        if against is None or any(speech.over == against.reply_id for speech in self._due.values()):
            return NOTHING
        return against.come_back(self._at, "noise")

    def ended(self) -> None:
        """The voice has been silent for so long that the utterance is over; its words follow."""
        self._open = None
        if self._against is not None:
            self._against.ended()

    def guessed(self, input_id: str, kind: OverKind) -> SpeechDecision:
        """Words of an utterance that goes on."""
        return self._said(input_id, kind, final=False)

    def candidate(self, input_id: str, kind: OverKind) -> SpeechDecision:
        """The words of an utterance that has paused and may be over."""
        return self._said(input_id, kind, final=True)

    def judged(self, input_id: str, wants_turn: bool) -> SpeechDecision:
        """Somebody else's detector has an opinion on an utterance over the reply."""
        against = self._over(input_id)
        if against is None:
            return NOTHING
        return self._done(against.cut(self._at, "detector") if wants_turn else against.come_back(self._at, "detector"), input_id)

    def dropped(self, input_id: str) -> SpeechDecision:
        """The utterance was none: its words are noise, or were not let through."""
        against = self._over(input_id)
        self._due.pop(input_id, None)
        return NOTHING if against is None or self._open is not None else against.come_back(self._at, "noise")

    def hummed(self, input_id: str) -> tuple[str | None, SpeechDecision]:
        """The utterance is a voice without words: a sign of listening to the reply that it is over and has not cut, whose id this
        is; else it was none."""
        speech = self._due.get(input_id, _Speech())
        if speech.over is None or speech.cut:
            return None, self.dropped(input_id)
        step = self._said(input_id, "backchannel", final=self._open is None)
        del self._due[input_id]
        return speech.over, step

    def words(self, utterance: Utterance, kind: OverKind, sounding: Sounding | None) -> tuple[WordsDecision, SpeechDecision]:
        """An utterance is over and its words are known: what the room is told, and what that means for the reply."""
        self._meet(sounding)
        step = self._said(utterance.input_id, kind, final=self._open is None)
        speech = self._due.pop(utterance.input_id, _Speech())
        if kind == "echo":
            return Drop(utterance, "rejected", "echo"), step
        if speech.over is not None and not speech.cut:
            if kind == "backchannel":
                return Drop(utterance, "backchannel", "over_the_agent", speech.over), step
            if kind == "nothing":
                return Drop(utterance, "rejected", "no_words"), step
        return self._for_the_room(utterance, sounding, cuts=speech.cut), step

    def quiet(self) -> tuple[Commit, ...]:
        """Nothing sounds any more: what was held is said now, in order."""
        held = tuple(Commit(utterance) for utterance in self._held)
        self._held.clear()
        return held

    def _for_the_room(self, utterance: Utterance, sounding: Sounding | None, *, cuts: bool) -> Commit | Hold:
        if self._settings.strategy is not InterruptionStrategy.DISABLED:
            return Commit(utterance, utterance.voiced_ms >= self._settings.min_speech_ms, cuts)
        if sounding is None:
            return Commit(utterance)
        instead = self._held.popleft() if len(self._held) >= self._limit else None
        self._held.append(utterance)
        return Hold(utterance, instead)

    def _meet(self, sounding: Sounding | None) -> Interruption | None:
        """What the person does to the reply that sounds now; a reply that is over, or was cut, is met no more."""
        if sounding is None or sounding.reply_id == self._cut:
            self._against = None
        elif self._against is None or self._against.reply_id != sounding.reply_id:
            self._against = Interruption(self._settings, sounding.reply_id)
        return self._against

    def _over(self, input_id: str) -> Interruption | None:
        """The interruption that an utterance is part of, where words may decide."""
        speech, against = self._due.get(input_id), self._against
        if self._settings.strategy not in (InterruptionStrategy.CONFIRMED, InterruptionStrategy.SEMANTIC):
            return None
        return against if speech is not None and against is not None and speech.over == against.reply_id else None

    def _said(self, input_id: str, kind: OverKind, *, final: bool) -> SpeechDecision:
        against = self._over(input_id)
        return NOTHING if against is None else self._done(against.said(kind, self._at, final=final), input_id)

    def _done(self, step: SpeechDecision, input_id: str | None = None) -> SpeechDecision:
        """Keeps that a reply was cut, and by which utterance."""
        if isinstance(step, Cut):
            self._cut, self._against = step.reply_id, None
            speech = self._due.get(input_id or self._open or "")
            if speech is not None:
                speech.cut = True
        return step
