"""Reading sound files: every format, rate and channel count gives the same tone; everything unusable gives one clear error."""

import contextlib
import os
from pathlib import Path
from typing import cast

import av
import numpy as np
import pytest
from av.audio.stream import AudioStream
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.audio.convert import encode_alaw, encode_mulaw
from voiceagent.audio.decode import Sound, read_sound
from voiceagent.audio.frame import Samples
from voiceagent.audio.level import dbfs
from voiceagent.audio.wav import WavWriter
from voiceagent.errors import AudioError


def tone(rate: int, ms: int = 1000) -> Samples:
    """500 Hz at -20 dBFS of a full sine."""
    return (3276.7 * np.sin(2 * np.pi * 500 * np.arange(rate * ms // 1000) / rate)).astype(np.int16)


def write(path: Path, codec: str, rate: int, layout: str = "mono", ms: int = 1000) -> Path:
    """A file of the tone on every channel, made by ffmpeg."""
    with av.open(str(path), "w") as container:
        options = {"strict": "experimental"}  # ffmpeg's own Vorbis encoder calls itself that
        stream = cast(AudioStream, container.add_stream(codec, rate=rate, layout=layout, options=options))
        channels = len(stream.layout.channels)
        packed = np.repeat(tone(rate, ms)[:, None], channels, axis=1).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(packed), format="s16", layout=layout)
        frame.sample_rate, frame.pts = rate, 0
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            container.mux(packet)
    return path


def assert_is_the_tone(sound: Sound, *, slack_ms: int = 0) -> None:
    assert abs(sound.duration_ms - 1000) <= slack_ms
    assert sound.samples.dtype == np.int16
    middle = sound.samples[3_000:13_000].astype(float)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(middle.size)))
    assert np.argmax(spectrum) * 16_000 / middle.size == pytest.approx(500, abs=2)
    assert dbfs(sound.samples[3_000:13_000]) == pytest.approx(-23, abs=0.5)


@pytest.mark.parametrize(
    ("name", "codec", "rate", "layout", "channels"),
    [
        ("a.wav", "pcm_s16le", 16_000, "mono", 1),
        ("a.wav", "pcm_s16le", 8_000, "stereo", 2),
        ("a.wav", "pcm_s16le", 48_000, "5.0", 5),
        ("a.wav", "pcm_u8", 22_050, "mono", 1),
        ("a.wav", "pcm_s24le", 44_100, "stereo", 2),
        ("a.wav", "pcm_s32le", 96_000, "mono", 1),
        ("a.wav", "pcm_f32le", 48_000, "stereo", 2),
        ("a.wav", "pcm_f64le", 11_025, "mono", 1),
        ("a.wav", "pcm_mulaw", 8_000, "mono", 1),
        ("a.wav", "pcm_alaw", 8_000, "mono", 1),
        ("a.flac", "flac", 44_100, "stereo", 2),
        ("a.mp3", "libmp3lame", 44_100, "stereo", 2),
        ("a.ogg", "vorbis", 48_000, "stereo", 2),
        ("a.ogg", "libopus", 48_000, "mono", 1),
        ("a.m4a", "aac", 44_100, "mono", 1),
        ("name with ünïcode:and colon.flac", "flac", 16_000, "mono", 1),
    ],
)
def test_every_format_gives_the_same_tone(tmp_path: Path, name: str, codec: str, rate: int, layout: str, channels: int) -> None:
    sound = read_sound(write(tmp_path / name, codec, rate, layout))
    assert_is_the_tone(sound, slack_ms=0 if codec.startswith(("pcm", "flac")) else 80)
    assert (sound.rate, sound.channels) == (rate, channels)


@pytest.mark.parametrize("ending", ["ulaw", "UL", "mulaw", "raw"])
def test_raw_mulaw_is_8_khz_mono(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(encode_mulaw(tone(8_000)))
    assert_is_the_tone(read_sound(path))
    assert read_sound(path).rate == 8_000


def test_raw_alaw_too(tmp_path: Path) -> None:
    (tmp_path / "a.alaw").write_bytes(encode_alaw(tone(8_000)))
    assert_is_the_tone(read_sound(str(tmp_path / "a.alaw")))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.wav", b"", "is empty"),
        ("empty.ulaw", b"", "is empty"),
        ("text.wav", b"Good morning, this is a letter.\n" * 50, "no sound file"),
        ("noise.mp3", bytes(range(256)) * 40, "damaged or no sound file"),
        ("head.wav", b"RIFF\x00\x00\x00\x00WAVE", "damaged or no sound file"),
        ("list.m3u8", b"#EXTM3U\n#EXTINF:1,\nother.wav\n", "no sound file"),
        ("list.wav", b"ffconcat version 1.0\nfile other.wav\n", "no sound file"),
    ],
)
def test_what_is_no_sound_is_refused_by_name(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    write(tmp_path / "other.wav", "pcm_s16le", 16_000)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(AudioError, match=says) as error:
        read_sound(tmp_path / name)
    assert name in str(error.value)
    assert "give a wav" in str(error.value)


def test_missing_folder_fifo_device_and_impossible_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, says in [
        (tmp_path / "absent.wav", "check the name"),
        (tmp_path, "not a regular file"),
        (tmp_path / "fifo", "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (Path("a\0b.wav"), "check the name"),
    ]:
        with pytest.raises(AudioError, match=says):
            read_sound(path)


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.ulaw").write_bytes(b"123")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(AudioError, match=r"a\.ulaw cannot be read \(Permission denied\)"):
        read_sound(tmp_path / "a.ulaw")


def test_a_wav_without_samples_holds_no_sound(tmp_path: Path) -> None:
    WavWriter(tmp_path / "a.wav", 1).close()
    with pytest.raises(AudioError, match="holds no sound"):
        read_sound(tmp_path / "a.wav")


def test_a_film_without_sound_holds_no_sound(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=25)
        stream.width = stream.height = 32
        stream.pix_fmt = "yuv420p"
        for packet in [*stream.encode(av.VideoFrame(32, 32, "yuv420p")), *stream.encode(None)]:
            container.mux(packet)
    with pytest.raises(AudioError, match="holds no sound"):
        read_sound(tmp_path / "a.mp4")


def test_a_rate_that_no_sound_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"a\.wav: a sample rate of 500 Hz"):
        read_sound(write(tmp_path / "a.wav", "pcm_s16le", 500))


def test_longer_than_allowed_is_refused_before_and_while_reading(tmp_path: Path) -> None:
    (tmp_path / "a.ulaw").write_bytes(bytes(8_001))
    flac = write(tmp_path / "a.flac", "flac", 16_000)
    endless = bytearray(flac.read_bytes())
    endless[21] &= 0xF0  # the header's number of samples: 0 means unknown, as in a stream
    endless[22:26] = bytes(4)
    (tmp_path / "endless.flac").write_bytes(endless)
    assert_is_the_tone(read_sound(tmp_path / "endless.flac"))
    for name in ("a.ulaw", "a.flac", "endless.flac"):
        with pytest.raises(AudioError, match=r"longer than 0\.015 minutes.*cut it"):
            read_sound(tmp_path / name, longest_ms=900)
    assert read_sound(flac, longest_ms=1000).duration_ms == 1000


def test_damage_in_the_middle_is_told_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", "flac", 16_000)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\x55" * 40 + content[len(content) // 2 + 40 : -100])
    with pytest.raises(AudioError, match=r"is damaged 0\.\d s into it"):
        read_sound(path)


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_whatever_bytes_there_are_it_is_sound_or_one_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    name, codec = data.draw(st.sampled_from([("a.wav", "pcm_s16le"), ("a.flac", "flac"), ("a.ogg", "libopus")]))
    content = bytearray(write(folder / name, codec, 48_000, ms=100).read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / name).write_bytes(content[: data.draw(st.integers(1, len(content)))])
    with contextlib.suppress(AudioError):
        assert 0 < read_sound(folder / name, longest_ms=10_000).samples.size <= 160_000


def test_the_telephone_copy_of_a_recording_is_the_same_speech(shared_audio: Path) -> None:
    near = read_sound(shared_audio / "tau2-order_status.wav").samples.astype(float)
    far = read_sound(shared_audio / "tau2-order_status.ulaw").samples.astype(float)
    assert near.size == far.size
    assert np.corrcoef(near, far)[0, 1] > 0.95


def test_a_stereo_flac_of_44_khz(shared_audio: Path) -> None:
    sound = read_sound(shared_audio / "faster-whisper-jfk.flac")
    assert (sound.rate, sound.channels, sound.duration_ms) == (44_100, 2, 11_000)
