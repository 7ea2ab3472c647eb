"""Runs of `talk` with scripted ears, voice and brain: what is written, when a run ends, and that it is the same every time."""

import asyncio
import json
import random
import uuid
import wave
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from voiceagent.agent.channel import AIChannel
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_samples
from voiceagent.cli.play import Play, Result, Speaker
from voiceagent.cli.tap import Tap
from voiceagent.clock import VirtualLoop
from voiceagent.config import Settings, load
from voiceagent.llm.model import LanguageModel
from voiceagent.llm.scripted import CannedLine, CannedModel, EchoModel
from voiceagent.room.engine import RoomEngine
from voiceagent.speech.engines import TextToSpeech, Transcript
from voiceagent.speech.speakable import speakable
from voiceagent.transport.file import FileCall
from voiceagent.values import JSON
from voiceagent.voice.reception import Hearing, Reception


class Loudness:
    """Hears a voice in whatever is loud."""

    def probability(self, frame: Samples) -> float:
        return 0.95 if int(np.abs(frame.astype(np.int32)).max()) > 1000 else 0.0

    def reset(self) -> None:
        pass


class Dictation:
    """Gives the next text for each whole utterance; an empty one when there is none left."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = list(texts)
        self._known: dict[int, str] = {}

    async def transcribe(self, sound: Samples, *, partial: bool = False) -> Transcript:
        if partial:
            return Transcript("")
        key = sound.size
        if key not in self._known:
            self._known[key] = self._texts.pop(0) if self._texts else ""
        return Transcript(self._known[key])


class Hum:
    """Speaks 60 ms a letter."""

    async def speak(self, text: str) -> AsyncIterator[Samples]:
        yield np.full(to_samples(60 * len(text)), 3000, dtype=np.int16)


class Hall:
    """A stage of scripted engines."""

    def __init__(
        self, engine: RoomEngine, settings: Settings, model: LanguageModel, texts: Sequence[str], voice: TextToSpeech
    ) -> None:
        self.settings = settings
        self.engine = engine
        engine.register_channel(AIChannel(settings.agent.channel_id, provider=model, settings=settings.agent))
        self.reception = Reception(engine, Hearing(Dictation(texts), Loudness, settings.hearing), voice, settings.voice)

    async def open_room(self, room_id: str) -> None:
        await self.engine.create_room(room_id)
        await self.engine.attach_channel(room_id, self.settings.agent.channel_id)


def speech(*spans: tuple[int, int]) -> Samples:
    """Sound that is loud in the spans (ms) and silent elsewhere, half a second longer than the last of them."""
    sound = np.zeros(to_samples(spans[-1][1] + 500), dtype=np.int16)
    for begin, end in spans:
        sound[to_samples(begin) : to_samples(end)] = 8000
    return sound


def ids() -> str:
    return uuid.UUID(int=_SOURCE.getrandbits(128), version=4).hex


_SOURCE = random.Random(0)


async def played(
    out: Path | None,
    speakers: Sequence[Speaker],
    texts: Sequence[str],
    model: LanguageModel | None = None,
    wait_ms: int = 30_000,
    **options: JSON,
) -> Result:
    _SOURCE.seed(0)
    settings = load(None, {}, {"voice.greeting": "", **{key.replace("__", "."): value for key, value in options.items()}})
    async with RoomEngine(ids=ids) as engine:
        tap = Tap(speakable)
        hall = Hall(engine, settings, model or EchoModel(), texts, tap.around(Hum()))
        return await Play(hall, tap, speakers, out, lambda at_ms: None).run(wait_ms)


async def test_a_question_is_answered_and_everything_is_written(tmp_path: Path) -> None:
    result = await played(tmp_path, [Speaker("Ann", speech((500, 1500)), 0)], ["hello you"])
    assert result.rested
    question, answer = json.loads((tmp_path / "transcript.json").read_text())
    assert (question["speaker"], question["text"]) == ("Ann", "hello you")
    assert abs(question["start_ms"] - 500) <= 40
    assert abs(question["end_ms"] - 1500) <= 60
    assert (answer["speaker"], answer["text"], answer["responds_to"]) == ("Nova", "hello you", question["event_id"])
    assert (answer["cut"], answer["played_ms"]) == (False, 540)
    assert answer["start_ms"] > question["end_ms"]
    assert abs(answer["end_ms"] - answer["start_ms"] - 540) <= 60
    lines = [json.loads(line) for line in (tmp_path / "timeline.jsonl").read_text().splitlines()]
    assert [line["seq"] for line in lines if "seq" in line] == list(range(1, sum("seq" in line for line in lines) + 1))
    assert {"input.started", "room.event", "speech.started", "speech.finished", "participant.left"} <= {
        line["type"] for line in lines
    }


def sides(path: Path) -> tuple[Samples, Samples]:
    """The people's track and the agent's."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getframerate()) == (2, RATE)
        sound = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").reshape(-1, 2)
    return sound[:, 0], sound[:, 1]


async def test_of_two_who_talk_at_once_nothing_is_on_the_agent_s_side(tmp_path: Path) -> None:
    speakers = [Speaker("Ann", speech((200, 1400)), 0), Speaker("Bob", speech((300, 1500)), 0)]
    result = await played(tmp_path, speakers, ["first", "second"])
    people, agent = sides(tmp_path / "mix.wav")
    assert np.flatnonzero(people)[0] == to_samples(200)
    answers = [row for row in result.rows if row.speaker == "Nova"]
    assert np.flatnonzero(agent)[0] == to_samples(answers[0].start_ms)
    assert set(np.unique(agent).tolist()) == {0, 3000}
    assert np.flatnonzero(agent).size == sum(to_samples(row.played_ms or 0) for row in answers)


async def test_a_cut_answer_is_in_the_mix_as_far_as_it_was_heard(tmp_path: Path) -> None:
    long = CannedModel([CannedLine("this answer is rather long and goes on for many words"), CannedLine("yes")])
    speakers = [Speaker("Ann", speech((200, 1000), (2500, 3500)), 0), Speaker("Bob", speech((0, 20)), 0)]
    result = await played(tmp_path, speakers, ["first", "stop"], long)
    _, agent = sides(tmp_path / "mix.wav")
    cut = next(row for row in result.rows if row.cut)
    assert not agent[to_samples(cut.start_ms + (cut.played_ms or 0)) : to_samples(cut.end_ms + 100)].any()
    assert agent[to_samples(cut.start_ms) : to_samples(cut.start_ms + (cut.played_ms or 0))].all()


async def test_the_mix_has_the_person_left_and_the_agent_right_in_time(tmp_path: Path) -> None:
    await played(tmp_path, [Speaker("Ann", speech((500, 1500)), 0)], ["hello you"])
    answer = json.loads((tmp_path / "transcript.json").read_text())[1]
    left, right = (np.flatnonzero(side) for side in sides(tmp_path / "mix.wav"))
    assert (left[0], left[-1]) == (to_samples(500), to_samples(1500) - 1)
    assert abs(right[0] - to_samples(answer["start_ms"])) <= 2 * FRAME_SAMPLES
    assert abs(right.size - to_samples(540)) <= FRAME_SAMPLES


def play_once(folder: Path) -> None:
    """One run on a loop of its own."""
    folder.mkdir()
    speakers = [Speaker("Ann", speech((200, 900), (2500, 3300)), 0), Speaker("Bob", speech((0, 700)), 1200)]
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(played(folder, speakers, ["one", "two", "three"]))


def test_the_same_run_gives_the_same_files_byte_for_byte(tmp_path: Path) -> None:
    names = ("transcript.json", "timeline.jsonl", "mix.wav")
    play_once(tmp_path / "first")
    play_once(tmp_path / "second")
    first, second = ([(tmp_path / folder / name).read_bytes() for name in names] for folder in ("first", "second"))
    assert first == second
    assert len(json.loads(first[0])) >= 4


async def test_talking_over_the_agent_cuts_it_and_says_how_much_was_heard(tmp_path: Path) -> None:
    long = CannedModel([CannedLine("this answer is rather long and goes on for many words"), CannedLine("yes")])
    result = await played(tmp_path, [Speaker("Ann", speech((200, 1000), (2500, 3500)), 0)], ["first", "the other"], long)
    first, cut, second, last = result.rows
    assert (first.text, second.text, last.text) == ("first", "the other", "yes")
    assert cut.cut
    assert cut.played_ms is not None
    assert 500 < cut.played_ms < 2000
    assert cut.responds_to == first.event_id


@pytest.mark.parametrize("stop", ["Stop.", "No, wait!", "Attends, stop."])
async def test_who_only_stops_an_answer_gets_none(tmp_path: Path, stop: str) -> None:
    long = CannedModel([CannedLine("this answer is rather long and goes on for many words"), CannedLine("yes")])
    speakers = [Speaker("Ann", speech((200, 1000), (2500, 3500), (6000, 6800)), 0)]
    result = await played(tmp_path, speakers, ["first", stop, "the other"], long)
    assert [(row.speaker, row.text, row.cut) for row in result.rows] == [
        ("Ann", "first", False),
        ("Nova", "this answer is rather long and goes on for many words", True),
        ("Ann", stop, False),
        ("Ann", "the other", False),
        ("Nova", "yes", False),
    ]


async def test_two_callers_keep_their_names_and_times(tmp_path: Path) -> None:
    speakers = [Speaker("Ann", speech((100, 800)), 0), Speaker("Bob", speech((0, 600)), 3000)]
    result = await played(tmp_path, speakers, ["from ann", "and from bob"])
    people = [(row.speaker, row.text) for row in result.rows if row.speaker != "Nova"]
    assert people == [("Ann", "from ann"), ("Bob", "and from bob")]
    bob = next(row for row in result.rows if row.speaker == "Bob")
    assert abs(bob.start_ms - 3000) <= 120


async def test_a_silent_caller_ends_the_run_soon_after_the_recording() -> None:
    result = await played(None, [Speaker("Ann", np.zeros(RATE, dtype=np.int16), 0)], [])
    assert result.rested
    assert result.rows == ()
    assert 1000 <= result.length_ms <= 3000


async def test_a_run_that_does_not_come_to_rest_is_ended_and_says_so() -> None:
    endless = CannedModel([CannedLine("word " * 400)])
    result = await played(None, [Speaker("Ann", speech((100, 900)), 0)], ["hi"], endless, 2000)
    assert not result.rested
    assert result.length_ms < 6000


async def test_a_call_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(call: object) -> AsyncIterator[object]:
        raise OSError("the line is cut")

    monkeypatch.setattr(FileCall, "frames", broken)
    result = await played(None, [Speaker("Ann", speech((100, 400)), 0)], [])
    assert result.broken == ("a call was ended by an error: the line is cut",)


async def test_the_greeting_is_said_and_answers_nobody() -> None:
    result = await played(None, [Speaker("Ann", np.zeros(2 * RATE, dtype=np.int16), 0)], [], voice__greeting="Good day")
    (row,) = result.rows
    assert (row.speaker, row.text, row.responds_to, row.played_ms) == ("Nova", "Good day", None, 480)
