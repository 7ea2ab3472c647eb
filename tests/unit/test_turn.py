"""What speech does to what sounds, and what becomes of its words, as tables (statements 113, 114, 115, 117, 121)."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.voice.interruption import (
    IN_VAIN,
    LONGEST_MS,
    MOST_DUCKED_MS,
    NOTHING,
    Cut,
    Duck,
    OverKind,
    Pause,
    Resume,
    SpeechDecision,
)
from voiceagent.voice.settings import BargeInSettings, InterruptionStrategy
from voiceagent.voice.turn import Commit, Drop, Hold, Sounding, Turn, Utterance

REPLY = Sounding("reply", 1_000)
CONFIRMED = BargeInSettings()
IMMEDIATE = BargeInSettings(strategy=InterruptionStrategy.IMMEDIATE)
SEMANTIC = BargeInSettings(strategy=InterruptionStrategy.SEMANTIC)
DISABLED = BargeInSettings(strategy=InterruptionStrategy.DISABLED)
SURE_MS = 120
"""Voice after which the ear is sure of speech."""


def spoken(name: str, voiced_ms: int = 600) -> Utterance:
    return Utterance(name, f"words of {name}", 0, 1_000, voiced_ms)


class Person:
    """Speaks over a reply by (ms, voiced) spans, and keeps what was decided, as (ms, what, why)."""

    def __init__(self, settings: BargeInSettings = CONFIRMED, reply: Sounding | None = REPLY) -> None:
        self.turn = Turn(settings)
        self.reply = reply
        self.at = 0
        self.voiced = 0
        self.decided: list[tuple[int, str, str]] = []
        self.open = False

    def sound(self, *spans: tuple[int, bool]) -> "Person":
        for ms, voiced in spans:
            for _ in range(ms // 20):
                self.at += 20
                self.voiced += 20 if voiced else 0
                if voiced and not self.open and self.voiced >= SURE_MS:
                    self.open = True
                    self.turn.began("a", self.reply)
                self.take(self.turn.frame(self.at, voiced, self.reply))
        return self

    def end(self) -> "Person":
        self.turn.ended()
        self.open, self.voiced = False, 0
        return self

    def take(self, step: SpeechDecision) -> None:
        match step:
            case Duck(_, at, after):
                self.decided.append((at, "duck", str(after)))
            case Pause(_, at, after):
                self.decided.append((at, "pause", str(after)))
            case Resume(_, at, why) | Cut(_, at, why):
                self.decided.append((at, type(step).__name__.lower(), why))
            case _:
                pass

    @property
    def steps(self) -> list[str]:
        return [what for _, what, _ in self.decided]


DUCKED, PAUSED = (60, "duck", "60"), (220, "pause", "220")

TABLE: list[tuple[str, BargeInSettings, Sequence[tuple[int, bool]], list[tuple[int, str, str]]]] = [
    ("40 ms of voice are nothing", CONFIRMED, [(40, True), (2_000, False)], []),
    ("60 ms duck; with no voice for as long as may be it pauses", CONFIRMED, [(60, True), (240, False)], [DUCKED]),
    (
        "and comes back when no words follow",
        CONFIRMED,
        [(60, True), (1_520, False)],
        [DUCKED, (320, "pause", "320"), (1_560, "resume", "no_words")],
    ),
    ("a voice that goes on pauses it 160 ms later", CONFIRMED, [(200, True)], [DUCKED]),
    ("not before", CONFIRMED, [(220, True)], [DUCKED, PAUSED]),
    ("980 ms of voice do not cut", CONFIRMED, [(980, True)], [DUCKED, PAUSED]),
    ("1000 ms do", CONFIRMED, [(1_000, True)], [DUCKED, PAUSED, (1_000, "cut", "voice")]),
    (
        "gaps of 80 ms count as no end",
        CONFIRMED,
        [(100, True), (80, False)] * 11,
        [DUCKED, PAUSED, (1_720, "cut", "voice")],
    ),
    (
        "nor gaps of 200 ms; too thin, and a voice that goes on comes to its longest time",
        CONFIRMED,
        [(60, True), (200, False)] * 9,
        [DUCKED, (280, "pause", "280"), (2_260, "resume", "no_words")],
    ),
    (
        "a gap of 220 ms begins anew",
        CONFIRMED,
        [(900, True), (220, False), (900, True)],
        [DUCKED, PAUSED],
    ),
    ("semantic: 980 ms do not", SEMANTIC, [(980, True)], [DUCKED, PAUSED]),
    ("semantic: a second does", SEMANTIC, [(1_000, True)], [DUCKED, PAUSED, (1_000, "cut", "voice")]),
    (
        "semantic: a second of thin speech too",
        SEMANTIC,
        [(100, True), (80, False)] * 6,
        [DUCKED, PAUSED, (1_000, "cut", "voice")],
    ),
    ("immediate: at the onset", IMMEDIATE, [(400, True)], [(120, "cut", "voice")]),
    ("immediate: not before speech is sure", IMMEDIATE, [(100, True)], []),
    ("disabled: never", DISABLED, [(5_000, True)], []),
]


@pytest.mark.parametrize(("settings", "spans", "decided"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_sound_alone(settings: BargeInSettings, spans: Sequence[tuple[int, bool]], decided: list[tuple[int, str, str]]) -> None:
    person = Person(settings).sound(*spans)
    if decided and decided[-1][1] == "resume":
        person.decided = person.decided[: len(decided)]
    assert person.decided == decided


def test_what_stirred_and_came_to_nothing_lets_a_ducked_reply_come_back_without_a_pause() -> None:
    person = Person().sound((80, True), (100, False))
    person.take(person.turn.calm())
    assert person.decided == [DUCKED, (180, "resume", "noise")]


@pytest.mark.parametrize(
    ("kind", "final", "then"),
    [
        ("stop", False, ("cut", "stop")),
        ("words", False, ("cut", "words")),
        ("pending", False, None),
        ("backchannel", False, None),
        ("nothing", False, None),
        ("echo", False, ("resume", "echo")),
        ("stop", True, ("cut", "stop")),
        ("words", True, ("cut", "words")),
        ("backchannel", True, ("resume", "backchannel")),
        ("nothing", True, ("resume", "nothing")),
        ("echo", True, ("resume", "echo")),
    ],
)
@pytest.mark.parametrize("settings", [CONFIRMED, SEMANTIC])
@pytest.mark.parametrize("voice_ms", [140, 400])
def test_words_decide(
    kind: OverKind, final: bool, then: tuple[str, str] | None, settings: BargeInSettings, voice_ms: int
) -> None:
    person = Person(settings).sound((voice_ms, True))
    before = list(person.decided)
    person.take(person.turn.candidate("a", kind) if final else person.turn.guessed("a", kind))
    assert person.decided == [*before, *([(voice_ms, *then)] if then else [])]


def test_words_that_come_after_it_came_back_still_cut_and_a_late_backchannel_does_nothing() -> None:
    person = Person().sound((400, True), (1_600, False)).end()
    assert person.steps == ["duck", "pause", "resume"]
    assert person.turn.words(spoken("a"), "backchannel", REPLY) == (
        Drop(spoken("a"), "backchannel", "over_the_agent", "reply"),
        NOTHING,
    )
    person = Person().sound((400, True), (1_600, False)).end()
    assert person.turn.words(spoken("a"), "words", REPLY) == (
        Commit(spoken("a"), replaces=True, cuts=True),
        Cut("reply", 2_000, "words"),
    )


def test_somebody_elses_detector_may_decide() -> None:
    for opinion, last in ((True, "cut"), (False, "resume")):
        person = Person().sound((300, True))
        person.take(person.turn.judged("a", opinion))
        assert person.decided[-1] == (300, last, "detector")


def test_a_voice_that_is_the_replys_own_by_its_words_cuts_nothing_however_long() -> None:
    person = Person().sound((500, True))
    person.take(person.turn.guessed("a", "echo"))
    person.sound((3_000, True))
    assert person.steps == ["duck", "pause", "resume"]


def test_noise_that_keeps_coming_wears_nothing_down() -> None:
    person = Person()
    for _ in range(10):
        person.sound((80, True), (300, False))
        person.take(person.turn.calm())
        person.voiced = 0
    assert person.steps.count("pause") == IN_VAIN
    assert person.steps.count("duck") == person.steps.count("resume") == 10
    assert person.sound((1_100, True)).steps[-1] == "cut"


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE, SEMANTIC])
def test_one_playback_is_cut_once_however_long_speech_goes_on(settings: BargeInSettings) -> None:
    person = Person(settings).sound((4_000, True), (300, False))
    person.take(person.turn.candidate("a", "words"))
    person.end().sound((2_000, True))
    assert person.steps.count("cut") == 1
    assert person.steps[-1] == "cut"


def test_the_next_reply_can_be_cut_again() -> None:
    person = Person(IMMEDIATE).sound((120, True)).end()
    person.reply = Sounding("next", 0)
    person.sound((300, False), (120, True))
    assert [step for step in person.decided if step[1] == "cut"] == [(120, "cut", "voice"), (540, "cut", "voice")]


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE])
def test_nothing_sounds_nothing_is_cut(settings: BargeInSettings) -> None:
    assert Person(settings, None).sound((900, True)).decided == []


def test_a_reply_that_begins_over_speech_is_cut_only_by_speech_against_it() -> None:
    for settings, cut in ((IMMEDIATE, 1_200), (CONFIRMED, 1_900)):
        person = Person(settings, None).sound((900, True))
        person.reply = REPLY
        person.sound((1_000, True))
        assert person.decided[-1] == (cut, "cut", "voice")


def test_the_first_moments_of_a_reply_may_be_protected() -> None:
    person = Person(IMMEDIATE.model_copy(update={"allow_during_first_ms": 200}), Sounding("reply", 180)).sound((300, True))
    assert person.decided == []
    person.reply = Sounding("reply", 200)
    assert person.sound((20, True)).decided == [(320, "cut", "voice")]


def test_a_sign_of_listening_is_no_turn_over_the_agent_and_one_without_it() -> None:
    for reply, decision in ((REPLY, Drop), (None, Commit)):
        person = Person(reply=reply).sound((400, True), (500, False)).end()
        assert isinstance(person.turn.words(spoken("a"), "backchannel", reply)[0], decision)


def test_a_reply_that_is_over_before_the_last_voice_is_not_spoken_over() -> None:
    person = Person().sound((200, True))
    person.reply = None
    person.sound((200, True), (500, False)).end()
    assert isinstance(person.turn.words(spoken("a"), "backchannel", None)[0], Commit)


def test_who_has_cut_the_agent_is_heard_whatever_they_said() -> None:
    person = Person().sound((1_000, True), (500, False)).end()
    assert isinstance(person.turn.words(spoken("a"), "backchannel", None)[0], Commit)


def test_the_agents_own_words_are_no_turn_at_any_time() -> None:
    for settings in (CONFIRMED, DISABLED, IMMEDIATE):
        for reply in (REPLY, None):
            person = Person(settings, reply).sound((400, True), (500, False)).end()
            assert person.turn.words(spoken("a"), "echo", reply)[0] == Drop(spoken("a"), "rejected", "echo")


@pytest.mark.parametrize("settings", [CONFIRMED, IMMEDIATE, SEMANTIC])
def test_words_go_to_the_room_whatever_sounds(settings: BargeInSettings) -> None:
    turn = Turn(settings)
    assert turn.words(spoken("a", 200), "words", REPLY)[0] == Commit(spoken("a", 200))
    assert turn.words(spoken("b"), "words", None)[0] == Commit(spoken("b"), replaces=True)
    assert turn.words(spoken("c", 200), "words", None)[0] == Commit(spoken("c", 200))


def test_disabled_holds_eight_and_replays_them_in_order() -> None:
    turn = Turn(DISABLED, held_segments=8)
    names = [f"u{n}" for n in range(10)]
    decisions = [turn.words(spoken(name), "words", REPLY)[0] for name in names]
    assert decisions[:8] == [Hold(spoken(name)) for name in names[:8]]
    assert decisions[8:] == [Hold(spoken("u8"), instead=spoken("u0")), Hold(spoken("u9"), instead=spoken("u1"))]
    assert turn.quiet() == tuple(Commit(spoken(name)) for name in names[2:])
    assert turn.quiet() == ()


def test_disabled_commits_at_once_when_nothing_sounds() -> None:
    turn = Turn(DISABLED)
    assert turn.words(spoken("a"), "words", None)[0] == Commit(spoken("a"))
    assert turn.words(spoken("b"), "words", None)[0] == Commit(spoken("b"))


KINDS: tuple[OverKind, ...] = ("backchannel", "pending", "stop", "words", "nothing", "echo")
ANYTHING = st.one_of(
    st.tuples(st.integers(1, 40), st.booleans()),
    st.tuples(st.sampled_from(("guess", "candidate", "words")), st.sampled_from(KINDS)),
    st.sampled_from(("calm", "end", "drop", "yes", "no")),
)


@given(st.lists(ANYTHING, max_size=60), st.sampled_from((CONFIRMED, SEMANTIC)))
def test_whatever_comes_a_reply_is_cut_at_most_once_and_never_left_lowered(
    events: Iterable[tuple[int, bool] | tuple[str, OverKind] | str], settings: BargeInSettings
) -> None:
    person = Person(settings)
    for event in events:
        _meet(person, event)
        _never_stuck(person)
    person.sound((LONGEST_MS + 200, False))
    _never_stuck(person)
    assert person.steps[-1:] != ["duck"]
    assert person.steps[-1:] != ["pause"]


def _meet(person: Person, event: tuple[int, bool] | tuple[str, OverKind] | str) -> None:
    turn = person.turn
    if event == "end":
        person.end()
    elif event == "calm":
        person.take(turn.calm())
    elif event == "drop":
        person.take(turn.dropped("a"))
    elif isinstance(event, str):
        person.take(turn.judged("a", event == "yes"))
    elif isinstance(event[1], bool):
        person.sound((20 * int(event[0]), event[1]))
    elif event[0] == "words":
        person.end()
        person.take(turn.words(spoken("a"), event[1], REPLY)[1])
    else:
        person.take(turn.candidate("a", event[1]) if event[0] == "candidate" else turn.guessed("a", event[1]))


def _never_stuck(person: Person) -> None:
    """Each step is one that may follow the one before, in time."""
    may = {"": "duck cut", "duck": "pause resume cut", "pause": "resume cut", "resume": "duck cut", "cut": ""}
    since = 0
    for before, step in zip([(0, "", ""), *person.decided], person.decided, strict=False):
        assert step[1] in may[before[1]].split()
        since = step[0] if step[1] == "duck" else since
        if step[1] == "pause":
            assert step[0] - since <= MOST_DUCKED_MS + 10
        if step[1] == "resume":
            assert step[0] - since <= LONGEST_MS + 20
