"""Rates, channels and G.711: chunks equal the whole, silence stays silent, tables equal another implementation's."""

import math

import av
import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.audio.convert import (
    Resampler,
    decode_alaw,
    decode_mulaw,
    encode_alaw,
    encode_mulaw,
    to_int16,
    to_mono,
)
from voiceagent.audio.frame import Samples
from voiceagent.errors import AudioError

RATES = (8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000)
EVERY_INT16 = np.arange(65536, dtype=np.uint16).view(np.int16)


def speech_like(rate: int, seconds: float, seed: int = 0) -> Samples:
    """Tones and noise in bursts, with digital silence between them."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(rate * seconds)) / rate
    tones = sum(np.sin(2 * np.pi * f * t + rng.uniform(0, 6)) for f in (150, 440, 1_300, 2_900))
    sound = 4_000 * tones + rng.normal(0, 800, t.size)
    sound[np.floor(t / 0.11).astype(int) % 3 == 1] = 0
    return to_int16(sound)


def streamed(resampler: Resampler, sound: Samples, chunk: int) -> Samples:
    pieces = [resampler.process(sound[at : at + chunk]) for at in range(0, sound.size, chunk)]
    return np.concatenate([*pieces, resampler.flush()])


def error_db(got: Samples, wanted: Samples) -> float:
    """The difference's energy against the wanted sound's, in decibels."""
    assert got.size == wanted.size
    difference = np.sum((got.astype(float) - wanted) ** 2)
    return 10 * math.log10(max(difference, 1e-9) / np.sum(wanted.astype(float) ** 2))


@pytest.mark.parametrize("to_rate", [8_000, 16_000, 48_000])
@pytest.mark.parametrize("from_rate", RATES)
def test_chunks_of_20_ms_equal_one_conversion_of_the_whole(from_rate: int, to_rate: int) -> None:
    sound = speech_like(from_rate, 1.0)
    wanted = to_int16(soxr.resample(sound.astype(np.float32), from_rate, to_rate, quality="HQ"))
    assert error_db(streamed(Resampler(from_rate, to_rate), sound, from_rate // 50), wanted) < -60


@given(
    from_rate=st.sampled_from(RATES),
    to_rate=st.sampled_from(RATES),
    chunk=st.integers(1, 3_000),
    length=st.integers(400, 20_000),
    seed=st.integers(0, 9),
)
@settings(max_examples=60, deadline=None)
def test_chunks_of_any_length_equal_the_whole(from_rate: int, to_rate: int, chunk: int, length: int, seed: int) -> None:
    sound = speech_like(from_rate, length / from_rate, seed)
    wanted = streamed(Resampler(from_rate, to_rate), sound, sound.size)
    assert error_db(streamed(Resampler(from_rate, to_rate), sound, chunk), wanted) < -60
    assert abs(wanted.size - length * to_rate / from_rate) <= 1


def test_silence_stays_digital_silence() -> None:
    assert not streamed(Resampler(44_100, 16_000), np.zeros(44_100, dtype=np.int16), 882).any()


@pytest.mark.parametrize("rate", RATES)
def test_after_reset_and_after_flush_it_is_as_new(rate: int) -> None:
    used, silence = Resampler(rate, 16_000), np.zeros(rate // 50, dtype=np.int16)
    fresh = Resampler(rate, 16_000).process(silence)
    used.process(speech_like(rate, 0.3))
    used.reset()
    assert np.array_equal(used.process(silence), fresh)
    used.process(speech_like(rate, 0.3))
    used.flush()
    assert np.array_equal(used.process(silence), fresh)


def test_full_scale_is_held_and_never_wraps() -> None:
    square = np.where(np.arange(48_000) // 240 % 2, 32767, -32768).astype(np.int16)
    out = streamed(Resampler(48_000, 16_000), square, 960)
    assert out.max() == 32767
    assert out.min() == -32768
    assert np.abs(np.diff(out.astype(int)))[100:-100].max() <= 65535
    assert (np.sign(out[40:70].astype(int)) == -1).all()


@pytest.mark.parametrize(("from_rate", "to_rate"), [(0, 16_000), (-8_000, 16_000), (16_000, 999), (1_000_000, 16_000)])
def test_a_rate_that_no_sound_has_is_refused(from_rate: int, to_rate: int) -> None:
    with pytest.raises(AudioError, match="sample rate"):
        Resampler(from_rate, to_rate)


def test_channels_are_averaged() -> None:
    stereo = np.array([[32767, 32767], [-32768, -32768], [100, -100], [1, 2]], dtype=np.int16)
    assert to_mono(stereo).tolist() == [32767, -32768, 0, 2]
    assert to_mono(np.array([5, 6], dtype=np.int16)).tolist() == [5, 6]


def ffmpeg_decoded(codec: str) -> Samples:
    context = av.CodecContext.create(codec, "r")
    context.sample_rate, context.layout = 8_000, "mono"  # type: ignore[attr-defined]
    return np.concatenate([f.to_ndarray()[0] for f in context.decode(av.Packet(bytes(range(256))))])  # type: ignore[attr-defined]


def test_every_code_decodes_as_another_implementation_says() -> None:
    assert np.array_equal(decode_mulaw(bytes(range(256))), ffmpeg_decoded("pcm_mulaw"))
    assert np.array_equal(decode_alaw(bytes(range(256))), ffmpeg_decoded("pcm_alaw"))


@pytest.mark.parametrize(("encode", "decode"), [(encode_mulaw, decode_mulaw), (encode_alaw, decode_alaw)])
def test_companding_keeps_order_codes_and_38_db(encode, decode) -> None:  # type: ignore[no-untyped-def]
    there_and_back = decode(encode(EVERY_INT16)).astype(int)
    ordered = there_and_back[np.argsort(EVERY_INT16, kind="stable")]
    assert (np.diff(ordered) >= 0).all()
    values = decode(bytes(range(256)))
    assert np.array_equal(decode(encode(values)), values)
    loud = np.abs(EVERY_INT16.astype(int)) > 1_000
    inside = loud & (np.abs(EVERY_INT16.astype(int)) < 32_000)
    error = np.abs(there_and_back - EVERY_INT16.astype(int))[inside] / np.abs(EVERY_INT16.astype(int))[inside]
    assert error.max() < 0.04


@pytest.mark.parametrize(
    ("sample", "mulaw", "alaw"),
    [(0, 0xFF, 0xD5), (-1, 0x7E, 0x55), (32767, 0x80, 0xAA), (-32768, 0x00, 0x2A), (1_000, 0xCE, 0xFA), (-1_000, 0x4E, 0x7A)],
)
def test_codes_of_known_samples(sample: int, mulaw: int, alaw: int) -> None:
    samples = np.array([sample], dtype=np.int16)
    assert encode_mulaw(samples)[0] == mulaw
    assert encode_alaw(samples)[0] == alaw
