"""A reply that was stopped while it sounded: the facts, what hooks are told of them, and the record the room keeps."""

from dataclasses import dataclass

from voiceagent.audio.frame import to_ms
from voiceagent.values import JSON


@dataclass(frozen=True, slots=True)
class BargeIn:
    """Payload of ON_BARGE_IN: a person's speech stops a reply. `text` is what it had handed to speech."""

    room_id: str
    session_id: str
    participant_id: str
    speech_id: str
    text: str
    played_ms: int


@dataclass(frozen=True, slots=True)
class TtsCancelled:
    """Payload of ON_TTS_CANCELLED: a reply was stopped before its end, for whatever reason; the room's record is written."""

    room_id: str
    session_id: str
    speech_id: str
    text: str
    played_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class CutReply:
    """Where a reply stopped, for the listener whose call is `session_id`. Sound in 16 kHz samples.

    `samples` is the reply's whole length, None while its synthesis had not ended. `channel_id` is None for words that are
    no agent's answer. `heard_text` are the words that were heard whole: estimated, unless `exact`. `cut_by_input_id` is the
    speech that stopped it, `record_event_id` the record that the room keeps of it, `question_id` the question that it was, said
    aloud: of one that nobody has heard anything of, nothing is kept.
    """

    speech_id: str
    session_id: str
    channel_id: str | None
    responds_to: str | None
    text: str
    played: int
    samples: int | None
    spoken_chars: int
    reason: str
    heard_text: str = ""
    exact: bool = True
    cut_by_input_id: str | None = None
    record_event_id: str | None = None
    question_id: str | None = None

    @property
    def played_percentage(self) -> float | None:
        """How much of its sound was heard, where its length is known."""
        return None if self.samples is None else round(min(100.0, 100.0 * self.played / max(1, self.samples)), 1)

    @property
    def played_ms(self) -> int:
        """How long it was heard."""
        return to_ms(self.played)

    @property
    def worth_a_record(self) -> bool:
        """Whether anything was left unheard of words that had been handed to speech."""
        if self.question_id is not None and self.played == 0:
            return False
        return bool(self.text.strip()) and (self.samples is None or self.played < self.samples)

    def metadata(self) -> dict[str, JSON]:
        """Of the record that the voice channel writes."""
        entries: dict[str, JSON] = {"interrupted": True, "played_ms": self.played_ms, "voice_session_id": self.session_id}
        entries |= {"heard_text": self.heard_text, "heard_exact": self.exact}
        if self.played_percentage is not None:
            entries["played_percentage"] = self.played_percentage
        if self.channel_id is not None:
            entries["answer_channel_id"] = self.channel_id
            entries["answer_responds_to"] = self.responds_to
        if self.question_id is not None:
            entries["question_id"] = self.question_id
        return entries
