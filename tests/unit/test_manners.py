"""How a reply is lowered and paused, and comes back: ramps to the sample, and nothing of it lost on any line."""

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent import clock
from voiceagent.audio.frame import FRAME_MS, FRAME_SAMPLES, AudioFrame, Samples, to_samples
from voiceagent.room.reply import Reply
from voiceagent.transport.call import Call
from voiceagent.voice.duck import RAMP_MS, Duck
from voiceagent.voice.expecting import asked, expectation
from voiceagent.voice.interruption import Duck as Lower
from voiceagent.voice.interruption import Pause, Resume
from voiceagent.voice.line import Line
from voiceagent.voice.manners import LONGEST_MS, Manners
from voiceagent.voice.mouth import Mouth
from voiceagent.voice.notices import Notices
from voiceagent.voice.saying import Saying
from voiceagent.voice.tape import Tape

FULL = np.full(FRAME_SAMPLES, 10_000, dtype=np.int16)
LOW = 10_000 * 10 ** (-18 / 20)


NOW = [0]
"""What clock.now() says here."""


@pytest.fixture(autouse=True, scope="module")
def _clock() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: NOW[0])
        yield


def sound(duck: Duck, frames: int) -> Samples:
    return np.concatenate([duck.shape(FULL) for _ in range(frames)])


def test_what_nobody_presses_on_is_the_very_frame() -> None:
    assert Duck(18).shape(FULL) is FULL


def test_it_is_18_db_lower_within_40_ms_without_a_step_and_as_loud_again_as_fast() -> None:
    duck = Duck(18)
    duck.press("a", 0, 0)
    down = sound(duck, 10)
    assert np.all(down[to_samples(RAMP_MS) :] == round(LOW))
    duck.restore(faded=False)
    up = sound(duck, 10)
    assert np.all(up[to_samples(RAMP_MS) :] == 10_000)
    whole = np.concatenate([FULL, down, up]).astype(int)
    assert np.abs(np.diff(whole)).max() <= 10_000 / to_samples(RAMP_MS) + 1
    assert duck.shape(FULL) is FULL


def test_after_a_pause_it_begins_from_silence() -> None:
    duck = Duck(18)
    duck.press("a", 0, 0)
    sound(duck, 5)
    duck.restore(faded=True)
    back = sound(duck, 3)
    assert back[0] < 50
    assert np.all(back[to_samples(RAMP_MS) :] == 10_000)


@pytest.mark.parametrize("db", [0, 6, 18, 60])
def test_however_much_it_is_lowered_it_comes_back_to_full(db: float) -> None:
    duck = Duck(db)
    for faded in (True, False):
        duck.press("a", 0, 0)
        sound(duck, 3)
        duck.restore(faded=faded)
        sound(duck, 3)
        assert duck.shape(FULL) is FULL


def test_it_is_held_until_the_last_lets_go() -> None:
    duck = Duck(18)
    assert duck.press("a", 320, 100)
    assert not duck.press("b", 640, 200)
    assert duck.since == 320
    assert duck.pause("b")
    assert not duck.pause("a")
    assert not duck.pause("c")
    assert not duck.release("c")
    assert not duck.release("b")
    assert duck.paused
    assert duck.release("a")
    assert duck.held_since(100)
    assert not duck.held_since(99)


class Queue:
    """A line that lets go of a frame whenever it is told to; what left is kept."""

    session_id = ""
    behind = 0
    has_screen = False

    def __init__(self, name: str) -> None:
        self.session_id = name
        self.waits: deque[Samples] = deque()
        self.left: list[Samples] = []

    def play(self, frame: AudioFrame) -> int:
        self.waits.append(frame.samples)
        return 0

    def clear(self) -> int:
        dropped = self.queued
        self.waits.clear()
        return dropped

    @property
    def queued(self) -> int:
        return len(self.waits) * FRAME_SAMPLES

    def drain(self, frames: int) -> None:
        for _ in range(min(frames, len(self.waits))):
            self.left.append(self.waits.popleft())


WORD = 7 * FRAME_SAMPLES + 100
"""Every word is so long."""


class Words:
    """The script of a reply of equal words."""

    def word_start(self, played: int) -> int:
        return played - played % WORD


class Voice:
    """A mouth that has all its sound: each sample is its place, in fives."""

    def __init__(self, samples: int) -> None:
        self.script = Words()
        self._tape = Tape()
        self._tape.add((np.arange(samples) // 5 + 1).astype(np.int16))

    def frame(self) -> Samples | None:
        return self._tape.frame()

    def rewind(self, position: int) -> int:
        return self._tape.rewind(position)


class Plain(Duck):
    """Leaves each sample what it is."""

    def shape(self, frame: Samples) -> Samples:
        return frame


class Told:
    """Notices that only keep where it was said to be."""

    def __init__(self) -> None:
        self.resumed_at: list[int] = []

    def ducked(self, reply: Reply, session_id: str, position_ms: int, after_ms: int) -> None:
        pass

    paused = ducked

    def resumed(self, reply: Reply, position_ms: int, why: str) -> None:
        self.resumed_at.append(position_ms)


@dataclass
class Stage:
    """A reply of ten seconds on two lines, one of which may be behind."""

    queues: list[Queue] = field(default_factory=lambda: [Queue("a"), Queue("b")])
    now: int = 0
    told: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        NOW[0] = 0
        self.lines = [Line(cast(Call, queue), queue.session_id, lambda: None) for queue in self.queues]
        self.manners = Manners(self.lines, cast(Notices, self.told))
        mouth = cast(Mouth, Voice(to_samples(10_000)))
        self.saying = Saying(Reply("r", "room"), mouth, cast("asyncio.Task[None]", None), Plain(0), begun=True)
        self.reported = [0, 0]

    def tick(self, behind: int = 0) -> None:
        self.now = NOW[0] = self.now + FRAME_MS
        self.manners.overdue(self.saying, self.now)
        frame = self.saying.frame(self.now)
        for line in self.lines:
            if frame is not None:
                line.hand(frame, own=True)
        self.queues[0].drain(len(self.queues[0].waits))
        self.queues[1].drain(max(0, len(self.queues[1].waits) - behind))
        if not self.saying.duck.lowered:
            heard = [line.played() for line in self.lines]
            assert all(later >= before for before, later in zip(self.reported, heard, strict=True))
            self.reported = heard

    def does(self, who: int, what: str) -> None:
        steps: dict[str, Lower | Pause | Resume] = {"duck": Lower("r", 0, 60), "pause": Pause("r", 0, 220)}
        step = steps.get(what, Resume("r", 0, "noise"))
        self.manners.give_way(self.saying, self.lines[who], step, self.now)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.integers(1, 12), st.integers(0, 8)),
        st.tuples(st.integers(0, 1), st.sampled_from(("duck", "pause", "resume"))),
    ),
    max_size=40,
)


@given(STEPS)
def test_nothing_of_a_reply_is_lost_and_a_word_at_most_comes_twice(stage_steps: list[tuple[int, int] | tuple[int, str]]) -> None:
    stage = Stage()
    for one, other in stage_steps:
        if isinstance(other, str):
            stage.does(one, other)
        else:
            for _ in range(one):
                stage.tick(other)
    for _ in range((LONGEST_MS + 1_000) // FRAME_MS):
        stage.tick()
    assert not stage.saying.duck.lowered
    for queue, line in zip(stage.queues, stage.lines, strict=True):
        assert line.played() == stage.saying.handed
        _continuous(queue.left, len(stage.told.resumed_at))


def _continuous(frames: list[Samples], times: int) -> None:
    """From the first sample on, each frame follows the last one, or goes back by what fits a word and what waited."""
    starts = [(int(frame[0]) - 1) * 5 for frame in frames]
    back = 0
    for before, after in pairwise(starts):
        if after - before != FRAME_SAMPLES:
            back += 1
            assert -(WORD + 20 * FRAME_SAMPLES + to_samples(LONGEST_MS)) <= after - before <= FRAME_SAMPLES
    assert back <= times
    assert not starts or starts[0] == 0


def test_the_ducked_stretch_counts_as_heard_unless_it_comes_again() -> None:
    for paused in (False, True):
        stage = Stage()
        for _ in range(20):
            stage.tick()
        stage.does(0, "duck")
        since = stage.saying.handed
        for _ in range(8):
            stage.tick()
        if paused:
            stage.does(0, "pause")
        assert stage.lines[0].played() == since + 8 * FRAME_SAMPLES
        stage.does(0, "resume")
        assert stage.lines[0].played() == (since if paused else since + 8 * FRAME_SAMPLES)
        assert stage.saying.handed == (since - since % WORD if paused else since + 8 * FRAME_SAMPLES)


def test_who_is_behind_hears_what_was_thrown_away() -> None:
    stage = Stage()
    for _ in range(20):
        stage.tick(behind=6)
    stage.does(0, "duck")
    stage.tick(behind=6)
    stage.does(0, "pause")
    heard = stage.lines[1].played()
    stage.does(0, "resume")
    assert stage.saying.handed <= heard == 15 * FRAME_SAMPLES


@pytest.mark.parametrize(
    ("words", "question", "digits"),
    [
        ("", False, False),
        ("It rains.", False, False),
        ("Shall I book it?", True, False),
        ("Shall I book it? It is ten dollars.", True, False),
        ("Shall I book it? It is ten dollars a night, and you can cancel.", False, False),
        ("What is your order number?", True, True),
        ("Your order number is known. Anything else?", True, False),
        ("Quel est votre numéro ?", True, True),
        ("?", False, False),
    ],
)
def test_what_is_expected_after_the_agents_words(words: str, question: bool, digits: bool) -> None:
    assert asked(words) == question
    expected = expectation(words)
    assert (expected.question, expected.digits) == (question, digits)
