"""One person's sound over one reply: it ducks it, pauses it, and cuts it or lets it come back; decided without a loop."""

from dataclasses import dataclass
from typing import Final, Literal

from voiceagent.audio.frame import FRAME_MS
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy

GAP_MS: Final = 200
"""Longest silence inside one run of voice: echo cancellers leave gaps of 100 to 200 ms in speech that goes on."""

MOST_DUCKED_MS: Final = 250
"""How long a reply plays on ducked before it pauses, where it is not known that the sound came to nothing."""

LEAST_RATIO: Final = 0.4
"""Share of voice in a run that counts as one who speaks on."""

SEMANTIC_MS: Final = 1_000
"""How long the semantic strategy waits for words before a voice that goes on decides."""

LASTING_MS: Final = 220
"""How long a sound that goes on lowers a reply before it pauses it, where nobody has found a voice in it yet."""

HELD_MS: Final = 560
"""How long after it was lowered such a sound may hold the reply, if it goes on: one that came back would have to make way again
80 ms later for the voices that are found last."""

NOTICED_MS: Final = 40
"""How long a sound has lasted when it is noticed as one that has just begun (speech/onset.py)."""

IN_VAIN: Final = 3
"""Pauses of one reply for nothing, after which sound alone only lowers it: noise that keeps coming must not wear it down."""

LONGEST_MS: Final = 2_200
"""How long a voice that goes on, too thin to be sure of, may keep a reply from coming back."""

OverKind = Literal["backchannel", "pending", "stop", "words", "nothing", "echo"]
"""What words over a reply are: those of murmurs.py, and the agent's own."""

Back = Literal["backchannel", "nothing", "echo", "noise", "no_words", "detector", "left"]
"""Why a reply comes back: what the words were, a sound that was no speech, no words within their time, another's detector, or
that whoever held it has hung up."""


Why = Literal["voice", "words", "stop", "detector"]
"""What cut a reply: a voice that lasted, words, a word that stops however short it is, or somebody else's detector."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Duck:
    """Lower the reply; `after_ms` from the first voice to `at_ms`, a place on the person's line."""

    reply_id: str
    at_ms: int
    after_ms: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Hand on nothing of the reply for now."""

    reply_id: str
    at_ms: int
    after_ms: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Let it come back."""

    reply_id: str
    at_ms: int
    why: Back


@dataclass(frozen=True, slots=True)
class Cut:
    """Stop the reply for good; `at_ms` is the place on the person's line where that was decided."""

    reply_id: str
    at_ms: int
    why: Why = "voice"


SpeechDecision = Nothing | Duck | Pause | Resume | Cut

NOTHING: Final = Nothing()


@dataclass(slots=True)
class _Run:
    """Voice with no gap longer than GAP_MS in it. `spent`: it has had its effect, and lowers nothing any more. `own`: its words
    are the reply's, and however long it lasts it wants no turn."""

    start: int
    last: int
    voiced: int = 0
    spent: bool = False
    own: bool = False


class Interruption:
    """Of one reply by one person. Times are milliseconds on the person's line; `frame` comes once for each 20 ms of it.

    Whatever is said or not said, it ends: a reply that was lowered is cut or comes back within LONGEST_MS and a frame.
    """

    def __init__(self, settings: BargeInSettings, reply_id: str) -> None:
        self.reply_id = reply_id
        self._settings = settings
        self._run: _Run | None = None
        self._sure = False
        self._lowered: int | None = None
        self._doubtful = False
        self._answered = False
        self._paused = False
        self._pauses = 0
        self._onset = 0
        self._cut = False

    def began(self) -> None:
        """The sound is sure to be speech, and began over the reply."""
        self._sure = True

    def ended(self) -> None:
        """The utterance is over."""
        self._sure = False

    def frame(self, at_ms: int, voiced: bool, *, sudden: bool = False, lasting: bool = False, may: bool = True) -> SpeechDecision:
        """The next 20 ms, which end at `at_ms`. `sudden`: a sound has just begun, of which it is not known whether it is a voice:
        it lowers the reply for as long as that is so, and pauses it if the sound is `lasting`. `may` False: nothing is done
        to the reply yet."""
        if voiced:
            self._add(at_ms)
            self._doubtful = False
        self._answered = self._answered and sudden
        if self._cut or not may or self._settings.strategy is InterruptionStrategy.DISABLED:
            return NOTHING
        run = self._run
        if run is not None and voiced and self._wants_turn(run, at_ms):
            return self.cut(at_ms, "voice")
        if self._settings.strategy is InterruptionStrategy.IMMEDIATE:
            return NOTHING
        if self._lowered is None:
            return self._lower(run, at_ms, voiced=voiced, sudden=sudden)
        if self._doubtful:
            return self._doubted(at_ms, at_ms - self._lowered, sudden=sudden, lasting=lasting)
        return self._on(at_ms - self._lowered, at_ms, voiced)

    def said(self, kind: OverKind, at_ms: int, *, final: bool) -> SpeechDecision:
        """Words, or their beginning, are known: before the reply was lowered, meanwhile, or after it came back."""
        if kind == "stop" or kind == "words":
            return self.cut(at_ms, kind)
        if kind == "echo":
            if self._run is not None:
                self._run.own = True
            return self.come_back(at_ms, kind)
        return NOTHING if kind == "pending" or not final else self.come_back(at_ms, kind)

    def come_back(self, at_ms: int, why: Back) -> SpeechDecision:
        """What was lowered comes back, if it was; the voice that lowered it does so no more before a gap."""
        if self._cut or self._lowered is None:
            return NOTHING
        self._lowered, self._paused, self._doubtful, self._answered = None, False, False, True
        if self._run is not None:
            self._run.spent = True
        return Resume(self.reply_id, at_ms, why)

    def cut(self, at_ms: int, why: Why) -> SpeechDecision:
        """The reply is over; once."""
        if self._cut:
            return NOTHING
        self._cut = True
        return Cut(self.reply_id, at_ms, why)

    def _add(self, at_ms: int) -> None:
        if self._run is None or at_ms - FRAME_MS - self._run.last > GAP_MS:
            self._run = _Run(at_ms - FRAME_MS, at_ms)
        self._run.last = at_ms
        self._run.voiced += FRAME_MS

    def _lower(self, run: _Run | None, at_ms: int, *, voiced: bool, sudden: bool) -> SpeechDecision:
        """A voice that has lasted lowers the reply, and a sound that may be one, unless that has had its effect."""
        if voiced and run is not None and not run.spent and run.voiced >= self._settings.duck_after_ms:
            self._onset = run.start
        elif sudden and not self._answered and (run is None or not run.spent or at_ms - run.last > GAP_MS):
            self._onset, self._doubtful = at_ms - NOTICED_MS, not voiced
        else:
            return NOTHING
        self._lowered = at_ms
        return Duck(self.reply_id, at_ms, at_ms - self._onset)

    def _on(self, past: int, at_ms: int, voiced: bool) -> SpeechDecision:
        """The reply has been lowered for `past`: it comes back, pauses, or goes on so."""
        quiet = self._run is None or at_ms - self._run.last > GAP_MS
        if past >= LONGEST_MS or (past >= self._settings.words_within_ms and quiet):
            return self.come_back(at_ms, "no_words")
        return self._pause(at_ms) if past >= (self._settings.pause_after_ms if voiced else MOST_DUCKED_MS) else NOTHING

    def _doubted(self, at_ms: int, past: int, *, sudden: bool, lasting: bool) -> SpeechDecision:
        """The reply has been lowered for `past` by what may be no voice."""
        if not sudden and not (self._paused and lasting and past < HELD_MS):
            return self.come_back(at_ms, "noise")
        return self._pause(at_ms) if lasting and past >= LASTING_MS else NOTHING

    def _pause(self, at_ms: int) -> SpeechDecision:
        if self._paused or self._pauses >= IN_VAIN:
            return NOTHING
        self._paused = True
        self._pauses += 1
        return Pause(self.reply_id, at_ms, at_ms - self._onset)

    def _wants_turn(self, run: _Run, at_ms: int) -> bool:
        """Whether the voice has lasted as only one does who wants the turn."""
        lasted = at_ms - run.start
        dense = not run.own and run.voiced >= LEAST_RATIO * lasted
        match self._settings.strategy:
            case InterruptionStrategy.IMMEDIATE:
                return self._sure or run.voiced >= self._settings.min_speech_ms
            case InterruptionStrategy.SEMANTIC:
                return dense and lasted >= SEMANTIC_MS
            case _:
                return dense and run.voiced >= self._settings.sustained_ms
