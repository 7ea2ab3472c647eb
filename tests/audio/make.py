"""Makes the recordings of this folder: sentences by Piper, noises by arithmetic. Run: python tests/audio/make.py VOICE.onnx"""

import asyncio
import sys
import wave
from pathlib import Path

import numpy as np

from voiceagent.audio.frame import RATE, Samples
from voiceagent.speech.engines import sound_of
from voiceagent.speech.piper import PiperEngine

HERE = Path(__file__).resolve().parent

SPOKEN = {
    "yes": "Yes.",
    "opening_hours": "What time does the library open on Saturday?",
    "borrow": "How many books can I borrow at once, and for how long?",
}


def noises() -> dict[str, Samples]:
    """Two seconds each: white noise, mains hum, plucked tones, clicks."""
    random = np.random.default_rng(7)
    time = np.arange(2 * RATE) / RATE
    pluck = np.exp(-np.arange(RATE // 4) / 2500)
    tones = [
        np.sin(2 * np.pi * hertz * np.arange(RATE // 4) / RATE) * pluck for hertz in (262, 330, 392, 523, 392, 330, 262, 196)
    ]
    clicks = np.zeros(2 * RATE)
    clicks[random.integers(0, 2 * RATE, 12)] = 4
    sounds = {
        "white": random.normal(size=2 * RATE) * 0.4,
        "hum": sum((np.sin(2 * np.pi * 50 * k * time) / k for k in range(1, 8)), np.zeros(2 * RATE)),
        "tones": np.concatenate(tones),
        "clicks": np.convolve(clicks, np.exp(-np.arange(200) / 30), "same"),
    }
    return {name: np.clip(sound * 6000, -32768, 32767).astype(np.int16) for name, sound in sounds.items()}


def write(name: str, samples: Samples) -> None:
    with wave.open(str(HERE / f"{name}.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


async def main(voice: Path) -> None:
    engine = PiperEngine(voice)
    silence = np.zeros(RATE * 3 // 10, dtype=np.int16)
    for name, text in SPOKEN.items():
        write(f"spoken_{name}", np.concatenate([silence, await sound_of(engine, text), silence]))
    engine.close()
    for name, samples in noises().items():
        write(f"noise_{name}", samples)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
