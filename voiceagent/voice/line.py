"""One call's seat on the floor: what its listener is handed, and what its speaker is heard saying by the others."""

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from voiceagent import clock
from voiceagent.audio.frame import FRAME_SAMPLES, SILENCE, AudioFrame, Samples
from voiceagent.transport.call import Call
from voiceagent.voice.flight import Flight
from voiceagent.voice.leak import Leak
from voiceagent.voice.playback import Playback

log = logging.getLogger(__name__)

WAITING: Final = 12
"""Frames of a speaker that may wait for their tick: the first ones come together, once they are known to be speech."""


class Line:
    """A line that fails or ends is heard and told nothing more, and costs nobody else.

    `hearing`: its person speaks, or has spoken words that are not known yet, and no reply begins meanwhile; `deciding`: they have
    said something for which no agent has found a way yet, and what waits may be obsolete. The floor is told of a change.
    """

    def __init__(self, call: Call, participant_id: str, on_quiet: Callable[[], None]) -> None:
        """`on_quiet` is called when a reply has ended, before the next one begins."""
        self.session_id = call.session_id
        self.has_screen = call.has_screen
        self.participant_id = participant_id
        self.playback = Playback()
        self.leak = Leak()
        self.began_at = 0
        self._from = 0
        self._least = 0
        self.hearing = False
        self.deciding = False
        self.on_quiet = on_quiet
        self._call = call
        self._flight = Flight()
        self._talk: deque[Samples] = deque(maxlen=WAITING)
        self._handed = 0
        self._deaf = False

    @property
    def talking(self) -> bool:
        """Whether sound of this speaker waits to be heard by the others."""
        return bool(self._talk)

    @property
    def deaf(self) -> bool:
        """Whether the listener hears nothing any more: the line has failed, or is over."""
        return self._deaf

    def begin(self, at: int = 0) -> None:
        """Another reply begins for the listener; `at`: the place in it, in samples, where one who has come meanwhile comes in."""
        self.playback = Playback()
        self.began_at = self._from = self._least = at

    def again(self, at: int, most: int) -> None:
        """The reply, of which nothing waits at the line, sounds from `at` on once more: of what was heard of it, what lies past
        `most` counts only as it is heard again. Places in the reply, in samples."""
        self._least = max(self._least, min(self.played(), most))
        self.playback = Playback()
        self._from, self.began_at = at, min(at, self.began_at)

    def talk(self, samples: Samples) -> None:
        """20 ms of this speaker for the others; the oldest goes when too many wait."""
        if samples.shape == SILENCE.shape:  # anything else would break the mix for everybody
            self._talk.append(samples)

    def take(self) -> Samples | None:
        """The next 20 ms of this speaker, None when there is nothing to hear."""
        return self._talk.popleft() if self._talk else None

    def hand(self, samples: Samples, *, own: bool) -> None:
        """20 ms for the listener; `own`: the sounding reply is in it."""
        if self._deaf:
            return
        try:
            dropped = int(self._call.play(AudioFrame(samples, self._handed)) or 0)
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
            return
        self._handed += FRAME_SAMPLES
        if own:  # people are not guarded against one another: two who begin at once are both heard
            self.leak.played(samples, clock.now())
        self._flight.hand(clock.now())
        self.playback.hand(own=own)
        if dropped:
            self.playback.lose(dropped, self._queued())

    def played(self) -> int:
        """The place in the reply, in samples, up to which this listener has heard it."""
        return max(self._least, self._from + self.playback.played(self._queued() + self._flying()))

    def through(self) -> bool:
        """Whether the listener has heard everything of the reply that was handed over."""
        return self._deaf or self.playback.through(self._queued() + self._flying())

    def stop(self) -> int:
        """Throws away what has not left; returns the place up to which the reply is heard: what has left comes to the ear yet."""
        self._clear()
        self.playback.played(self._queued())
        return self.played()

    def end(self) -> None:
        """The listener has hung up; what has not come to their ear by now they do not hear."""
        self._clear()
        self.playback.drop(self._flying())
        self._deaf = True

    def _clear(self) -> None:
        if self._deaf:
            return
        try:
            self.playback.drop(max(0, int(self._call.clear())))
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
        self._flight.drop(clock.now())

    def _queued(self) -> int:
        if self._deaf:
            return 0
        try:
            return max(0, int(self._call.queued))
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
            return 0

    def _flying(self) -> int:
        """Samples that have left and are not heard yet."""
        if self._deaf:
            return 0
        try:
            return self._flight.samples(max(0, int(self._call.behind)), clock.now())
        except Exception:  # noqa: BLE001 - costs this line
            self._fail()
            return 0

    def _fail(self) -> None:
        self._deaf = True
        log.exception("call %s: its line takes no more sound", self.session_id)
