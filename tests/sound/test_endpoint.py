"""The end of a turn on real recordings: the judge of ends, and the whole ear on the virtual clock with the real engines."""

from collections.abc import Iterator
from pathlib import Path

import jiwer
import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor

from tests.scenario.listening import Around, Told, hear
from tests.sound.hearing import load, model
from tests.sound.references import plain
from voiceagent.audio.convert import Resampler, decode_mulaw, encode_mulaw
from voiceagent.audio.frame import FRAME_SAMPLES, RATE, Samples, to_samples
from voiceagent.clock import VirtualLoop
from voiceagent.errors import ModelError
from voiceagent.speech.detector import GatedDetector, Silero
from voiceagent.speech.smartturn import SmartTurn
from voiceagent.speech.whisper import WhisperEngine
from voiceagent.voice.ear import Finished
from voiceagent.voice.settings import VoiceSettings

NOBODY = ("car_horn", "dog_bark", "people_talking")


@pytest.fixture(scope="module")
def judge() -> Iterator[SmartTurn]:
    judge = SmartTurn(model("smart-turn"))
    yield judge
    judge.close()


class Ears:
    """Hears a recording as a call would, in its own time; words and judgements are there as soon as they are asked for."""

    def __init__(self, whisper: WhisperEngine, silero: Silero, judge: SmartTurn) -> None:
        self._whisper = whisper
        self._silero = silero
        self._around = Around(judge, voice=VoiceSettings(partial_every_ms=5_000))

    def told(self, sound: Samples) -> Told:
        sound = np.concatenate([sound, np.zeros(3 * RATE, dtype=np.int16)])
        frames = [sound[at : at + FRAME_SAMPLES] for at in range(0, sound.size - FRAME_SAMPLES + 1, FRAME_SAMPLES)]
        loop = VirtualLoop()
        try:
            return loop.run_until_complete(hear(frames, self._whisper, GatedDetector(self._silero), self._around))
        finally:
            loop.close()

    def waits(self, sound: Samples) -> list[int]:
        """From the last voice to the decision, of each utterance."""
        return [event.at_ms - event.end_ms for event in self.told(sound).events if isinstance(event, Finished)]


@pytest.fixture
def ears(whisper: WhisperEngine, silero: Silero, judge: SmartTurn) -> Ears:
    return Ears(whisper, silero, judge)


def words(told: Told) -> list[str]:
    return [plain(line.partition(" ")[2]) for line in told.words]


def test_the_features_are_whispers_own(shared_audio: Path, judge: SmartTurn) -> None:
    for sound in (load(shared_audio / "tau2-order_status.wav"), load(shared_audio / "faster-whisper-jfk.flac")):
        wave = np.zeros(8 * RATE, dtype=np.float32)
        tail = sound[-wave.size :].astype(np.float32) / 32768
        wave[wave.size - tail.size :] = tail
        wave = (wave - wave.mean()) / np.sqrt(wave.var() + 1e-7)
        expected = FeatureExtractor(chunk_length=8)(wave, padding=0)
        assert judge.features(sound).shape == (80, 800)
        assert np.abs(judge.features(sound) - expected).max() < 1e-4


def test_the_judge_tells_whole_sentences_from_beginnings(shared_audio: Path, judge: SmartTurn) -> None:
    silence = np.zeros(to_samples(200), dtype=np.int16)
    whole, cut = [], []
    for name in ("tau2-order_status", "pocketsphinx-librivox-0870", "leopard-test", "wyoming-turn_on_the_living_room_lamp"):
        sound = load(shared_audio / f"{name}.wav")[:-RATE]
        whole.append(judge.judge(np.concatenate([sound, silence])))
        cut += [judge.judge(np.concatenate([sound[: sound.size * part // 100], silence])) for part in (30, 40, 60, 70)]
    assert min(whole) > 0.9
    assert min(whole) - np.mean(cut) > 0.25


def test_the_judge_takes_any_length(judge: SmartTurn) -> None:
    for samples in (0, 1, 320, 20 * RATE):
        assert 0 <= judge.judge(np.zeros(samples, dtype=np.int16)) <= 1


def test_weights_that_are_missing_or_damaged_are_said(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"no network")
    for name in ("broken.onnx", "missing.onnx"):
        with pytest.raises(ModelError, match=name):
            SmartTurn(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "longest"),
    [
        ("tau2-order_status", 300),
        ("wyoming-turn_on_the_living_room_lamp", 300),
        ("leopard-test", 300),
        ("pocketsphinx-cards-001", 300),
        ("tau2-hi_how_are_you", 600),
        ("tau2-hello", 500),
        ("tau2-yes", 500),
        ("pocketsphinx-librivox-0880", 800),
    ],
)
def test_whole_utterances_are_ended_soon(shared_audio: Path, ears: Ears, name: str, longest: int) -> None:
    waits = ears.waits(load(shared_audio / f"{name}.wav"))
    assert len(waits) == 1
    assert waits[0] <= longest


def by_telephone(sound: Samples) -> Samples:
    """As a telephone brings it: 8 kHz and mu-law, in packets of 20 ms, over a line that hisses softly."""
    down, up = Resampler(RATE, 8_000, live=True), Resampler(8_000, RATE, live=True)
    hiss = np.random.default_rng(7).normal(0, 5, sound.size)
    noisy = np.clip(sound + hiss, -32768, 32767).astype(np.int16)
    packets = (noisy[at : at + FRAME_SAMPLES] for at in range(0, noisy.size, FRAME_SAMPLES))
    heard = [up.process(decode_mulaw(encode_mulaw(down.process(packet)))) for packet in packets]
    return np.concatenate(heard)


@pytest.mark.parametrize(
    ("name", "longest"),
    [
        ("tau2-order_status", 300),
        ("wyoming-turn_on_the_living_room_lamp", 300),
        ("leopard-test", 300),
        ("tau2-hi_how_are_you", 600),
        ("tau2-hello", 500),
        ("tau2-yes", 500),
    ],
)
def test_case_25_by_telephone_a_turn_is_heard_whole_and_ended_as_soon(
    shared_audio: Path, ears: Ears, name: str, longest: int
) -> None:
    sound = load(shared_audio / f"{name}.wav")
    (wide,), (narrow,) = (
        [event for event in told.events if isinstance(event, Finished)]
        for told in (ears.told(sound), ears.told(by_telephone(sound)))
    )
    assert abs(narrow.start_ms - wide.start_ms) <= 200, "the sound kept from before the voice makes up for it"
    assert abs(narrow.end_ms - wide.end_ms) <= 100
    assert narrow.at_ms - narrow.end_ms <= longest
    heard, whole = (" ".join(words(told)) for told in (ears.told(by_telephone(sound)), ears.told(sound)))
    assert jiwer.wer(whole, heard) <= 0.1  # none of a short one, one name of a long one


@pytest.mark.parametrize("ms", [500, 1_000])
def test_a_pause_inside_a_sentence_is_one_turn(shared_audio: Path, ears: Ears, ms: int) -> None:
    """Field case 13: between "to" and "check" of "I'd like to check my order status please"."""
    sound = load(shared_audio / "tau2-order_status.wav")[:-RATE]
    at = _quietest(sound, to_samples(400), to_samples(700))
    told = ears.told(np.concatenate([sound[:at], np.zeros(to_samples(ms), dtype=np.int16), sound[at:]]))
    assert len(told.only("finished")) == 1
    assert "order status" in words(told)[0]


@pytest.mark.parametrize("word", ["yes", "no", "hello"])
@pytest.mark.parametrize("before_ms", [0, 2_000])
def test_a_short_word_is_one_turn_with_its_first_sound(shared_audio: Path, ears: Ears, word: str, before_ms: int) -> None:
    """Field cases 7 and 10."""
    sound = load(shared_audio / f"tau2-{word}.wav")[:-RATE]
    told = ears.told(np.concatenate([np.zeros(to_samples(before_ms), dtype=np.int16), sound]))
    assert words(told) == [word]


@pytest.mark.parametrize("name", NOBODY)
def test_noise_is_never_a_candidate(shared_audio: Path, ears: Ears, name: str) -> None:
    told = ears.told(load(shared_audio / f"tau2-noise_{name}.wav")[: 12 * RATE])
    assert told.only("candidate") == []


@pytest.mark.parametrize(("kind", "below_db"), [("crowd", 5), ("crowd", 15), ("music", 5)])
def test_a_turn_ends_within_3_s_though_noise_goes_on(shared_audio: Path, ears: Ears, kind: str, below_db: int) -> None:
    """Field case 35."""
    speech = load(shared_audio / "tau2-order_status.wav")[:-RATE].astype(np.float64)
    time = np.arange(6 * RATE) / RATE
    beats = ((220, 1.1), (277, 1.7), (330, 2.3), (440, 0.7))
    music = sum(np.sin(2 * np.pi * tone * time) * (1 + np.sign(np.sin(2 * np.pi * beat * time))) for tone, beat in beats)
    crowd = load(shared_audio / "tau2-noise_people_talking.wav")[4 * RATE : 10 * RATE].astype(np.float64)
    noise = crowd if kind == "crowd" else np.asarray(music)
    noise *= np.sqrt((speech**2).mean() / (noise**2).mean()) / 10 ** (below_db / 20)
    noise[: speech.size] += speech
    told = ears.told(np.clip(noise, -32768, 32767).astype(np.int16))
    first = next(event for event in told.events if isinstance(event, Finished))
    assert first.at_ms <= speech.size * 1000 // RATE + 3_000


def _quietest(sound: Samples, start: int, end: int) -> int:
    places = range(start, end, 80)
    return min(places, key=lambda at: int((sound[at - 160 : at + 160].astype(np.int64) ** 2).sum()))
