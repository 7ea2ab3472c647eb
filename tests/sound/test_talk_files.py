"""Which files `voiceagent talk` takes: any usual format, rate and number of channels; what is no sound is refused."""

import wave
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import av
import numpy as np
import pytest
import soxr

from tests.sound.references import REFERENCES, plain
from tests.sound.talking import Talk, write
from voiceagent.audio.frame import RATE, Samples

pytestmark = pytest.mark.usefixtures("default_models")

RECORDING = "tau2-order_status"


def original(shared_audio: Path) -> Samples:
    with wave.open(str(shared_audio / f"{RECORDING}.wav")) as file:
        assert (file.getnchannels(), file.getframerate()) == (1, RATE)
        return np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)


def coded(path: Path, sound: Samples, codec: Literal["flac", "libmp3lame"]) -> Path:
    """The sound in a compressed file, by FFmpeg."""
    with av.open(str(path), "w") as container:
        stream: av.AudioStream = container.add_stream(codec, rate=RATE)
        stream.layout = "mono"
        frame = av.AudioFrame.from_ndarray(sound.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        resampler = av.AudioResampler(format=stream.format.name, layout="mono", rate=RATE)
        for piece in (*resampler.resample(frame), None):
            container.mux(stream.encode(piece))
    return path


def at_rate(sound: Samples, rate: int) -> Samples:
    converted: Samples = soxr.resample(sound, RATE, rate)
    return converted


def stereo(path: Path, sound: Samples) -> Path:
    wide = at_rate(sound, 44_100)
    return write(path, np.stack((wide, wide), axis=1), 44_100)


def five_channels(path: Path, sound: Samples) -> Path:
    """As of a room's microphones: each hears a little less than the one before."""
    return write(path, np.stack([(sound * share).astype(np.int16) for share in (1.0, 0.9, 0.8, 0.7, 0.6)], axis=1))


MAKERS: dict[str, Callable[[Path, Samples], Path]] = {
    "order.flac": lambda path, sound: coded(path, sound, "flac"),
    "order.mp3": lambda path, sound: coded(path, sound, "libmp3lame"),
    "stereo-44100.wav": stereo,
    "telephone-8000.wav": lambda path, sound: write(path, at_rate(sound, 8_000), 8_000),
    "five-channels.wav": five_channels,
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_recording_in_another_form_gives_the_same_words(talk: Talk, shared_audio: Path, name: str) -> None:
    file = MAKERS[name](talk.folder / name, original(shared_audio))
    assert plain(talk(file).words_of(file.stem)) == REFERENCES[f"{RECORDING}.wav"]


@pytest.mark.parametrize("name", ["tau2-order_status", "tau2-hello"])
def test_raw_telephone_sound_gives_the_same_words(talk: Talk, shared_audio: Path, name: str) -> None:
    assert plain(talk(shared_audio / f"{name}.ulaw").words_of(name)) == REFERENCES[f"{name}.wav"]


def corrupt(folder: Path) -> Path:
    path = folder / "corrupt.wav"
    path.write_bytes(b"RIFF\x24\x10\0\0WAVEfmt " + bytes(range(256)) * 16)
    return path


def broken_inside(folder: Path) -> Path:
    path = coded(folder / "broken.flac", np.zeros(RATE, dtype=np.int16), "flac")
    path.write_bytes(path.read_bytes()[:60] + b"\xff" * 4096)
    return path


def text(folder: Path) -> Path:
    path = folder / "words.txt"
    path.write_text("I'd like to check my order status, please.\n" * 100)
    return path


def empty(folder: Path) -> Path:
    path = folder / "empty.wav"
    path.touch()
    return path


UNUSABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "corrupt": (corrupt, "damaged"),
    "damaged inside": (broken_inside, "holds no sound"),
    "text": (text, "no sound file"),
    "empty": (empty, "is empty"),
    "header alone": (lambda folder: write(folder / "header.wav", np.zeros(0, dtype=np.int16)), "holds no sound"),
    "missing": (lambda folder: folder / "gone.wav", "cannot be read"),
    "a folder": (lambda folder: folder, "not a regular file"),
    "endless": (lambda folder: Path("/dev/zero"), "not a regular file"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_what_is_no_recording_is_refused_by_name_with_exit_code_2(talk: Talk, tmp_path: Path, what: str) -> None:
    make, says = UNUSABLE[what]
    file = make(tmp_path)
    run = talk(file)
    assert run.code == 2, run.output
    assert len(run.output.splitlines()) == 1
    assert run.output.startswith(f"voiceagent: {file} ")
    assert says in run.output
