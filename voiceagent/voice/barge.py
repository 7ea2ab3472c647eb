"""One call's person over the agent: what the ear hears and which words are known, made into what the reply does."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, Samples
from voiceagent.speech.onset import Onset
from voiceagent.voice.ear import Began, Calm, Candidate, EarEvent, Finished, Guess, Speaks, Stir
from voiceagent.voice.echo import Stretch
from voiceagent.voice.expecting import asked
from voiceagent.voice.floor import Floor
from voiceagent.voice.interruption import NOTHING, Cut, Duck, OverKind, Pause, Resume, SpeechDecision
from voiceagent.voice.line import Line
from voiceagent.voice.murmurs import SHIPPED, Murmurs
from voiceagent.voice.referee import Referee
from voiceagent.voice.settings import BargeInSettings
from voiceagent.voice.turn import Commit, Turn, Utterance, WordsDecision

SHARED: Final = 0.5
"""Share of the agent's echo in what is heard from which on a sound that begins is taken for the echo's."""


class Barge:
    """Asks the person's Turn, and does on the floor what it says. Nothing here waits."""

    def __init__(self, floor: Floor, line: Line, onset: Onset | None = None) -> None:
        """Without an `onset`, nothing is lowered before a voice is sure."""
        self._floor = floor
        self._line = line
        self._murmurs = murmurs_of(floor.settings.barge_in)
        self._turn = Turn(floor.settings.barge_in, floor.settings.held_segments)
        self._referee: Referee | None = None
        self._opinion: tuple[str, bool] | None = None
        self._onset = onset
        self._at = 0
        self._said = ""
        self._gone = False

    def open(self, tasks: asyncio.TaskGroup) -> None:
        """The call begins; a detector of the host's own works in `tasks`."""
        if self._floor.detector is not None:
            self._referee = Referee(self._floor.detector, self._floor.settings.barge_in.detector_timeout_ms, tasks)

    def hear(self, samples: Samples, events: tuple[EarEvent, ...]) -> None:
        """The line's next 20 ms, and what the ear made of them. What is the echo of what plays is nobody's voice."""
        self._at += FRAME_MS
        voiced = calm = over = False
        for event in events:
            match event:
                case Stir():
                    voiced = True
                case Calm():
                    calm = True
                case Began():
                    voiced, self._said = True, event.input_id
                    self._turn.began(event.input_id, self._floor.sounding(self._line))
                case Speaks():
                    voiced = event.voiced
                case Finished():
                    over = True
                    self._turn.ended()
                case _:
                    pass
        voiced = voiced and not self._line.leak.own  # VoiceChannel has told it of this frame, before the ear heard it
        own = self._line.leak.share >= SHARED
        sudden = self._onset is not None and self._onset.hear(samples, voiced=voiced, own=own)
        lasting = self._onset is not None and self._onset.lasting
        self._do(self._turn.frame(self._at, voiced, self._floor.sounding(self._line), sudden=sudden, lasting=lasting))
        if calm:
            self._do(self._turn.calm())
        if self._referee is not None:
            self._show(self._referee, samples, voiced=voiced, over=over or calm or not events)

    def guessed(self, guess: Guess) -> None:
        """Words of an utterance that goes on."""
        kind = self._kind(guess.text, (guess.start_ms, guess.at_ms), final=False)
        self._judge(guess.input_id, guess.text, kind, partial(self._turn.guessed, guess.input_id, kind))

    def candidate(self, candidate: Candidate) -> None:
        """The words of an utterance that may be over."""
        text = candidate.transcript.text
        kind = self._kind(text, (candidate.start_ms, candidate.end_ms), final=True)
        self._judge(candidate.input_id, text, kind, partial(self._turn.candidate, candidate.input_id, kind), final=True)

    def dropped(self, input_id: str) -> None:
        """An utterance was none: noise, or not let through."""
        self._do(self._turn.dropped(input_id))

    def hummed(self, input_id: str) -> str | None:
        """An utterance was a voice without words: the reply that it is a sign of listening to, if there is one."""
        over, step = self._turn.hummed(input_id)
        self._do(step)
        return over

    def words(self, utterance: Utterance) -> WordsDecision:
        """An utterance is over and its words are known; what sounds has made way for it when this returns."""
        kind = self._kind(utterance.text, (utterance.start_ms, utterance.end_ms), final=True)
        if self._opinion is not None and self._opinion[0] == utterance.input_id and kind not in ("stop", "echo"):
            kind = "words" if self._opinion[1] else "backchannel"
        decision, step = self._turn.words(utterance, kind, self._floor.sounding(self._line))
        self._do(step, utterance.input_id)
        return decision

    def only_stops(self, commit: Commit) -> bool:
        """Whether what is said to the room was said to cut a reply, and for nothing else."""
        return commit.cuts and self._murmurs.only_stops(commit.utterance.text)

    def end(self) -> None:
        """The line is over: whoever has hung up holds nothing back, and what they said last cuts nothing."""
        sounding = self._floor.sounding(self._line)
        if sounding is not None:
            self._do(Resume(sounding.reply_id, self._at, "left"))
        if self._referee is not None:
            self._referee.end()
        self._gone = True

    def quiet(self) -> tuple[Commit, ...]:
        """Nothing sounds any more: what was held is said now, in order."""
        return self._turn.quiet()

    def _kind(self, text: str, span: tuple[int, int], *, final: bool) -> OverKind:
        """What words are, said from and to these places of the line; a yes to what the agent has just asked is an answer."""
        began, ended = (clock.now() - (self._at - place) for place in span)
        if self._floor.echo.repeats(text, Stretch(began, ended), final=final):
            return "echo"
        kind: OverKind = self._murmurs.kind_of(text, final)
        if kind == "backchannel" and asked(self._floor.listeners.last_words(self._line)):
            return "words"
        return kind

    def _judge(
        self, input_id: str, text: str, kind: OverKind, plainly: Callable[[], SpeechDecision], *, final: bool = False
    ) -> None:
        """Words decide, unless somebody else's detector has an opinion; a stop, and the agent's own words, always do."""
        if self._referee is None or kind in ("stop", "echo") or self._floor.sounding(self._line) is None:
            self._do(plainly(), input_id)
        else:
            then = partial(self._opined, input_id, plainly)
            self._referee.ask(text, self._floor.listeners.saying, then, final=final)

    def _show(self, referee: Referee, samples: Samples, *, voiced: bool, over: bool) -> None:
        """Keeps what the detector may be asked about, and asks about sound while no words are known."""
        if over:
            referee.forget()
            return
        referee.hear(samples, voiced=voiced)
        if referee.due and self._floor.sounding(self._line) is not None:
            referee.ask("", self._floor.listeners.saying, partial(self._opined, self._said, lambda: NOTHING))

    def _opined(self, input_id: str, plainly: Callable[[], SpeechDecision], wants_turn: bool | None) -> None:
        if wants_turn is None:
            self._do(plainly(), input_id)
            return
        self._opinion = (input_id, wants_turn)
        self._do(self._turn.judged(input_id, wants_turn), input_id)

    def _do(self, step: SpeechDecision, input_id: str | None = None) -> None:
        match step:
            case _ if self._gone:
                pass
            case Cut() | Duck() | Pause() | Resume():
                self._floor.give_way(self._line, step, input_id or self._said)
            case _:
                pass


def murmurs_of(settings: BargeInSettings) -> Murmurs:
    """The phrases that are listened for: the shipped ones, but for those that the settings replace."""
    backchannels = SHIPPED.backchannels if settings.backchannels is None else settings.backchannels
    return Murmurs(backchannels, SHIPPED.stops if settings.stop_words is None else settings.stop_words)
