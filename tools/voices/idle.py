"""What a sleeping line costs, in a process of its own: prints the MB of memory over numpy alone, and the percent of a core.

python -m tools.voices.idle
"""

import importlib
import time
from pathlib import Path

import numpy as np

FRAMES = 3_000


def resident() -> float:
    """This process's memory, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    """Listens to a minute of quiet noise, and to what is played, which is silence."""
    noise = (np.random.default_rng(0).normal(size=(FRAMES, 320)) * 30).astype(np.int16)
    before = resident()
    engines, settings = (importlib.import_module(f"voiceagent.{name}") for name in ("speech.microwake", "speech.settings"))
    wake, gate = (importlib.import_module(f"voiceagent.speech.{name}") for name in ("wake", "gate"))
    phrase = "okay_nabu"
    spotters = engines.MicroSpotter(phrase), engines.MicroSpotter(phrase)
    line = wake.WakeFilter(settings.WakeSettings(phrase=phrase), *spotters, gate.Gate())
    silence = np.zeros(320, dtype=np.int16)
    began = time.process_time()
    for number, frame in enumerate(noise):
        line.hear(frame, number * 20)
        line.played(silence, number * 20)
    spent = time.process_time() - began
    print(f"{resident() - before:.1f} {100 * spent / (FRAMES * 0.02):.2f}")


if __name__ == "__main__":
    main()
