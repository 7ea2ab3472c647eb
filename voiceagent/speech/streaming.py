"""What a recognizer that listens while a person speaks must offer: words as they come, and one that steps in when it fails."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from voiceagent.audio.frame import Samples
from voiceagent.speech.engines import Transcript


@dataclass(frozen=True, slots=True)
class Heard:
    """Words so far of one stream: all that it was given, from its start. `sure` ones will not change any more."""

    transcript: Transcript
    sure: bool = False


class SpeechStream(Protocol):
    """One connection to a recognizer, for one stretch of speech. Pushing never waits."""

    @property
    def interim(self) -> bool:
        """Whether it tells words while a person speaks: where it does, its silence is a sign."""
        ...

    def push(self, samples: Samples) -> None:
        """The next sound, 16 kHz mono int16, any length. Does nothing once the stream has failed."""
        ...

    def finish(self) -> None:
        """No more sound will come: the last words follow, and then the end."""
        ...

    def events(self) -> AsyncIterator[Heard]:
        """Words whenever the other side says anything, until all that was pushed is recognized. Raises SpeechError."""
        ...

    async def close(self) -> None:
        """Lets go of the connection, whatever state it is in."""
        ...


@runtime_checkable
class StreamingSpeechToText(Protocol):
    """A recognizer that can listen along."""

    @property
    def streams(self) -> bool:
        """Whether it does: some take only whole stretches, as they were set up."""
        ...

    def stream(self) -> SpeechStream:
        """A new stream, connecting. Called on the event loop."""
        ...


@runtime_checkable
class Chained(Protocol):
    """Several recognizers behind one: who streams now, and who has failed at it."""

    def streaming(self) -> StreamingSpeechToText | None:
        """Whoever is asked first, if it can listen along."""
        ...

    def failed(self, engine: object, error: Exception) -> None:
        """`engine` gave nothing, or too late: others go first for a while."""
        ...


def listening(stt: object) -> StreamingSpeechToText | None:
    """The recognizer that would listen along now, where `stt` is one, or is a chain that begins with one."""
    if isinstance(stt, Chained):
        return stt.streaming()
    return stt if isinstance(stt, StreamingSpeechToText) and stt.streams else None
