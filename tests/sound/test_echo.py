"""The agent's own voice in the microphone: through a whole call it is nobody, and a person over it is a person."""

from pathlib import Path

import numpy as np
import pytest

from tests.sound.echoing import EchoingCall
from tests.sound.hearing import load
from tests.sound.references import REFERENCES, plain
from tests.sound.talking import Talk, Talked, together, write
from tests.sound.test_talk_cuts import level
from voiceagent.audio.frame import RATE, Samples, to_samples

pytestmark = pytest.mark.usefixtures("default_models")

QUESTION, OVER = "tau2-order_status.wav", "leopard-test.wav"
ANSWERS = (
    "The parcel left our house this morning with the first van, and the driver will ring at your door.",
    "You can borrow up to twelve books at once, for three weeks, if nobody else is waiting for them.",
    "We are open from nine in the morning until ten at night, every day but Sunday.",
)
AGENT_RMS = 2_300.0
"""About as loud as the voice's speech is."""


@pytest.fixture
def echoing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> tuple[float, int]:
    """All calls have a microphone that hears the loudspeaker: (level_db, delay_ms)."""
    level_db, delay_ms = request.param
    kind = type("Kind", (EchoingCall,), {"level_db": level_db, "delay_ms": delay_ms})
    monkeypatch.setattr("voiceagent.cli.play.FileCall", kind)
    return float(level_db), int(delay_ms)


@pytest.mark.parametrize("echoing", [(-6, 80), (-12, 170), (-20, 300)], indirect=True, ids=str)
def test_case_19_the_agents_own_voice_neither_cuts_nor_is_a_turn(
    talk: Talk, shared_audio: Path, echoing: tuple[float, int]
) -> None:
    """Three answers in a row, of which the microphone hears every word."""
    question = load(shared_audio / QUESTION)
    call = talk(write(talk.folder / "Ann.wav", together(*((at, question) for at in (0, 10_000, 20_000)))), answers=ANSWERS)
    assert [plain(row["text"]) for row in call.said_by("Ann")] == [REFERENCES[QUESTION]] * 3
    assert [(row["text"], row["cut"]) for row in call.said_by("Nova")] == [(answer, False) for answer in ANSWERS]
    assert [call.told(f"speech.{kind}") for kind in ("ducked", "paused", "cut")] == [[], [], []]


@pytest.mark.parametrize("echoing", [(-6, 80), (-12, 170), (-20, 300)], indirect=True, ids=str)
@pytest.mark.parametrize("over_db", [0, 6])
def test_case_19_a_person_over_the_echo_still_cuts(
    talk: Talk, shared_audio: Path, echoing: tuple[float, int], over_db: int
) -> None:
    question, person = load(shared_audio / QUESTION), load(shared_audio / OVER)[:-RATE]
    loud = AGENT_RMS * 10 ** ((echoing[0] + over_db) / 20)
    speech = (person * (loud / rms(person))).clip(-32768, 32767).astype(np.int16)
    at_ms = 5_000
    call = talk(write(talk.folder / "Ann.wav", together((0, question), (at_ms, speech))), answers=[ANSWERS[0] * 2, "Yes."])
    first = call.said_by("Nova")[0]
    assert first["cut"]
    quickly = over_db > 0 and echoing[0] > -20  # at -20 dB the person is as quiet as -37 dBFS
    assert silent_after(call, at_ms + onset_ms(speech)) <= (400 if quickly else 700)


def rms(sound: Samples) -> float:
    """Of what is loud in it."""
    frames = (sound[: sound.size // 320 * 320].astype(float).reshape(-1, 320) ** 2).mean(axis=1)
    return float(np.sqrt(frames[frames > frames.max() * 0.01].mean()))


def onset_ms(sound: Samples) -> int:
    """Where its first sound lies."""
    return int(np.flatnonzero(np.abs(sound.astype(int)) > np.abs(sound.astype(int)).max() * 0.05)[0]) * 1000 // RATE


def silent_after(call: Talked, at_ms: int) -> int:
    """How long after `at_ms` the listener first hears nothing for 100 ms."""
    for late in range(0, 3_000, 10):
        begin = to_samples(at_ms + late)
        if level(call.right, begin, begin + to_samples(100)) < 1:
            return late
    return 3_000
