"""How well a microphone and a loudspeaker get on: a sentence is played and recorded, and what came back is measured."""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Final

import numpy as np

from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, RATE, Samples, to_ms, to_samples
from voiceagent.transport.speaker import devices
from voiceagent.transport.speaker.canceller import Canceller
from voiceagent.transport.speaker.capture import Capture
from voiceagent.transport.speaker.playout import Playout

QUIET_MS: Final = 1_000
TAIL_MS: Final = 600
LONGEST_DELAY_MS: Final = 1_000

HEARD_DB: Final = 6.0
LOUD_DBFS: Final = -6.0
LATE_MS: Final = 400
LOSS_DB: Final = 15.0


@dataclass(frozen=True, slots=True)
class Check:
    """Levels in dBFS: of the room, of the sentence at the microphone, of its loudest sample. `delay_ms` from the loudspeaker's
    order to the microphone; `loss_db`: by how much the canceller lowered the second half of the sentence."""

    noise: float
    heard: float
    peak: float
    delay_ms: int
    loss_db: float

    @property
    def advice(self) -> tuple[str, ...]:
        """What to change, the most important first; nothing when all is well."""
        if self.heard < self.noise + HEARD_DB:
            return (
                "The microphone does not hear the loudspeaker: with headphones that is right (cancel_echo = false); otherwise "
                "turn it up, or name other devices (voiceagent speaker --list-devices).",
            )
        told = (
            (self.peak > LOUD_DBFS, "The loudspeaker is too loud at the microphone: turn it down, or move the two apart."),
            (self.delay_ms > LATE_MS, f"The sound takes {self.delay_ms} ms: no Bluetooth, and no effects in the sound server."),
            (
                self.loss_db < LOSS_DB,
                "Much of the echo is left: turn the loudspeaker down, and move it away from the microphone.",
            ),
        )
        return tuple(words for wrong, words in told if wrong)


def measure(quiet: Samples, played: Samples, heard: Samples) -> Check:
    """From the room alone, and from what was played and heard at the same time; 16 kHz mono."""
    delay = _delay(played, heard)
    canceller, left = Canceller(), list[Samples]()
    for at in range(0, min(played.size, heard.size), FRAME_SAMPLES):
        canceller.played(played[at : at + FRAME_SAMPLES])
        left.append(canceller.heard(heard[at : at + FRAME_SAMPLES]))
    after = np.concatenate(left)
    second = slice(after.size // 2, after.size)
    peak = float(np.abs(heard.astype(np.int32)).max(initial=1))
    return Check(
        _level(quiet), _level(heard), 20 * np.log10(peak / 32_768), to_ms(delay), _level(heard[second]) - _level(after[second])
    )


async def check(microphone: str | None, loudspeaker: str | None, sentence: Samples) -> Check:
    """Plays the sentence by one device while the other listens; the names are as for a call. Raises TransportError."""
    with contextlib.ExitStack() as stack:
        capture, playout = await asyncio.to_thread(_opened, stack, microphone, loudspeaker)
        quiet = await _listen(capture, playout, QUIET_MS)
        heard, played = list[Samples](), list[Samples]()
        tail = np.zeros(to_samples(TAIL_MS), dtype=np.int16)
        sound = np.concatenate((sentence, tail))
        for at in range(0, sound.size, FRAME_SAMPLES):
            playout.play(sound[at : at + FRAME_SAMPLES])
            await asyncio.sleep(FRAME_MS / 1000)
            played.append(playout.sounded())
            heard.append(capture.read())
    return measure(quiet, np.concatenate(played), np.concatenate(heard))


def _opened(stack: contextlib.ExitStack, microphone: str | None, loudspeaker: str | None) -> tuple[Capture, Playout]:
    capture = Capture(devices.find("input", microphone), lambda: None)
    playout = Playout(devices.find("output", loudspeaker))
    stack.enter_context(playout.opened())
    stack.enter_context(capture.opened())
    return capture, playout


async def _listen(capture: Capture, playout: Playout, ms: int) -> Samples:
    await asyncio.sleep(ms / 1000)
    playout.sounded()
    return capture.read()


def _delay(played: Samples, heard: Samples) -> int:
    """By how many samples what was heard lies behind what was played: where the two are most alike (by their spectra)."""
    size = 1 << (played.size + heard.size - 1).bit_length()
    alike = np.fft.irfft(np.fft.rfft(heard.astype(np.float64), size) * np.conj(np.fft.rfft(played.astype(np.float64), size)))
    return int(np.argmax(np.abs(alike[: LONGEST_DELAY_MS * RATE // 1000])))


def _level(sound: Samples) -> float:
    power = float((sound.astype(np.float64) ** 2).mean()) if sound.size else 0.0
    return float(10 * np.log10(power / 32_768**2 + 1e-10))
