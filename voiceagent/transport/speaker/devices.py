"""This machine's microphones and loudspeakers: which there are, and sound from and to one of them."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import sounddevice

from voiceagent.audio.convert import to_int16
from voiceagent.audio.frame import Samples
from voiceagent.errors import TransportError

Kind = Literal["input", "output"]

LATENCY_S: Final = 0.06
"""Less gives gaps under load; one stream both ways creeps to half a second."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device that can be opened. `is_default`: it is taken where none is named."""

    name: str
    kind: Kind
    rate: int
    channels: int
    is_default: bool


def devices() -> list[Device]:
    """All there are, inputs first; blocks. Raises TransportError when this machine's sound cannot be reached."""
    try:
        found, chosen = list(sounddevice.query_devices()), sounddevice.default.device
    except sounddevice.PortAudioError as error:
        raise TransportError(f"the sound of this machine cannot be reached: {error}") from error
    return [
        Device(one["name"], kind, int(one["default_samplerate"]), one[f"max_{kind}_channels"], chosen[place] == one["index"])
        for place, kind in enumerate[Kind](("input", "output"))
        for one in found
        if one[f"max_{kind}_channels"] > 0
    ]


def find(kind: Kind, name: str | None) -> Device:
    """The one of which `name` is a part, in any case, or the default. Blocks. Raises TransportError with those there are."""
    there = [one for one in devices() if one.kind == kind]
    wanted = [one for one in there if name.casefold() in one.name.casefold()] if name else [o for o in there if o.is_default]
    if wanted:
        return wanted[0]
    what = "microphone" if kind == "input" else "loudspeaker"
    if not there:
        raise TransportError(f"this machine has no {what} that can be reached: plug one in, or start its sound server")
    names = ", ".join(repr(one.name) for one in there)
    asked = f"called {name!r}" if name else "that is the default"
    raise TransportError(f"there is no {what} {asked}; there are: {names} (voiceagent speaker --list-devices)")


@contextlib.contextmanager
def capturing(device: Device, heard: Callable[[Samples], None]) -> Iterator[float]:
    """While inside, `heard` is given the device's sound, mono at its rate, in the device's own thread. Yields its latency in
    seconds; blocks to open and close. Raises TransportError."""

    def taken(block: Any, frames: int, time: object, status: object) -> None:
        heard(block[:, 0].copy() if block.shape[1] == 1 else to_int16(block.mean(axis=1)))

    with _stream(sounddevice.InputStream, device, min(device.channels, 2), taken) as latency:
        yield latency


@contextlib.contextmanager
def playing(device: Device, give: Callable[[int], Samples]) -> Iterator[float]:
    """While inside, `give` is asked for as many mono samples as the device plays next, fewer become silence behind them."""

    def filled(block: Any, frames: int, time: object, status: object) -> None:
        samples = give(frames)
        block[: samples.size] = samples[:, np.newaxis]
        block[samples.size :] = 0

    with _stream(sounddevice.OutputStream, device, min(device.channels, 2), filled) as latency:
        yield latency


def refresh() -> None:
    """Has the list of devices made anew: what was plugged in since is found then. No stream may be open. Blocks."""
    sounddevice._terminate()  # noqa: SLF001 - PortAudio looks for devices only when it starts, and the package has no other way
    sounddevice._initialize()  # noqa: SLF001


@contextlib.contextmanager
def _stream(kind: Any, device: Device, channels: int, callback: Callable[[Any, int, object, object], None]) -> Iterator[float]:
    try:
        stream = kind(
            samplerate=device.rate,
            blocksize=device.rate // 100,
            device=device.name,
            channels=channels,
            dtype="int16",
            latency=LATENCY_S,
            callback=callback,
        )
        stream.start()
    except (sounddevice.PortAudioError, ValueError) as error:
        raise TransportError(f"{device.name!r} cannot be opened ({error}); see: voiceagent speaker --list-devices") from error
    try:
        yield float(stream.latency)
    finally:
        with contextlib.suppress(sounddevice.PortAudioError):  # a device that is gone cannot be closed
            stream.close(ignore_errors=True)
