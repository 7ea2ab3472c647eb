"""Real people's voices, told apart by the real encoder: known ones by name, strangers by number, a television by nobody's."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.sound.hearing import load, model
from voiceagent.audio.frame import RATE, Samples, to_samples
from voiceagent.cli.voices import app
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.enrolment import enrolled, enrolment
from voiceagent.speech.voicebook import Known
from voiceagent.speech.voices import VoiceEncoder, voiced
from voiceagent.voice.who import Company, Found

KENNEDY, READER, QUILTER, FRENCH = (
    "faster-whisper-jfk.flac",
    "pocketsphinx-librivox-0870.wav",
    "leopard-test.wav",
    "leopard-test_fr.wav",
)
READERS_OTHER = "pocketsphinx-librivox-0880.wav"
TELEPHONE, CROWD = "pyannote-sample.wav", "tau2-noise_people_talking.wav"


@pytest.fixture(scope="module")
def encoder() -> Iterator[VoiceEncoder]:
    encoder = VoiceEncoder(model("voice-encoder"))
    yield encoder
    encoder.close()


def parts(sound: Samples, ms: int = 2_000) -> list[Samples]:
    """Its voice in utterances of so much each."""
    voice, size = voiced(sound), to_samples(ms)
    return [voice[at : at + size] for at in range(0, voice.size - size + 1, size)]


def known(encoder: VoiceEncoder, name: str, *sounds: Samples) -> Known:
    return Known(name, enrolled(encoder, sounds))


def names(encoder: VoiceEncoder, company: Company, sounds: list[Samples]) -> list[str | None]:
    found = [company.heard(traits) for sound in sounds if (traits := encoder.read(sound)) is not None]
    return [one.name if one is not None else None for one in found]


def test_enrolled_people_are_named_in_what_they_say_next(encoder: VoiceEncoder, shared_audio: Path) -> None:
    said = {name: parts(load(shared_audio / file), 3_000) for name, file in (("Jack", KENNEDY), ("Ann", READER))}
    company = Company([known(encoder, name, *sounds[:2]) for name, sounds in said.items()].copy)
    later = {
        name: [*sounds[2:], *(parts(load(shared_audio / READERS_OTHER), 2_000) if name == "Ann" else [])]
        for name, sounds in said.items()
    }
    assert {name: set(names(encoder, company, sounds)) for name, sounds in later.items()} == {name: {name} for name in said}


def test_strangers_get_numbers_and_keep_them(encoder: VoiceEncoder, shared_audio: Path) -> None:
    first, second, third = (parts(load(shared_audio / file)) for file in (QUILTER, READER, FRENCH))
    order = [first[0], second[0], first[1], third[0], second[1], third[1]]
    assert names(encoder, Company(tuple), order) == ["voice 1", "voice 2", "voice 1", "voice 3", "voice 2", "voice 3"]


def test_a_television_is_taken_for_nobody_who_is_known(encoder: VoiceEncoder, shared_audio: Path) -> None:
    """The gate is 2 % of its utterances; here of 40 none is, whoever of four is known."""
    people = [known(encoder, file, *parts(load(shared_audio / file))) for file in (KENNEDY, READER, QUILTER, FRENCH)]
    company = Company(lambda: people)
    shown = [*parts(load(shared_audio / TELEPHONE), 1_500), *parts(load(shared_audio / CROWD), 1_500)]
    found = [company.name(traits) for sound in shown if (traits := encoder.read(sound)) is not None]
    assert len(found) >= 40
    assert [one for one in found if one is not None and one.known] == []


def test_a_known_voice_over_the_television_at_6_db_is_still_theirs(encoder: VoiceEncoder, shared_audio: Path) -> None:
    reader, crowd = load(shared_audio / READER), load(shared_audio / CROWD)
    company = Company([known(encoder, "Ann", *parts(reader)[:2])].copy)
    sounds = parts(reader)[2:] + parts(load(shared_audio / READERS_OTHER))
    assert {company.name(traits) for sound in sounds if (traits := encoder.read(over(sound, crowd, 6.0))) is not None} == {
        Found("Ann", known=True)
    }


def over(voice: Samples, noise: Samples, db: float) -> Samples:
    """A voice so many decibels over a noise."""
    loud, soft = (float(np.sqrt(np.mean(sound.astype(np.float64) ** 2))) for sound in (voice, noise[: voice.size]))
    return np.clip(voice + noise[: voice.size] * (loud / soft) * 10 ** (-db / 20), -32_768, 32_767).astype(np.int16)


def test_nobody_is_heard_in_silence(encoder: VoiceEncoder) -> None:
    assert encoder.read(np.zeros(RATE, dtype=np.int16)) is None
    assert encoder.read(np.zeros(0, dtype=np.int16)) is None


async def test_it_reads_beside_the_loop_and_says_when_it_is_closed(shared_audio: Path) -> None:
    encoder, sound = VoiceEncoder(model("voice-encoder")), load(shared_audio / QUILTER)
    traits, at_once = await encoder.traits(sound), encoder.read(sound)
    assert traits is not None and at_once is not None
    assert np.array_equal(traits.print, at_once.print)
    assert float(np.linalg.norm(traits.print)) == pytest.approx(1.0, abs=1e-5)
    encoder.close()
    with pytest.raises(SpeechError, match="closed"):
        await encoder.traits(sound)


def test_weights_that_are_none_say_so(tmp_path: Path) -> None:
    (tmp_path / "pretrained.pt").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"cannot be made of pretrained\.pt"):
        VoiceEncoder(tmp_path / "pretrained.pt")


def test_enrolling_needs_enough_of_one_person(encoder: VoiceEncoder, shared_audio: Path) -> None:
    kennedy, reader, order = (load(shared_audio / file) for file in (KENNEDY, READER, "tau2-order_status.wav"))
    with pytest.raises(SpeechError, match="too little"):
        enrolment(encoder, [order])
    with pytest.raises(SpeechError, match="more than one person"):
        enrolment(encoder, [kennedy, reader])
    assert len(enrolment(encoder, [kennedy])) >= 2


def test_a_person_is_taught_listed_and_forgotten(shared_audio: Path, tmp_path: Path) -> None:
    model("voice-encoder")
    (tmp_path / "my.toml").write_text(f'[speaker.voices]\nfile = "{tmp_path / "voices.json"}"\n')
    settings, run = ["--config", str(tmp_path / "my.toml")], CliRunner().invoke
    recordings = [str(shared_audio / file) for file in (READER, READERS_OTHER)]
    added = run(app, ["add", "Ann", *recordings, *settings])
    assert (added.exit_code, "Ann is known from now on" in added.output) == (0, True), added.output
    again = run(app, ["add", "Jane", *recordings, *settings])
    assert "Ann sounds much like Jane" in again.output
    assert run(app, ["list", *settings]).output.splitlines()[:2] == ["Ann", "Jane"]
    run(app, ["remove", "Jane", *settings])
    run(app, ["remove", "ann", *settings])
    assert run(app, ["list", *settings]).output.startswith("0 known")


def test_a_person_is_taught_by_microphone(shared_audio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model("voice-encoder")
    asked: list[tuple[float, str | None]] = []

    def record(seconds: float, device: str | None) -> Samples:
        asked.append((seconds, device))
        return load(shared_audio / KENNEDY)

    monkeypatch.setattr("voiceagent.engines.record", record)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = CliRunner().invoke(app, ["add", "Jack", "--seconds", "12", "--device", "desk"])
    assert "please speak for 12 s" in done.output
    assert (done.exit_code, asked) == (0, [(12.0, "desk")])
    assert (tmp_path / "voiceagent" / "voices.json").is_file()
