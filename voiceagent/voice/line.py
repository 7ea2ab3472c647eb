"""One call's seat on the floor: what its listener is handed, and what its speaker is heard saying by the others."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from voiceagent.audio.frame import FRAME_SAMPLES, SILENCE, AudioFrame, Samples
from voiceagent.transport.call import Call
from voiceagent.voice.playback import Playback

log = logging.getLogger(__name__)

WAITING: Final = 12
"""Frames of a speaker that may wait for their tick: the first ones come together, once they are known to be speech."""


class Line:
    """A line that fails is heard and told nothing more, and costs nobody else."""

    def __init__(self, call: Call, participant_id: str, on_quiet: Callable[[], None]) -> None:
        """`on_quiet` is called when a reply has ended, before the next one begins."""
        self.session_id = call.session_id
        self.participant_id = participant_id
        self.playback = Playback()
        self.hearing = False
        self.on_quiet = on_quiet
        self._call = call
        self._talk: deque[Samples] = deque(maxlen=WAITING)
        self._handed = 0
        self._broken = False

    @property
    def talking(self) -> bool:
        """Whether sound of this speaker waits to be heard by the others."""
        return bool(self._talk)

    def begin(self) -> None:
        """Another reply begins."""
        self.playback = Playback()

    def talk(self, samples: Samples) -> None:
        """20 ms of this speaker for the others; the oldest goes when too many wait."""
        if samples.shape == SILENCE.shape:  # anything else would break the mix for everybody
            self._talk.append(samples)

    def take(self) -> Samples | None:
        """The next 20 ms of this speaker, None when there is nothing to hear."""
        return self._talk.popleft() if self._talk else None

    def hand(self, samples: Samples, *, own: bool) -> None:
        """20 ms for the listener; `own`: the sounding reply is in it."""
        if self._broken:
            return
        try:
            dropped = int(self._call.play(AudioFrame(samples, self._handed)) or 0)
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
            return
        self._handed += FRAME_SAMPLES
        self.playback.hand(own=own)
        if dropped:
            self.playback.lose(dropped, self._queued())

    def played(self) -> int:
        """Samples of the reply that this listener has heard."""
        return self.playback.played(self._queued())

    def through(self) -> bool:
        """Whether the listener has heard everything of the reply that was handed over."""
        return self._broken or self.playback.through(self._queued())

    def stop(self) -> int:
        """Throws away what has not left; returns how many samples of the reply were heard."""
        if not self._broken:
            try:
                self.playback.drop(max(0, int(self._call.clear())))
            except Exception:  # noqa: BLE001 - costs this line
                self._fail()
        return self.played()

    def _queued(self) -> int:
        if self._broken:
            return 0
        try:
            return max(0, int(self._call.queued))
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
            return 0

    def _fail(self) -> None:
        self._broken = True
        log.exception("call %s: its line takes no more sound", self.session_id)
