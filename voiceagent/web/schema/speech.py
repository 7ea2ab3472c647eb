"""What is told of speech: what waits, sounds, was heard, and how far."""

from typing import Literal

from voiceagent.web.schema.data import Data


class _Speech(Data):
    speech_id: str


class SpeechQueued(_Speech):
    """It waits for its turn to sound."""

    text: str | None = None
    """There when all of it is known already."""
    segment: int | None = None
    question_id: str | None = None


class SpeechStarted(_Speech):
    """Its first sound goes out."""

    text: str | None = None
    voice_session_id: str | None = None
    total_ms: int | None = None


class SpeechProgress(_Speech):
    """How far it was heard."""

    played_ms: int
    spoken_chars: int | None = None
    """How many characters of the answer's own text have been heard."""
    heard_text: str | None = None
    remaining_text: str | None = None
    exact: bool | None = None
    """False where words are estimated from time."""


class SpeechFinished(_Speech):
    """All of it was heard."""

    played_ms: int
    text: str | None = None
    spoken_chars: int | None = None
    heard_text: str | None = None
    exact: bool | None = None


class SpeechCut(_Speech):
    """It was stopped while it sounded."""

    played_ms: int
    text: str
    reason: str
    spoken_chars: int | None = None
    heard_text: str | None = None
    exact: bool | None = None
    total_ms: int | None = None
    played_percentage: float | None = None
    cut_by_input_id: str | None = None
    record_event_id: str | None = None
    question_id: str | None = None


class SpeechDucked(_Speech):
    """Somebody sounds over it: it goes on more quietly."""

    position_ms: int
    """The place in its sound from which on it is lowered."""
    after_ms: int
    """How long after the first voice that is."""


class SpeechPaused(_Speech):
    """It has stopped for somebody, and is cut or comes back within two seconds and a half."""

    position_ms: int
    """The place in its sound up to which whoever speaks has heard it."""
    after_ms: int
    """How long after the first voice that is."""


class SpeechResumed(_Speech):
    """It is as loud as before; after a pause it comes back from the start of the word at which it was lowered."""

    position_ms: int
    """The place in its sound from which on it is as loud as before."""
    why: Literal["backchannel", "nothing", "echo", "noise", "no_words", "detector", "left"]


class SpeechDropped(_Speech):
    """None of it will sound."""

    reason: str


class ConsumptionUpdated(Data):
    """How far an answer has come with one person by one channel; a later line never says less than an earlier one."""

    event_id: str
    channel_id: str
    """The channel by which the person has it."""
    participant_id: str | None = None
    """Null where a channel does not say for whom it took the answer."""
    state: Literal["queued", "playing", "heard", "cut", "never_played", "delivered", "read"]
    heard_chars: int
    """The place in the answer's text up to which it was heard."""
    played_ms: int
    """How long this person has heard it."""
    word: str | None = None
    """The first word of a cut answer that was not heard whole."""


class AgentState(Data):
    """What the agent seems to do."""

    state: Literal["idle", "listening", "thinking", "speaking", "waiting"]


class TurnLatency(Data):
    """How long one turn made a person wait, and for what."""

    input_id: str
    end_of_speech_to_words_ms: int | None = None
    words_to_first_token_ms: int | None = None
    first_token_to_first_sound_ms: int | None = None
    total_ms: int | None = None


class Level(Data):
    """How loud a person is."""

    participant_id: str
    dbfs: float
