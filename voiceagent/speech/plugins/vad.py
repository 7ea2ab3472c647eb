"""Whether a voice sounds, by any LiveKit Agents detector: a stream of its own for each line, closed with it."""

import asyncio
from collections.abc import Callable, Mapping

from livekit.agents import vad

from voiceagent.audio.frame import Samples
from voiceagent.errors import SpeechError
from voiceagent.plugins import PluginClass
from voiceagent.speech.plugins.calling import frame_of


class PluginDetectors:
    """Makes a detector for each line. A plugin answers a frame or two late, since it works beside the loop."""

    def __init__(self, found: PluginClass, options: Mapping[str, object]) -> None:
        """Loads the plugin's model; blocks. Raises ConfigError for its options, ModelError when it refuses to be made."""
        made = found.make(options)
        assert isinstance(made, vad.VAD)
        self._plugin = made
        self._name = found.name
        self._lines: set[PluginDetector] = set()

    def __call__(self) -> "PluginDetector":
        """A line's detector; called on the loop."""
        line = PluginDetector(self._plugin.stream(), self._name, self._lines.discard)
        self._lines.add(line)
        return line

    async def close(self) -> None:
        """Ends those that are still there."""
        for line in tuple(self._lines):
            line.close()
            await line.ended()


class PluginDetector:
    """One line's stream of frames, and what the plugin said last of it."""

    def __init__(self, stream: vad.VADStream, name: str, on_end: Callable[["PluginDetector"], None]) -> None:
        self._stream = stream
        self._name = name
        self._on_end = on_end
        self._last = 0.0
        self.behind = 0
        """Samples that it was given and has not judged yet: less than two frames where it keeps up."""
        self._reading = asyncio.create_task(self._read(), name=f"detector {name}")

    def probability(self, frame: Samples) -> float:
        """What the plugin last said, 0..1; `frame` is judged by the next calls. Raises SpeechError once the plugin has failed."""
        if self._reading.done():
            raise SpeechError(f"{self._name} judges no more")
        self._stream.push_frame(frame_of(frame))
        self.behind += frame.size
        return self._last

    def reset(self) -> None:
        """What comes is a new stretch."""
        self._stream.flush()
        self._last = 0.0

    def close(self) -> None:
        """The line has ended."""
        self._reading.cancel()

    async def ended(self) -> None:
        """Returns once nothing of it runs any more."""
        await asyncio.wait((self._reading,))

    async def _read(self) -> None:
        try:
            async for event in self._stream:
                if event.type is vad.VADEventType.INFERENCE_DONE:
                    self._last = min(1.0, max(0.0, event.probability))
                    self.behind -= sum(frame.samples_per_channel for frame in event.frames)
        finally:
            await self._stream.aclose()
            self._on_end(self)
