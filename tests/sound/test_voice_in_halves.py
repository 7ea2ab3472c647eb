"""A real voice, split at its decoder: the same sound, sooner, with the times of its words."""

import asyncio
import json
import logging
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from piper import PiperVoice, SynthesisConfig
from piper.config import PiperConfig

from tests.sound.hearing import model
from voiceagent.audio.convert import Resampler
from voiceagent.audio.frame import RATE, Samples, to_ms, to_samples
from voiceagent.speech.engines import Timing, Word, sound_of
from voiceagent.speech.halves import Halves, session_of, stretches
from voiceagent.speech.piper import PiperEngine
from voiceagent.speech.whisper import WhisperEngine

VOICE = "en_US-joe-medium"
STILL = (0.0, 1.0, 0.0)
"""Piper's scales without its chance: the halves and the whole draw their noise differently."""
TWELVE = "You can keep a book for three weeks and borrow ten more."


@pytest.fixture(scope="module")
def halves() -> Halves:
    return Halves(model(VOICE))


@pytest.fixture(scope="module")
def whole() -> PiperVoice:
    """The voice as Piper itself has it."""
    path = model(VOICE)
    config = PiperConfig.from_dict(json.loads(Path(f"{path}.json").read_text(encoding="utf-8")))
    return PiperVoice(session=session_of(path), config=config, download_dir=path.parent)


def decibels(difference: NDArray[np.float32], of: NDArray[np.float32]) -> float:
    """The largest difference, against the loudest sample."""
    return float(20 * np.log10(max(1e-12, np.abs(difference).max()) / np.abs(of).max()))


@pytest.mark.parametrize(
    "text", ["Yes.", "The library is open.", TWELVE, f"{TWELVE[:-1]}, when you leave your name at the desk."]
)
def test_stretches_joined_are_the_sound_of_the_whole_sentence(halves: Halves, whole: PiperVoice, text: str) -> None:
    ids = whole.phonemes_to_ids(whole.phonemize(text)[0])
    hidden, lengths = halves.hidden(ids, STILL, None)
    joined = np.concatenate([halves.sound(hidden, begin, end) for begin, end in stretches(hidden.shape[2])])
    style = SynthesisConfig(noise_scale=STILL[0], length_scale=STILL[1], noise_w_scale=STILL[2], normalize_audio=False)
    meant = np.asarray(whole.phoneme_ids_to_audio(ids, style))
    assert joined.size == meant.size == sum(lengths) * 256
    assert decibels(joined - meant, meant) <= -100


@pytest.mark.parametrize("frames", [1, 23, 24, 25, 88, 89, 500])
def test_stretches_are_all_of_it_in_order(frames: int) -> None:
    found = stretches(frames)
    assert [begin for begin, _ in found] == [0, *(end for _, end in found)][:-1]
    assert found[-1][1] == frames
    assert all(0 < end - begin <= 64 for begin, end in found)
    assert found[0][1] <= 24


async def test_the_first_sound_comes_before_the_last_is_made(piper: PiperEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what nobody waits for any more is not made."""
    made: list[tuple[int, int]] = []
    real = Halves.sound

    def noted(self: Halves, hidden: NDArray[np.float32], begin: int, end: int, speaker: int | None = None) -> NDArray[np.float32]:
        made.append((begin, end))
        return real(self, hidden, begin, end, speaker)

    monkeypatch.setattr(Halves, "sound", noted)
    stream = piper.speak(TWELVE)
    first = [await anext(stream), await anext(stream)]
    assert [type(piece) for piece in first] == [Timing, np.ndarray]
    assert made == [(0, 24)]
    await stream.aclose()  # type: ignore[attr-defined]
    await sound_of(piper, "Yes.")
    assert made[1] == (0, 24)
    assert made[-1][1] < 100


async def words_of(engine: PiperEngine, text: str) -> tuple[list[Word], Samples]:
    words: list[Word] = []
    pieces: list[Samples] = [np.zeros(0, dtype=np.int16)]
    async for piece in engine.speak(text):
        if isinstance(piece, Timing):
            assert all(word.start_ms >= to_ms(sum(map(len, pieces))) - 100 for word in piece.words)
            words.extend(piece.words)
        else:
            pieces.append(piece)
    return words, np.concatenate(pieces)


TIMED = (
    TWELVE,
    "In the house on the hill, at the end of the road, there is a light.",
    "Hello there. How are you today? I am well.",
    "It costs twelve dollars and fifty cents, and it weighs twenty-five pounds.",
)


@pytest.mark.parametrize("text", TIMED)
async def test_every_word_has_its_place_in_the_sound(piper: PiperEngine, text: str) -> None:
    words, sound = await words_of(piper, text)
    assert [word.text for word in words] == text.split()
    assert words[0].start_ms <= 30
    assert all(word.start_ms < word.end_ms for word in words)
    assert all(one.end_ms <= other.start_ms for one, other in pairwise(words))
    assert words[-1].end_ms <= to_ms(sound.size)
    assert words[-1].end_ms >= to_ms(sound.size) - 400


@pytest.mark.parametrize("text", TIMED[:2])
async def test_what_lies_before_the_end_of_a_word_is_heard_as_the_words_up_to_it(
    piper: PiperEngine, whisper: WhisperEngine, text: str
) -> None:
    """Judged from outside: the sound is cut off at the end of its fourth, sixth, eighth word, and recognized."""
    words, sound = await words_of(piper, text)
    for count in (4, 6, 8):
        cut = np.concatenate((sound[: to_samples(words[count - 1].end_ms)], np.zeros(RATE // 2, dtype=np.int16)))
        found = (await whisper.transcribe(cut)).text.split()
        assert abs(len(found) - count) <= 1, (found, words[:count])


async def test_leading_silence_is_ten_ms_and_a_cut_sentence_leaves_nothing_behind(piper: PiperEngine) -> None:
    stream = piper.speak(TWELVE)
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    for text in ("Yes.", "No, thank you.", "Perhaps."):
        sound = await sound_of(piper, text)
        loud = np.flatnonzero(np.abs(sound.astype(int)) > 0.01 * 32767)
        assert loud[0] <= to_samples(10)
        assert np.abs(sound[: loud[0]].astype(int)).max(initial=0) <= 0.01 * 32767


async def test_the_rate_is_changed_without_clicks_at_the_borders(halves: Halves) -> None:
    """22,050 Hz in stretches, joined, is the whole of it in one go."""
    rng = np.random.default_rng(0)
    sound = (np.cumsum(rng.normal(size=40_000)) * 20).astype(np.int16)
    resampler = Resampler(22_050, RATE)
    borders = [0, 24 * 256, 88 * 256, 30_000, 40_000]
    joined = np.concatenate([*(resampler.process(sound[a:b]) for a, b in pairwise(borders)), resampler.flush()])
    once = Resampler(22_050, RATE)
    meant = np.concatenate((once.process(sound), once.flush()))
    assert np.abs(joined.astype(int) - meant).max() <= 1


def other_graph(folder: Path) -> Path:
    """The voice, with a graph that is not Piper's: two places at which it could be cut."""
    copy = folder / "other.onnx"
    made = onnx.load(str(model(VOICE)))
    made.graph.node.append(onnx.helper.make_node("Ceil", [made.graph.output[0].name], ["another"]))
    onnx.save(made, str(copy))
    shutil.copy(f"{model(VOICE)}.json", f"{copy}.json")
    return copy


async def test_a_voice_that_cannot_be_split_speaks_whole_sentences_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        engine = PiperEngine(other_graph(tmp_path))
    pieces = [piece async for piece in engine.speak("The library is open.")]
    engine.close()
    assert [record.message for record in caplog.records if "cannot be split" in record.message] == [
        "other.onnx cannot be split: ValueError: the graph has 1 decoders and 2 lengths, not one of each; "
        "a sentence sounds once all of it is made, and its words have no times"
    ]
    assert not any(isinstance(piece, Timing) for piece in pieces)
    assert sum(map(len, pieces)) > to_samples(600)  # type: ignore[arg-type]


def test_the_halves_are_made_once_beside_the_voice_and_anew_when_they_are_damaged(tmp_path: Path) -> None:
    voice = tmp_path / "voice.onnx"
    shutil.copy(model(VOICE), voice)
    Halves(voice)
    made = sorted(tmp_path.glob("voice.*.*coder.onnx"))
    assert len(made) == 2
    times = [file.stat().st_mtime_ns for file in made]
    Halves(voice)
    assert [file.stat().st_mtime_ns for file in made] == times
    made[0].write_bytes(b"half of it")
    Halves(voice)
    assert made[0].stat().st_size > 1_000_000
    assert sorted(tmp_path.iterdir()) == sorted([*made, voice])


async def test_two_calls_take_turns_stretch_by_stretch(piper: PiperEngine) -> None:
    """One long sentence does not keep the first sound of another waiting until its own last."""
    order: list[str] = []

    async def listen(name: str, text: str) -> None:
        async for piece in piper.speak(text):
            order.append("" if isinstance(piece, Timing) else name)  # noqa: PERF401 - as they come

    await asyncio.gather(listen("long", " ".join([TWELVE[:-1]] * 3)), listen("short", "Yes."))
    assert order.index("short") < len(order) - 1 - order[::-1].index("long")
