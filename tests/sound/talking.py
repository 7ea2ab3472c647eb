"""`voiceagent talk --fast` called as the command line calls it, in this process, on engines that stay loaded."""

import json
import wave
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.cli.main import app
from voiceagent.speech.engines import SpeechToText, TextToSpeech, Timing, Transcript

Row = dict[str, Any]
"""A row of transcript.json, or a line of timeline.jsonl."""


class LentEars:
    """The session's recognizer, which a program that ends does not close."""

    def __init__(self, stt: SpeechToText) -> None:
        self._stt = stt

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        return await self._stt.transcribe(sound, partial=partial)


class LentVoice:
    """The session's voice, which a program that ends does not close; keeps what it made, sentence by sentence."""

    def __init__(self, tts: TextToSpeech) -> None:
        self.made: list[tuple[str, Samples]] = []
        self._tts = tts

    async def speak(self, text: str) -> AsyncIterator[Samples | Timing]:
        pieces = []
        async for piece in self._tts.speak(text):
            if not isinstance(piece, Timing):
                pieces.append(piece)
            yield piece
        self.made.append((text, np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int16)))


@dataclass(frozen=True)
class Talked:
    """What a run said and wrote: `left` and `right` are the two sides of mix.wav, `made` the sentences that were synthesised."""

    code: int
    output: str
    rows: list[Row]
    timeline: list[Row]
    left: Samples
    right: Samples
    made: list[tuple[str, Samples]]

    def said_by(self, speaker: str) -> list[Row]:
        """The rows of one speaker, in order."""
        return [row for row in self.rows if row["speaker"] == speaker]

    def words_of(self, speaker: str) -> str:
        """All that one speaker said."""
        return " ".join(row["text"] for row in self.said_by(speaker))

    def told(self, kind: str) -> list[Row]:
        """The events of one type."""
        return [line for line in self.timeline if line["type"] == kind]

    def records(self) -> list[Row]:
        """The cut records that the room keeps."""
        events = [line["data"]["event"] for line in self.told("room.event")]
        return [event for event in events if event["metadata"].get("interrupted") is True]


class Talk:
    """Runs `talk`, each time into a folder of its own."""

    def __init__(self, folder: Path, voice: LentVoice) -> None:
        self.folder = folder
        self._voice = voice
        self._runs = 0

    def __call__(self, *arguments: Path | str, answers: Sequence[str] = ("",), fast: bool = True) -> Talked:
        """`answers` are what the agent says, in order, the last one again and again; an empty one: nothing. Not `fast`: in real
        time."""
        self._runs += 1
        out, canned = self.folder / f"run-{self._runs}", self.folder / f"answers-{self._runs}.jsonl"
        canned.write_text("".join(json.dumps({"text": text}) + "\n" for text in answers))
        self._voice.made.clear()
        pace = ("--fast",) if fast else ()
        command = ["talk", *pace, "--out", str(out), "--llm", f"canned:{canned}", *map(str, arguments)]
        done = CliRunner().invoke(app, command, catch_exceptions=False)
        if done.exit_code:
            silence = np.zeros(0, dtype=np.int16)
            return Talked(done.exit_code, done.output, [], [], silence, silence, [])
        left, right = _sides(out / "mix.wav")
        rows = json.loads((out / "transcript.json").read_text())
        timeline = [json.loads(line) for line in (out / "timeline.jsonl").read_text().splitlines()]
        return Talked(0, done.output, rows, timeline, left, right, list(self._voice.made))

    def script(self, *callers: tuple[str, Path, int]) -> Path:
        """A script of callers: name, file, start_ms."""
        path = self.folder / f"script-{self._runs}.toml"
        path.write_text(
            "".join(
                f"[[caller]]\nname = {json.dumps(name)}\nfile = {json.dumps(str(file))}\nstart_ms = {at}\n"
                for name, file, at in callers
            )
        )
        return path


def _sides(path: Path) -> tuple[Samples, Samples]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, RATE)
        sound = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").reshape(-1, 2)
    return sound[:, 0], sound[:, 1]


def write(path: Path, sound: Samples, rate: int = RATE) -> Path:
    """A 16-bit WAV file; `sound` is (n,) or (n, channels)."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1 if sound.ndim == 1 else sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.ascontiguousarray(sound).tobytes())
    return path


def together(*pieces: tuple[int, Samples]) -> Samples:
    """One recording of several, each at its time in ms, added up."""
    sound = np.zeros(max(to_samples(at) + piece.size for at, piece in pieces), dtype=np.int32)
    for at, piece in pieces:
        sound[to_samples(at) : to_samples(at) + piece.size] += piece
    return np.clip(sound, -32768, 32767).astype(np.int16)
