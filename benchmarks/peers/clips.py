"""What is said to every system: real recordings cut to their speech, and sentences, pauses and noises made when asked for."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel
from piper import PiperVoice

from benchmarks.peers import hearing
from benchmarks.peers.plan import Clip, write_wav
from benchmarks.peers.speaker import RATE, Samples
from benchmarks.peers.trials import hearing_words
from voiceagent.audio.convert import Resampler
from voiceagent.audio.decode import read_sound

MARGIN = RATE // 10
PEAK = 10 ** (-6 / 20) * 32767
FADE = RATE // 100

WHOLE = (
    "tau2-hello", "tau2-hi_how_are_you", "tau2-yes", "tau2-no", "tau2-thank_you", "tau2-order_status", "leopard-test",
    "pocketsphinx-librivox-0870", "pocketsphinx-librivox-0880", "pocketsphinx-cards-001", "pocketsphinx-cards-002",
    "pocketsphinx-cards-003", "wyoming-turn_on_the_living_room_lamp", "openwakeword-hey_jane",
)  # fmt: skip
"""Recordings that are one whole utterance in English."""

SENTENCES = (
    "Can you tell me when the library opens on Saturday?",
    "I would like to book a table for two people tonight.",
    "What is the weather going to be like tomorrow morning?",
    "Please call me back after lunch.",
    "How much does it cost to send a parcel to Canada?",
    "My order has not arrived yet.",
    "Do you have this jacket in a larger size?",
    "I need to change the date of my appointment.",
    "Where can I park my car?",
    "Could you repeat the last part, please?",
)
"""Whole utterances that are made, to come to 24."""

LONG = (
    "I wanted to ask about the parcel that I sent to my sister last week",
    "the thing is that my phone stopped working after I dropped it in the kitchen",
    "we are looking for a hotel near the station that takes dogs and has a garden",
    "could you tell me if the train to the airport still runs after midnight",
    "my daughter would like to join the swimming class that starts in the spring",
    "I have a question about the bill that came with the letter this morning",
    "the doctor told me to call you because the results were not clear",
    "is there any way to move my visit from monday to the end of the week",
    "last night the heating made a loud noise and then it went cold",
    "I think that somebody used my card in a shop that I have never been to",
    "please send the new keys to the office because nobody is at home",
    "we ordered four chairs but only three of them were in the box",
    "my neighbour said that you also repair old clocks and radios",
    "the colour of the paint looks different from what I saw on your page",
    "can you find out whether the book that I returned has been received",
    "the class was moved to another room and I do not know which one",
    "I would rather speak to the person who wrote this letter to me",
    "our flight was cancelled so we need two rooms for one more night",
    "the water in the bathroom does not get warm when the kitchen is used",
    "somebody left a blue bag on the bench in front of your shop",
)
"""Sentences that pauses are made in."""

BARGE = (
    "No, that is not what I asked.",
    "Wait, I have another question.",
    "Sorry, can you say that again more slowly?",
    "I already know that, thank you.",
    "What about the weekend?",
    "Stop, please.",
    "Hold on a second, let me write that down.",
    "Actually I meant the other branch.",
)

MURMURS = ("Right.", "Okay.", "Yeah.", "I see.")

REPLIES = (
    "We are open from nine in the morning until ten at night and you can come in by the side door at any time of the day "
    "because somebody is always there to help you find what you need",
    "The parcel left our house on Tuesday and the driver will bring it to your door before noon so please make sure that "
    "somebody is at home to sign for it or tell us which neighbour may take it",
    "You can change the date of your visit until the evening before and the new time will be sent to your phone together "
    "with the name of the doctor who will see you and the number of the room",
)
"""Long replies in plain words of one sentence, without numerals, so that every synthesis and recognizer agrees on their words."""


@dataclass(slots=True)
class Maker:
    """Makes clips in a folder with the voice and the recognizer of the benchmark; the same numbers give the same clips."""

    folder: Path
    voice: PiperVoice
    recognizer: WhisperModel

    def recording(self, path: Path, *, whole: bool = False) -> Clip:
        """A recording cut to its speech, or `whole`."""
        sound = read_sound(path).samples
        return self._kept(path.stem, sound if whole else _cut(sound), words="")

    def sentence(self, name: str, text: str) -> Clip:
        """A sentence."""
        return self._kept(name, _cut(self.spoken(text)), words=text)

    def spoken(self, text: str) -> Samples:
        """A sentence's sound, 16 kHz."""
        chunks = [chunk.audio_int16_array for chunk in self.voice.synthesize(text)]
        resampler = Resampler(self.voice.config.sample_rate, RATE)
        return np.concatenate([resampler.process(np.concatenate(chunks)), resampler.flush()])

    def word_ends(self, sound: Samples, text: str) -> list[int] | None:
        """Where each word of `text` ends in `sound`, in samples, as the recognizer hears it; a word that it writes otherwise ends
        in proportion between its neighbours. None when it hears fewer than four of five words."""
        segments, _ = self.recognizer.transcribe(sound.astype(np.float32) / 32768, language="en", word_timestamps=True)
        found = [word for segment in segments for word in segment.words or ()]
        heard = [(part, int(word.end * RATE)) for word in found for part in hearing_words(word.word)]
        wanted = hearing_words(text)
        blocks = difflib.SequenceMatcher(None, [part for part, _ in heard], wanted, autojunk=False).get_matching_blocks()
        known = {block.b + place: heard[block.a + place][1] for block in blocks for place in range(block.size)}
        if len(known) < 0.8 * len(wanted):
            return None
        known = {-1: 0, len(wanted): sound.size, **known}
        places = sorted(known)
        return np.interp(range(len(wanted)), places, [known[place] for place in places]).astype(int).tolist()

    def pauses(self, count: int, each: int) -> list[Clip]:
        """Sentences with `each` pauses of 0.3 to 1.2 s at borders of words, until there are `count` pauses."""
        dice = np.random.default_rng(5)
        clips: list[Clip] = []
        for number, text in enumerate(LONG):
            if sum(clip.pauses for clip in clips) >= count:
                break
            sound = _cut(self.spoken(text))
            ends = self.word_ends(sound, text)
            if ends is None:
                continue
            places = sorted(dice.choice(np.arange(1, len(ends) - 2), size=each, replace=False).tolist())
            lengths = dice.integers(300, 1201, size=each).tolist()
            paused = _with_pauses(sound, [ends[place] for place in places], lengths)
            clips.append(replace(self._kept(f"pauses-{number}", paused, words=text), pauses=each))
        return clips

    def noises(self) -> list[Clip]:
        """Coughs, a slam, and a knock: shaped noise of a fixed seed."""
        dice = np.random.default_rng(3)
        made = {
            "cough": _burst(dice, (0.18, 0.14), 0.08, 0.06),
            "cough-long": _burst(dice, (0.2, 0.16, 0.22), 0.1, 0.08),
            "slam": _burst(dice, (0.12,), 0.0, 0.03),
            "knock": _burst(dice, (0.05, 0.05, 0.05), 0.15, 0.015),
        }
        return [self._kept(name, _cut(sound), words="") for name, sound in made.items()]

    def _kept(self, name: str, sound: Samples, words: str) -> Clip:
        path = self.folder / f"{name}.wav"
        write_wav(path, sound)
        begin, end = hearing.speech_bounds(sound)
        return Clip(name, str(path), begin, end, words)


def _cut(sound: Samples) -> Samples:
    """Peak at -6 dBFS, 100 ms either side of the sound, faded in and out."""
    begin, end = hearing.speech_bounds(sound)
    kept = sound[max(0, begin - MARGIN) : end + MARGIN].astype(np.float64)
    kept *= PEAK / max(1.0, np.abs(kept).max())
    fade = np.linspace(0, 1, FADE)
    kept[:FADE] *= fade
    kept[-FADE:] *= fade[::-1]
    return kept.round().astype(np.int16)


def _with_pauses(sound: Samples, places: Sequence[int], lengths_ms: Sequence[int]) -> Samples:
    """Silence of these lengths put in at these places, each moved to the quietest 10 ms within 60 ms; faded on both sides."""
    parts: list[Samples] = []
    begin = 0
    fade = np.linspace(0, 1, FADE // 2)
    for place, length in zip(places, lengths_ms, strict=True):
        near = range(max(begin + FADE, place - RATE * 6 // 100), min(sound.size - FADE, place + RATE * 6 // 100), FADE // 2)
        at = min(near, key=lambda spot: int(np.abs(sound[spot : spot + FADE].astype(np.int32)).sum()))
        part = sound[begin:at].astype(np.float64)
        part[-fade.size :] *= fade[::-1]
        if begin:
            part[: fade.size] *= fade
        parts += [part.round().astype(np.int16), np.zeros(RATE * length // 1000, dtype=np.int16)]
        begin = at
    return np.concatenate([*parts, sound[begin:]])


def _burst(dice: np.random.Generator, lengths_s: Sequence[float], gap_s: float, decay_s: float) -> Samples:
    """Noise in bursts that rise within 5 ms and decay, with most of its power between 300 and 3000 Hz, as a cough has."""
    parts: list[np.ndarray] = []
    for length in lengths_s:
        noise = dice.normal(size=int(length * RATE))
        spectrum = np.fft.rfft(noise)
        hertz = np.fft.rfftfreq(noise.size, 1 / RATE)
        spectrum *= 1 / (1 + (hertz / 2500) ** 4) * (hertz > 250)
        time = np.arange(noise.size) / RATE
        parts += [np.fft.irfft(spectrum, noise.size) * np.minimum(1, time / 0.005) * np.exp(-time / decay_s)]
        parts += [np.zeros(int(gap_s * RATE))]
    sound = np.concatenate([np.zeros(MARGIN), *parts, np.zeros(MARGIN)])
    shaped: Samples = (sound / np.abs(sound).max() * PEAK).astype(np.int16)
    return shaped
