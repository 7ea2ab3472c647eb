"""What a room keeps of replies that were cut, and the hooks that are told once it is kept."""

import logging

from voiceagent.room.channel import Channel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.hooks import HookTrigger
from voiceagent.voice.cut import CutReply, TtsCancelled

log = logging.getLogger(__name__)


class Records:
    """Of one room; `channel` is the registered voice channel, in whose name they are written."""

    def __init__(self, engine: RoomEngine, channel: Channel, room_id: str) -> None:
        self._engine = engine
        self._channel = channel
        self._room_id = room_id

    async def write(self, cut: CutReply) -> None:
        """Writes the record that the cut names, if it names one; a store that fails costs the record alone."""
        if cut.record_event_id is not None:
            try:
                await self._engine.host.write_record(
                    self._channel, self._room_id, cut.text, cut.metadata(), event_id=cut.record_event_id
                )
            except Exception:
                log.exception("room %s: the record of cut reply %s was not written", self._room_id, cut.speech_id)
        told = TtsCancelled(self._room_id, cut.session_id, cut.speech_id, cut.text, cut.played_ms, cut.reason)
        self._engine.host.notify(HookTrigger.ON_TTS_CANCELLED, told, self._room_id)
