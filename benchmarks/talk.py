"""Measures how long a person waits in `talk`: from the end of their speech to the first sound of the answer, in real time.

    OPENBLAS_NUM_THREADS=1 python benchmarks/talk.py [--folder DIR] [--rounds 2] [--json]

Every English recording calls once a round, alone, in a room of its own, and is answered by a canned line. The whole wait is
measured at the caller: from the sample at which the recording falls silent (its last 60 ms within 26 dB of its loudest, so that
no click counts; our own detector has no part in it) to the sample at which the line begins to sound. What the program says of
itself only divides it: end of speech to words, words to the model's first token, first token to first sound. A recording with a
pause in it that was answered too early, so that no answer begins after its end, is named and left out.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from voiceagent import clock, config
from voiceagent.app import App, Choices
from voiceagent.audio.decode import read_sound
from voiceagent.audio.frame import RATE, Samples, to_ms
from voiceagent.cli.loop import run
from voiceagent.room.events import Participant
from voiceagent.room.feed import FeedEvent
from voiceagent.transport.file import FileCall
from voiceagent.values import JSON

SHARED = Path(os.environ.get("VOICEAGENT_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NO_TURN = ("noise", "_fr", "pyannote")
"""Parts of the names of recordings in which nobody says anything in English to an agent."""

ANSWER = "All right, I will see to that for you. Is there anything else?"
QUIET = 0.05
WINDOW = RATE * 30 // 1000
LONGEST_WAIT_MS = 10_000
STAGES = ("speech_to_words", "words_to_token", "token_to_sound", "total")


@dataclass(frozen=True, slots=True)
class Wait:
    """One turn's wait, ms: the whole of it measured at the caller, its parts as the program tells them."""

    recording: str
    speech_to_words: int
    words_to_token: int
    token_to_sound: int
    total: int


def end_of_speech_ms(sound: Samples) -> int:
    """Where a recording's last 60 ms end that are within 26 dB of its loudest."""
    windows = sound[: sound.size - sound.size % WINDOW].reshape(-1, WINDOW).astype(np.float64)
    levels = np.sqrt((windows**2).mean(axis=1))
    loud = levels > QUIET * levels.max()
    return to_ms((int(np.flatnonzero(loud[:-1] & loud[1:])[-1]) + 2) * WINDOW)


def first_sound_ms(call: FileCall, after_ms: int) -> int | None:
    """When the line began to sound after this moment, having been silent before; None when it never did."""
    free_at = 0
    for piece in call.heard():
        if piece.at_ms >= after_ms and piece.at_ms - free_at > 100:
            return piece.at_ms + to_ms(int(np.flatnonzero(piece.samples)[0]) if piece.samples.any() else 0)
        free_at = piece.ends_at_ms
    return None


async def answered(app: App, room: str, call: FileCall) -> FeedEvent | None:
    """The waits of the last turn, once its answer has been heard; hangs up then, or when none came."""
    latency = None
    reader = app.engine.feed(room).subscribe(0)
    try:
        async with asyncio.timeout((call.speaks_until_ms + LONGEST_WAIT_MS) / 1000):
            async for event in reader.events():
                latency = event if event.type == "turn.latency" else latency
                spoken = call.opened_at_ms is not None and clock.now() - call.opened_at_ms >= call.speaks_until_ms
                if event.type == "speech.finished" and spoken:
                    break
    except TimeoutError:
        pass
    finally:
        reader.close()
    call.finish()
    return latency


async def called(app: App, room: str, recording: Path) -> Wait | None:
    """One call; None when no answer began after its end."""
    sound = read_sound(recording).samples
    call = FileCall(room, sound)
    await app.open_room(room)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(app.reception.receive(call, room_id=room, participant=Participant("caller", recording.stem)))
        latency = await answered(app, room, call)
    end = end_of_speech_ms(sound)
    sounded = first_sound_ms(call, end)
    if latency is None or sounded is None:
        return None
    parts = [latency.data[f"{stage}_ms"] for stage in ("words_to_first_token", "first_token_to_first_sound")]
    to_token, to_sound = (part if isinstance(part, int) else 0 for part in parts)
    total = sounded - end
    return Wait(recording.stem, total - to_token - to_sound, to_token, to_sound, total)


async def measure(recordings: Sequence[Path], rounds: int, folder: Path) -> tuple[list[Wait], list[str]]:
    """All waits, and the names of calls that were left out; the first call of all warms up and is not counted."""
    canned = folder / "answers.jsonl"
    canned.write_text(json.dumps({"text": ANSWER}))
    options: dict[str, JSON] = {"llm.brain": "canned", "llm.canned": str(canned), "judgment.policy": "always"}
    waits: list[Wait] = []
    left_out: list[str] = []
    async with App(config.load(None, options=options), Choices(memory=True, greet=False)) as app:
        await called(app, "warm-up", recordings[0])
        for number, recording in enumerate([*recordings] * rounds):
            wait = await called(app, f"room-{number}", recording)
            if wait is None:
                left_out.append(recording.stem)
            else:
                waits.append(wait)
    return waits, left_out


def share(values: Sequence[int], percent: int) -> int:
    """A percentile of at least two values."""
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1])


def main() -> None:
    """Prints the table, or everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=SHARED / "audio", help="recordings, by default those beside the repository"
    )
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    files = sorted(path for path in asked.folder.glob("*") if path.suffix in (".wav", ".flac"))
    recordings = [path for path in files if not any(part in path.stem for part in NO_TURN)]
    if not recordings:
        parser.exit(2, f"no recordings in {asked.folder}; name a folder with --folder\n")
    with tempfile.TemporaryDirectory() as folder:
        waits, left_out = run(measure(recordings, asked.rounds, Path(folder)))
    figures = {stage: [getattr(wait, stage) for wait in waits] for stage in STAGES}
    load = os.getloadavg()[0]
    if asked.json:
        shares = {stage: {"p50": share(values, 50), "p95": share(values, 95)} for stage, values in figures.items()}
        print(json.dumps({"load": load, "shares_ms": shares, "left_out": left_out, "waits": [asdict(wait) for wait in waits]}))
        return
    print(f"{len(waits)} turns; load {load:.1f} on {os.cpu_count()} cores; left out: {', '.join(left_out) or 'none'}")
    for stage, values in figures.items():
        print(f"  {stage:16s} p50 {share(values, 50):5d} ms   p95 {share(values, 95):5d} ms   max {max(values):5d} ms")


if __name__ == "__main__":
    main()
