"""How well voices are told apart: pairs of utterances, people at the shipped bar, and what a television is taken for."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tools.voices.material import BABBLE, DIANE, SHEILA, TELEPHONE, Voice, in_room, recording, television
from tools.voices.trials import interval, trials
from voiceagent.audio.frame import Samples, to_samples
from voiceagent.judgment.evaluation.measures import Share
from voiceagent.speech.enrolment import enrolled
from voiceagent.speech.source import Talk, loudspeaker
from voiceagent.speech.traits import Print, Timbre
from voiceagent.speech.voicebook import Known
from voiceagent.speech.voices import VoiceEncoder
from voiceagent.voice.who import Company

UTTERANCE_MS: Final = 1_500
ENROLLED: Final = 3
"""Utterances that a person is enrolled with here."""

Place = Callable[[Samples, int], Samples]


def close(sound: Samples, seed: int) -> Samples:
    """At the microphone, as it was recorded."""
    return sound


def room(sound: Samples, seed: int) -> Samples:
    """Some metres off, in noise."""
    return in_room(sound, seed=seed)


def under_a_crowd(sound: Samples, seed: int) -> Samples:
    """6 dB over a crowd."""
    return _over(sound, recording(BABBLE), seed)


def under_a_telephone(sound: Samples, seed: int) -> Samples:
    """6 dB over two people on a telephone."""
    return _over(sound, recording(TELEPHONE)[to_samples(DIANE[0][0]) :], seed)


def _over(sound: Samples, noise: Samples, seed: int) -> Samples:
    at = int(np.random.default_rng(seed).integers(0, noise.size - sound.size))
    under = noise[at : at + sound.size].astype(np.float64)
    loud = np.sqrt(np.mean(sound.astype(np.float64) ** 2) / np.mean(under**2))
    mixed: Samples = np.clip(sound + under * loud * 10 ** (-6 / 20), -32_768, 32_767).astype(np.int16)
    return mixed


PLACES: Final[tuple[tuple[str, Place, Place], ...]] = (
    ("enrolled and heard close", close, close),
    ("enrolled and heard in the room", room, room),
    ("enrolled close, heard in the room", close, room),
    ("enrolled close, heard close, 6 dB over a crowd", close, under_a_crowd),
    ("enrolled close, heard close, 6 dB over a telephone talk", close, under_a_telephone),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """The equal-error rate of one group of voices, with its interval."""

    group: str
    where: str
    ms: int
    rate: float
    between: tuple[float, float]
    bar: float
    same: int
    other: int


def prints(encoder: VoiceEncoder, voices: Sequence[Voice], ms: int, place: Place) -> list[list[Print]]:
    """Of each voice those of its utterances of one length, heard at one place."""
    read = [[encoder.read(place(u, 100 * v + n)) for n, u in enumerate(voice.utterances(ms))] for v, voice in enumerate(voices)]
    return [[traits.print for traits in each if traits is not None] for each in read]


def compared(encoder: VoiceEncoder, voices: Sequence[Voice]) -> Iterator[Compared]:
    """By group, place and length."""
    groups = {
        "people": [voice for voice in voices if voice.kind == "person"],
        "made voices": [voice for voice in voices if voice.kind == "made"],
        "all": list(voices),
    }
    places: tuple[tuple[str, Place, Place], ...] = (
        ("both close", close, close),
        ("both in the room", room, room),
        ("one close, one in the room", close, room),
    )
    for group, members in groups.items():
        for where, first, second in places:
            for ms in (UTTERANCE_MS,) if group != "all" else (1_000, UTTERANCE_MS, 3_000):
                yield _compare(group, where, ms, prints(encoder, members, ms, first), prints(encoder, members, ms, second))


def _compare(group: str, where: str, ms: int, enrolled: list[list[Print]], heard: list[list[Print]]) -> Compared:
    done = trials(enrolled, heard)
    rate, bar = done.equal_error
    between = interval(lambda drawn: drawn.equal_error[0], enrolled, heard)
    return Compared(group, where, ms, rate, between, bar, done.same.size, done.other.size)


@dataclass(frozen=True, slots=True)
class AtTheBar:
    """What a bar does at one place: of an enrolled person's utterances those not taken for theirs, of other people's
    those taken for an enrolled person's (`alike`: of these, Diane's and Sheila's for one another), and so of the television's."""

    where: str
    missed: Share
    taken: Share
    alike: int
    television: Share


def at_the_bar(encoder: VoiceEncoder, voices: Sequence[Voice], bar: float) -> Iterator[AtTheBar]:
    """One person enrolled with their first three utterances; whoever has too few for that is among the others only. The
    television is heard by everybody, made voices too, but for those who speak in it."""
    people = [voice for voice in voices if voice.kind == "person"]
    for where, enrol, hear in PLACES:
        heard = prints(encoder, people, UTTERANCE_MS, hear)
        missed: list[bool] = []
        taken: dict[tuple[str, str], list[bool]] = {}
        for person, said in zip(people, heard, strict=True):
            if len(said) <= ENROLLED:
                continue
            takes = _taker(encoder, person, enrol, bar)
            missed += [not takes(one) for one in said[ENROLLED:]]
            for other, theirs in zip(people, heard, strict=True):
                if other is not person:
                    taken[person.name, other.name] = [takes(one) for one in theirs]
        alike = sum(map(sum, (taken["Diane", "Sheila"], taken["Sheila", "Diane"])))
        all_taken = [one for each in taken.values() for one in each]
        yield AtTheBar(where, _share(missed), _share(all_taken), alike, _share(_fooled(encoder, voices, (enrol, hear), bar)))


def _fooled(encoder: VoiceEncoder, voices: Sequence[Voice], places: tuple[Place, Place], bar: float) -> list[bool]:
    enrol, hear = places
    place = room if hear is room else close
    shown = [one for each in prints(encoder, television(), UTTERANCE_MS, place) for one in each]
    strangers = [voice for voice in voices if voice.name not in ("Diane", "Sheila")]
    takers = [_taker(encoder, voice, enrol, bar) for voice in strangers]
    return [takes(one) for takes in takers for one in shown]


def _share(found: Sequence[bool]) -> Share:
    return Share(sum(found), len(found))


def _taker(encoder: VoiceEncoder, voice: Voice, enrol: Place, bar: float) -> Callable[[Print], bool]:
    """Whether a print is taken for that voice, enrolled as the program does it."""
    said = [enrol(sound, n) for n, sound in enumerate(voice.utterances(UTTERANCE_MS)[:ENROLLED])]
    known = Known(voice.name, enrolled(encoder, said))
    return lambda heard: known.likeness(heard) >= bar


def strangers(encoder: VoiceEncoder, place: Place) -> tuple[int, Share]:
    """Two strangers on one line, by where each speaks: how many voices they are taken for, and how many of their utterances get
    the number that most of that person's have (another's number does not count)."""
    sound, company = recording(TELEPHONE), Company(tuple)
    told: dict[str, list[str]] = {"Diane": [], "Sheila": []}
    spans = sorted((*((span, "Diane") for span in DIANE), *((span, "Sheila") for span in SHEILA)))
    numbers: set[str] = set()
    for seed, ((begin, end), name) in enumerate(spans):
        traits = encoder.read(place(sound[to_samples(begin) : to_samples(end)], seed))
        found = None if traits is None else company.heard(traits)
        told[name].append("" if found is None else found.name)
        numbers |= {told[name][-1]} - {""}
    first = max(set(told["Diane"]), key=told["Diane"].count)
    second = max(set(told["Sheila"]) - {first} or {""}, key=told["Sheila"].count)
    right = told["Diane"].count(first) + (told["Sheila"].count(second) if second else 0)
    return len(numbers), Share(right, len(spans))


def sources(encoder: VoiceEncoder, people: Sequence[Voice]) -> dict[str, list[float]]:
    """The chance of a loudspeaker, by what is heard and how much of the time it talks, which is given."""
    told: dict[str, list[float]] = {}
    live = [voice for voice in people if voice.name not in ("Diane", "Sheila")]
    for name, voices, busy, place in (
        ("people, close, 30 % talk", live, 0.3, close),
        ("people, in the room, 30 % talk", live, 0.3, room),
        ("people, in the room, 90 % talk", live, 0.9, room),
        ("the telephone recording, in the room, 30 % talk", television()[:1], 0.3, room),
        ("the telephone recording, in the room, 90 % talk", television()[:1], 0.9, room),
        ("the crowd, in the room, 30 % talk", television()[1:], 0.3, room),
        ("the crowd, in the room, 90 % talk", television()[1:], 0.9, room),
    ):
        timbres = _timbres(encoder, voices, place)
        told[name] = [loudspeaker(timbre, _talk(busy)) for timbre in timbres]
    return told


def _timbres(encoder: VoiceEncoder, voices: Sequence[Voice], place: Place) -> list[Timbre]:
    heard = [encoder.read(place(u, n)) for voice in voices for n, u in enumerate(voice.utterances(UTTERANCE_MS))]
    return [traits.timbre for traits in heard if traits is not None]


def _talk(share: float) -> float:
    """What a minute of talk makes of the measure, where somebody speaks for this share of it, in stretches of 3 s."""
    talk = Talk()
    for at in range(0, 120_000, 20):
        talk.hear(voiced=at % 3_000 < share * 3_000)
    return talk.share
