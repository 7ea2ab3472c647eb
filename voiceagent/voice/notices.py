"""What a room's feed is told of speech: replies queued, started, heard so far, finished, cut, dropped, and the agent's state."""

from typing import Literal

from voiceagent.audio.frame import to_ms
from voiceagent.room.feed import Feed
from voiceagent.room.reply import Reply
from voiceagent.values import JSON
from voiceagent.voice.cut import CutReply
from voiceagent.voice.latency import TurnLatency
from voiceagent.voice.script import Script

AgentState = Literal["idle", "listening", "thinking", "speaking"]


class Notices:
    """Publishes for one room. `spoken_chars` counts in the reply's own text; `played_ms` is what its listener has heard."""

    def __init__(self, feed: Feed, channel_id: str) -> None:
        self._feed = feed
        self._channel_id = channel_id
        self._state: AgentState = "idle"

    def queued(self, reply: Reply) -> None:
        """A reply waits for its turn to sound; `text` is there when all of it is known already."""
        self._publish("queued", reply, {"text": reply.text} if reply.ended else {})

    def started(self, reply: Reply) -> None:
        """Its first sound goes to the lines."""
        self._publish("started", reply, {})

    def progress(self, reply: Reply, script: Script, played: int) -> None:
        """How far it has been heard; droppable."""
        self._publish("progress", reply, _heard(script, played), durable=False)

    def finished(self, reply: Reply, script: Script, played: int) -> None:
        """All of it was heard."""
        heard: dict[str, JSON] = {"played_ms": to_ms(played), "spoken_chars": len(script.source)}
        self._publish("finished", reply, {"text": script.text, **heard})

    def cut(self, reply: Reply, cut: CutReply) -> None:
        """It was stopped while it sounded, or before."""
        data: dict[str, JSON] = {
            "text": cut.text,
            "played_ms": cut.played_ms,
            "spoken_chars": cut.spoken_chars,
            "reason": cut.reason,
        }
        self._publish("cut", reply, data, session_id=cut.session_id or None)

    def dropped(self, reply: Reply, reason: str) -> None:
        """None of it will sound."""
        self._publish("dropped", reply, {"reason": reason})

    def latency(self, latency: TurnLatency) -> None:
        """A turn's waits are known."""
        data: dict[str, JSON] = {
            "input_id": latency.input_id,
            "end_of_speech_to_words_ms": latency.end_of_speech_to_words_ms,
            "words_to_first_token_ms": latency.words_to_first_token_ms,
            "first_token_to_first_sound_ms": latency.first_token_to_first_sound_ms,
            "total_ms": latency.total_ms,
        }
        self._feed.publish("turn.latency", data, channel_id=self._channel_id, responds_to=latency.input_id)

    def state(self, state: AgentState) -> None:
        """What the agent seems to do; said only when it changes."""
        if state != self._state:
            self._state = state
            self._feed.publish("agent.state", {"state": state}, channel_id=self._channel_id)

    def _publish(
        self, what: str, reply: Reply, data: dict[str, JSON], *, durable: bool = True, session_id: str | None = None
    ) -> None:
        self._feed.publish(
            f"speech.{what}",
            {"speech_id": reply.id, **data},
            durable=durable,
            channel_id=reply.channel_id or self._channel_id,
            session_id=session_id,
            generation_id=reply.id,
            responds_to=reply.responds_to,
        )


def _heard(script: Script, played: int) -> dict[str, JSON]:
    return {"played_ms": to_ms(played), "spoken_chars": script.spoken_chars(played)}
