"""One microphone's sound, on its way from the device's thread to the loop."""

import contextlib
from collections.abc import Callable, Iterator

from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples
from voiceagent.transport.speaker.devices import Device, capturing
from voiceagent.transport.speaker.ring import Ring


class Capture:
    """`blocks` counts what the device has brought: while it stands still, the device is gone. `on_sound` is called in the
    device's thread."""

    def __init__(self, device: Device, on_sound: Callable[[], object]) -> None:
        self.device = device
        self.blocks = 0
        self._on_sound = on_sound
        self._ring = Ring(device.rate)
        self._resampler = Resampler(device.rate, RATE, live=True)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The device is listened to while inside; blocks to open and close. Raises TransportError."""
        with capturing(self.device, self._heard):
            yield

    def read(self) -> Samples:
        """What came since, 16 kHz mono; of more than a second the newest."""
        return self._resampler.process(self._ring.read(self.device.rate))

    def _heard(self, samples: Samples) -> None:
        self._ring.write(samples)
        self.blocks += 1
        self._on_sound()
