"""Real voices in rooms with an agent that judges for itself: who is answered, who is left alone, and how a cut answer goes on."""

import asyncio
import io
import subprocess
import wave
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import which

import numpy as np
import pytest
import soxr

from tests.sound.hearing import load
from tests.sound.talking import Row, Talk, Talked, together, write
from voiceagent import engines
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.llm.model import Chunk, LanguageModel, Prompt, TextDelta
from voiceagent.speech.engines import sound_of
from voiceagent.speech.piper import PiperEngine

pytestmark = pytest.mark.usefixtures("default_models")

TELEPHONE = "pyannote-sample.wav"
TURNS = {
    "Diane": ((6_680, 7_160), (8_440, 9_820), (10_780, 14_300), (17_780, 21_700), (28_440, 30_000)),
    "Sheila": ((7_500, 8_300), (9_830, 10_790), (14_350, 17_780), (21_800, 28_440)),
}
"""Who speaks when in the recording, in ms; nobody before 6.6 s."""

ORDER = "Your order left the house this morning."
WEATHER = (
    "On Monday it will be dry and rather cold. On Tuesday the wind will turn to the west, and rain is likely in the evening. "
    "From Wednesday on it will be mild again. The weekend will be sunny everywhere."
)
MONTREAL = "In Montreal it will snow until Friday."
NOTES = f"""

## The weather

Q: What is the weather this week?
A: {WEATHER}

Q: What is the weather in Montreal?
Q: And for Montreal?
A: {MONTREAL}
"""
"""Added to the notes that come with the program."""

SHIPPED = Path(__file__).resolve().parents[2] / "config" / "notes.md"
HUM = "mm-hm"


@pytest.fixture
def judged(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Runs of `talk` in which the shipped classifier decides on every turn, with all its settings as they are by default."""
    monkeypatch.setenv("VOICEAGENT_JUDGMENT__POLICY", "classifier")
    return talk


class Voice:
    """Makes speech: sentences by Piper, and a hum by espeak-ng, which has the sound for it."""

    def __init__(self, piper: PiperEngine) -> None:
        self._piper = piper

    def say(self, text: str) -> Samples:
        """The sentence."""
        return asyncio.run(sound_of(self._piper, text))

    def hum(self) -> Samples:
        """ "Mm-hm.", which no recognizer writes twice alike; skips where espeak-ng is not installed."""
        if which("espeak-ng") is None:
            pytest.skip("espeak-ng is missing: apt-get install espeak-ng")
        command = ["espeak-ng", "-v", "en-us+f2", "-s", "170", "--stdout", "[[@mh'@m]]"]
        made = subprocess.run(command, capture_output=True, check=True, timeout=30)
        with wave.open(io.BytesIO(made.stdout)) as file:
            sound, rate = np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16), file.getframerate()
        resampled: Samples = soxr.resample(sound, rate, RATE).astype(np.int16)
        return resampled


@pytest.fixture
def voice(piper: PiperEngine) -> Voice:
    return Voice(piper)


def decided(run: Talked) -> list[Row]:
    """The decisions, in order: who spoke, what, and what became of it."""
    told = [line["data"] for line in run.told("input.decided")]
    return [{"who": one["turn"]["last"]["speaker"], "text": one["turn"]["last"]["text"], **one} for one in told]


def answers(run: Talked) -> list[str | None]:
    """What each answer that was begun answers, by its event."""
    return [line["responds_to"] for line in run.told("generation.started")]


def telephone(talk: Talk, shared_audio: Path, *, pause_at: int = 0, pause: int = 0) -> list[tuple[str, Path, int]]:
    """The two people of the recording as two callers, each heard on their own line; with a pause put in between two turns."""
    sound = load(shared_audio / TELEPHONE)
    callers = []
    for name, turns in TURNS.items():
        pieces = [(at + (pause if at >= pause_at > 0 else 0), sound[to_samples(at) : to_samples(to)]) for at, to in turns]
        callers.append((name, write(talk.folder / f"{name}.wav", together(*pieces)), 0))
    return callers


def test_two_people_who_talk_to_each_other_are_left_alone(judged: Talk, shared_audio: Path) -> None:
    """With the brain that comes with the program, which thinks while it listens and may offer what it knows."""
    run = judged("--script", judged.script(*telephone(judged, shared_audio)), "--llm", "notes")
    decisions = decided(run)
    assert [(one["mode"], one["text"]) for one in decisions if one["mode"] != "silent"] == []
    assert answers(run) == []
    assert not run.right.any()
    assert {one["who"] for one in decisions} == {"Diane", "Sheila"}
    assert len(decisions) >= 6
    assert "new jersey" in run.words_of("Diane").lower()
    assert "yankee" in run.words_of("Sheila").lower()


@pytest.mark.parametrize("asked_at", [15_000, 20_000])
def test_a_third_who_asks_over_their_talk_is_answered_once(judged: Talk, shared_audio: Path, voice: Voice, asked_at: int) -> None:
    """What the two say after it is another matter: the weights take some of it for leave to go on, or for wondering."""
    tom = write(judged.folder / "Tom.wav", voice.say("Nova, order status."))
    run = judged("--script", judged.script(*telephone(judged, shared_audio), ("Tom", tom, asked_at)), answers=[ORDER])
    answered_once(run, "Tom")


def test_a_third_who_asks_in_a_pause_is_answered_once_and_heard_out(judged: Talk, shared_audio: Path, voice: Voice) -> None:
    tom = write(judged.folder / "Tom.wav", voice.say("Nova, order status."))
    callers = telephone(judged, shared_audio, pause_at=14_350, pause=9_000)
    run = judged("--script", judged.script(*callers, ("Tom", tom, 16_000)), answers=[ORDER])
    question = answered_once(run, "Tom")
    [answer] = [row for row in run.said_by("Nova") if row["responds_to"] == question]
    assert (answer["text"], answer["cut"]) == (ORDER, False)


def answered_once(run: Talked, name: str) -> str:
    """Checks that one has asked one thing, was answered before anybody else, and once. Returns the event of the question."""
    [question] = run.said_by(name)
    mine = [(one["text"], one["mode"], one["reason"]) for one in decided(run) if one["who"] == name]
    assert mine == [(question["text"], "speak", "addressed")]
    event: str = question["event_id"]
    assert answers(run)[0] == event
    assert answers(run).count(event) == 1
    return event


TALK_OF_TEN = (
    ("Ana", "So the first point is the budget."),
    ("Bo", "I think we should wait until June."),
    ("Ana", "Why should we wait?"),
    ("Bo", "The new prices come in June."),
    ("Ana", "What was the price last year?"),
    ("Bo", "It was twelve hundred dollars."),
    ("Ana", "That is a lot of money."),
    ("Bo", "Could you send me the old invoice?"),
    ("Ana", "I will look for it tonight."),
    ("Bo", "Thanks, that would help."),
)


def test_asked_to_just_listen_it_is_quiet_for_ten_turns_and_until_it_may_talk_again(judged: Talk, voice: Voice) -> None:
    """Nobody calls it by its name to send it into silence."""
    said = [("Ana", "Just listen for now."), *TALK_OF_TEN, ("Ana", "You can talk again."), ("Ana", "Nova, what did we say?")]
    at, pieces = 200, {"Ana": [], "Bo": []}  # type: tuple[int, dict[str, list[tuple[int, Samples]]]]
    for who, text in said:
        sound = voice.say(text)
        pieces[who].append((at, sound))
        at += sound.size * 1_000 // RATE + (4_000 if text == "You can talk again." else 1_400)
    lines = [(who, write(judged.folder / f"{who}.wav", together(*sounds)), 0) for who, sounds in pieces.items()]
    run = judged("--script", judged.script(*lines), answers=[ORDER])
    decisions = decided(run)
    lifting = next(place for place, one in enumerate(decisions) if "talk again" in one["text"].lower())
    first, *listened = decisions[:lifting]
    lifted, *rest = decisions[lifting:]
    assert (first["mode"], first["reason"], first["final"]) == ("silent", "asked to listen", True)
    assert len(listened) >= len(TALK_OF_TEN)  # whoever pauses long may be taken in two turns, also in the last ones
    assert {(one["mode"], one["reason"], one["final"]) for one in listened} == {("silent", "listening", True)}
    assert "lift" in lifted["judgments"]
    assert ("speak", "addressed") in {(one["mode"], one["reason"]) for one in rest}
    heard = run.said_by("Ana")
    since = next(place for place, row in enumerate(heard) if "talk again" in row["text"].lower())
    assert set(answers(run)) <= {row["event_id"] for row in heard[since:]}
    assert [line["data"]["listening"] for line in run.told("room.listening")] == [True, False]


class Unhurried:
    """A brain whose sentences come one by one, with time between them, so that its answer is still being made when it is cut."""

    def __init__(self, brain: LanguageModel) -> None:
        self._brain = brain
        self.name = brain.name

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        async for chunk in self._brain.stream(prompt):
            yield chunk
            if isinstance(chunk, TextDelta):
                await asyncio.sleep(2.5)


@pytest.mark.parametrize(
    ("acknowledged", "made"),
    [(HUM, "whole"), (HUM, "still being made"), ("Right, right.", "whole"), ("Okay.", "still being made")],
)
def test_an_acknowledgement_costs_an_answer_nothing_and_a_question_stops_it(
    judged: Talk, voice: Voice, monkeypatch: pytest.MonkeyPatch, acknowledged: str, made: str
) -> None:
    """One person alone with the agent; what is spoken over is the brain's own streamed answer."""
    notes, brain = judged.folder / "notes.md", engines.brain
    notes.write_text(SHIPPED.read_text(encoding="utf-8") + NOTES, encoding="utf-8")
    if made == "still being made":
        monkeypatch.setattr(engines, "brain", lambda settings: Unhurried(brain(settings)))
    sounds = (voice.say("What is the weather this week?"), voice.hum() if acknowledged == HUM else voice.say(acknowledged))
    sound = together((0, sounds[0]), (4_500, sounds[1]), (9_000, voice.say("Wait, and for Montreal?")))
    run = judged(write(judged.folder / "Ann.wav", sound), "--llm", f"notes:{notes}")
    # The voice makes a long pause behind its "Wait": that may be a turn of its own, which is left to go on.
    assert [(one["mode"], one["reason"]) for one in decided(run) if one["reason"] != "not finished"] == [
        ("speak", "addressed")
    ] * 2
    assert answers(run) == [run.said_by("Ann")[place]["event_id"] for place in (0, -1)]
    assert [line["data"]["disposition"] for line in run.told("input.settled")].count("backchannel") == 1
    weather, snow = run.said_by("Nova")
    assert (weather["cut"], snow["cut"]) == (True, False)
    assert WEATHER.startswith(weather["text"])
    assert len(weather["text"]) > len("On Monday it will be dry and rather cold.")
    assert snow["text"] == MONTREAL
