"""The reply whose turn it is to sound: how far it has got, and what is left of it when it is cut."""

import asyncio
from dataclasses import dataclass
from typing import Final

from voiceagent.audio.frame import FRAME_SAMPLES, Samples, to_ms
from voiceagent.room.line import audience_of
from voiceagent.room.reply import Reply
from voiceagent.values import JSON
from voiceagent.voice.cut import CutReply
from voiceagent.voice.duck import Duck
from voiceagent.voice.line import Line
from voiceagent.voice.mouth import Mouth

SILENT_MS: Final = 400
"""How long a reply may give no sound and still be said to sound: what lies in the lines, and a breath."""


@dataclass(slots=True)
class Saying:
    """`begun` once its first frame went to the lines, `handed` samples of it so far; `resting` while all that it has said was
    heard and its agent is busy with a tool. `sounded_at` is when a frame of it went to the lines last."""

    reply: Reply
    mouth: Mouth
    speaking: asyncio.Task[None]
    duck: Duck
    begun: bool = False
    resting: bool = False
    handed: int = 0
    ready_at: int | None = None
    drain_until: int | None = None
    sounded_at: int = 0

    @property
    def over(self) -> bool:
        """Whether all its sound went to the lines."""
        return self.mouth.done and not self.mouth.ready

    def silent(self, now: int) -> bool:
        """Whether nothing of it sounds: it pauses for somebody, its agent is busy, or its voice is late."""
        return self.duck.paused or self.resting or now - self.sounded_at > SILENT_MS

    def frame(self, now: int) -> Samples | None:
        """Its next 20 ms, as they are to sound; None while it pauses, and while there is none."""
        frame = None if self.duck.paused else self.mouth.frame()
        if frame is None:
            return None
        self.resting = False
        self.handed += FRAME_SAMPLES
        self.sounded_at = now
        return self.duck.shape(frame)

    def rewind(self, heard: int) -> int:
        """Goes back to the start of the word that sounded at `heard`, a place in its sound; returns where that is."""
        self.handed = self.mouth.rewind(self.mouth.script.word_start(heard))
        self.drain_until = None
        return self.handed

    def told(self, played: int) -> dict[str, JSON]:
        """What a host that begins to follow is told of it, when `played` samples have been heard; what may come again is not."""
        played = min(played, self.duck.since) if self.duck.lowered else played
        return {
            "speech_id": self.reply.id,
            "channel_id": self.reply.channel_id,
            "responds_to": self.reply.responds_to,
            "text": self.mouth.script.text,
            "played_ms": to_ms(played),
            "spoken_chars": self.mouth.script.spoken_chars(played),
            "audience": audience_of(self.reply.visibility),
        }

    def cut_for(self, listener: Line | None, reason: str, input_id: str | None) -> CutReply:
        """The cut, as this line's listener heard it; `input_id` is the speech that caused it."""
        script = self.mouth.script
        played = listener.played() if listener is not None and self.begun else 0
        return CutReply(
            speech_id=self.reply.id,
            session_id=listener.session_id if listener is not None else "",
            channel_id=self.reply.channel_id,
            responds_to=self.reply.responds_to,
            text=script.text,
            played=played,
            samples=script.samples if script.complete else None,
            spoken_chars=script.spoken_chars(played),
            reason=reason,
            heard_text=script.heard_text(played),
            exact=script.exact(played),
            cut_by_input_id=input_id,
            question_id=self.reply.question_id,
        )
