"""Prepares what is said, runs each system in a process of its own, one after the other, and judges what was heard."""

import asyncio
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel
from piper import PiperVoice

from benchmarks.peers import clips as said
from benchmarks.peers.heard import Reference, words_claimed, words_heard
from benchmarks.peers.plan import Clip, Plan
from benchmarks.peers.result import Result
from benchmarks.peers.trials import hearing_words
from voiceagent import config, weights
from voiceagent.engines import brain
from voiceagent.llm.model import Message, Prompt, TextDelta
from voiceagent.values import JSON

REPOSITORY = Path(__file__).resolve().parents[2]
SHORT = "All right, I will do that."
QUESTIONS = (
    "When are you open on Saturday?",
    "Where is the library?",
    "How many books can I borrow at a time?",
    "How much is the fine for a late book?",
    "Can I park my bicycle there?",
    "Do children need to pay late fees?",
)
LONGEST_RUN_S = 3_600


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many of each there are."""

    waits: int
    notes: int
    pauses: int
    barge: int
    noises: int
    murmurs: int
    calls: tuple[int, ...]
    telephone: bool = True


QUICK = Sizes(2, 0, 0, 1, 1, 0, (), telephone=False)
SHORTER = Sizes(8, 2, 12, 5, 3, 2, ())
FULL = Sizes(24, 6, 60, 24, 8, 8, (1, 2, 3, 4, 6, 8))


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that is said, and the long replies' references."""

    plan: Plan
    references: tuple[Reference, ...]


def prepare(folder: Path, shared: Path, sizes: Sizes) -> Material:
    """Makes the clips in `folder`. Recordings that are not there are left out, and sentences made in their place."""
    folder.mkdir(parents=True, exist_ok=True)
    whisper, piper = weights.path("whisper-tiny.en"), weights.path("en_US-joe-medium")
    maker = said.Maker(folder, PiperVoice.load(piper), WhisperModel(str(whisper), device="cpu", compute_type="int8"))
    audio = shared / "audio"
    whole = [maker.recording(path) for name in said.WHOLE if (path := audio / f"{name}.wav").is_file()]
    made = [maker.sentence(f"made-{number}", text) for number, text in enumerate(said.SENTENCES)]
    questions = QUESTIONS[: sizes.notes]
    references = tuple(_reference(maker, text) for text in said.REPLIES)
    plan = Plan(
        system="",
        setting="",
        whisper=str(whisper),
        piper=str(piper),
        short=SHORT,
        replies=said.REPLIES,
        lengths=tuple(reference.sound.size for reference in references),
        known=asyncio.run(_answers(questions)),
        warm=(maker.sentence("warm", "Hello, can you hear me well?"),),
        waits=_spread([*whole, *made], sizes.waits),
        notes=tuple(maker.sentence(f"notes-{number}", text) for number, text in enumerate(questions)),
        pauses=_paused(maker, audio, sizes),
        barge=_repeated([maker.sentence(f"barge-{number}", text) for number, text in enumerate(said.BARGE)], sizes.barge),
        noises=_repeated(_noises(maker, audio), sizes.noises),
        murmurs=_repeated([maker.sentence(f"murmur-{n}", text) for n, text in enumerate(said.MURMURS)], sizes.murmurs),
        calls=(),
    )
    return Material(plan, references)


def _paused(maker: said.Maker, audio: Path, sizes: Sizes) -> tuple[Clip, ...]:
    """Sentences with made pauses, Kennedy's with his own, and the people on the telephone, from their first word on."""
    found = maker.pauses(sizes.pauses, each=3)
    jfk, telephone = audio / "faster-whisper-jfk.flac", audio / "pyannote-sample.wav"
    if sizes.telephone:
        found += [maker.recording(path) for path in (jfk, telephone) if path.is_file()]
    return tuple(found)


def _noises(maker: said.Maker, audio: Path) -> list[Clip]:
    real = [audio / f"tau2-noise_{name}.wav" for name in ("dog_bark", "car_horn")]
    return [*maker.noises(), *(maker.recording(path) for path in real if path.is_file())]


def _spread(clips: list[Clip], count: int) -> tuple[Clip, ...]:
    """So many of them, evenly chosen."""
    if count >= len(clips):
        return tuple(clips)
    return tuple(clips[round(index)] for index in np.linspace(0, len(clips) - 1, count))


def _repeated(clips: list[Clip], count: int) -> tuple[Clip, ...]:
    return tuple(clips[number % len(clips)] for number in range(count))


def _reference(maker: said.Maker, text: str) -> Reference:
    sound = maker.spoken(text)
    ends = maker.word_ends(sound, text)
    if ends is None:
        raise RuntimeError(f"the recognizer hears other words than these: {text}")
    return Reference(tuple(hearing_words(text)), sound, tuple(ends))


async def _answers(questions: tuple[str, ...]) -> dict[str, str]:
    """What our notes brain answers to each question, found beforehand, so that every system is given the same."""
    if not questions:
        return {}
    notes = brain(config.load(None, {}, {}).llm)
    answers = {}
    for question in questions:
        prompt = Prompt((Message("user", question),))
        pieces = [chunk.text async for chunk in notes.stream(prompt) if isinstance(chunk, TextDelta)]
        answers[question] = "".join(pieces)
    return answers


def run(material: Material, python: Path, system: str, setting: str, out: Path, *, cores: set[int] | None = None) -> bool:
    """One process; False when it failed, which is said. `material.plan.calls`: several calls at once, on `cores`."""
    plan_file = out.with_suffix(".plan.json")
    values = {**asdict(material.plan), "system": system, "setting": setting}
    plan_file.write_text(json.dumps(values))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY), "LIVEKIT_URL": ""}
    command = [str(python), "-m", "benchmarks.peers.drive", str(plan_file), str(out)]
    print(f"== {system}, {setting}{f', calls {material.plan.calls}' if material.plan.calls else ''}", flush=True)
    with out.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=log, stderr=subprocess.STDOUT)
        if cores:
            os.sched_setaffinity(process.pid, cores)
        try:
            code = process.wait(LONGEST_RUN_S)
        except BaseException:
            process.kill()
            raise
    if code or not out.is_file():
        print(f"{system}, {setting} failed; see {out.with_suffix('.log')}", file=sys.stderr, flush=True)
        return False
    judge(out, material.references)
    return True


def judge(out: Path, references: tuple[Reference, ...]) -> None:
    """Adds to a result, for each reply that was spoken over, the words that sounded and those the system holds to have been
    heard; and the machine's load in the five minutes before its end."""
    result = Result.read(out)
    result.load = round(os.getloadavg()[1], 1)
    sounds = np.load(out.with_suffix(".npz"))
    for kind, overs in (("barge", result.barge), ("noises", result.noises), ("murmurs", result.murmurs)):
        for number, over in enumerate(overs):
            reference = references[over.reply]
            heard = round(words_heard(reference, sounds[f"{kind}-{number}"]), 2)
            claimed = words_claimed(over.claimed)
            overs[number] = replace(over, words_heard=heard, words_claimed=claimed, words=len(reference.words))
    result.write(out)


def machine() -> dict[str, JSON]:
    """Where and when this is measured."""
    model = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
