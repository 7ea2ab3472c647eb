"""What a sound does to a reply before it is known whether it is a voice, as tables."""

from collections.abc import Sequence

import pytest

from tests.unit.test_turn import DISABLED, IMMEDIATE, REPLY, Person
from voiceagent.voice.interruption import NOTHING
from voiceagent.voice.settings import BargeInSettings
from voiceagent.voice.turn import Turn


class Startled:
    """A reply's person by (ms, voiced, sudden) spans."""

    def __init__(self) -> None:
        self.person = Person()

    def sound(self, *spans: tuple[int, bool, bool]) -> list[tuple[int, str, str]]:
        person = self.person
        for ms, voiced, sudden in spans:
            for _ in range(ms // 20):
                person.at += 20
                person.take(person.turn.frame(person.at, voiced, REPLY, sudden=sudden))
        return person.decided


@pytest.mark.parametrize(
    ("spans", "decided"),
    [
        ([(100, False, True)], [(20, "duck", "40")]),
        ([(360, False, True), (20, False, False)], [(20, "duck", "40"), (380, "resume", "noise")]),
        ([(100, False, True), (200, True, False)], [(20, "duck", "40"), (180, "pause", "200")]),
        ([(300, False, True), (20, True, False)], [(20, "duck", "40"), (320, "pause", "340")]),
    ],
    ids=["a sound", "no voice in it", "a voice at once", "a voice late"],
)
def test_a_sound_that_may_be_a_voice_lowers_the_reply_and_a_voice_pauses_it(
    spans: Sequence[tuple[int, bool, bool]], decided: list[tuple[int, str, str]]
) -> None:
    assert Startled().sound(*spans) == decided


@pytest.mark.parametrize(
    ("lasting_ms", "then", "decided"),
    [
        (200, [(160, False, False), (20, False, False)], [(20, "duck", "40")]),
        (360, [(20, False, False)], [(20, "duck", "40"), (240, "pause", "260"), (380, "resume", "noise")]),
        (700, [], [(20, "duck", "40"), (240, "pause", "260"), (580, "resume", "noise")]),
        (240, [(60, True, True)], [(20, "duck", "40"), (240, "pause", "260")]),
    ],
    ids=["a short sound", "a noise", "a noise that goes on", "a voice that is found late"],
)
def test_a_sound_that_goes_on_pauses_the_reply_before_a_voice_is_found_in_it(
    lasting_ms: int, then: Sequence[tuple[int, bool, bool]], decided: list[tuple[int, str, str]]
) -> None:
    person = Person()
    for ms, voiced, lasting in [(lasting_ms, False, True), *then]:
        for _ in range(ms // 20):
            person.at += 20
            sudden = person.at <= 360
            person.take(person.turn.frame(person.at, voiced, REPLY, sudden=sudden, lasting=lasting))
    assert person.decided[: len(decided)] == decided
    assert [what for _, what, _ in person.decided[len(decided) :]] in ([], ["resume"])


def test_what_came_back_is_not_lowered_again_by_the_same_sound() -> None:
    startled = Startled()
    startled.sound((100, False, True))
    person = startled.person
    person.take(person.turn.calm())
    assert [what for _, what, _ in startled.sound((200, False, True))] == ["duck", "resume"]
    assert [what for _, what, _ in startled.sound((200, False, False), (60, False, True))] == ["duck", "resume", "duck"]


@pytest.mark.parametrize("settings", [IMMEDIATE, DISABLED])
def test_a_sound_lowers_nothing_where_nothing_is_lowered(settings: BargeInSettings) -> None:
    turn = Turn(settings)
    assert [turn.frame(at, False, REPLY, sudden=True) for at in (20, 40, 60)] == [NOTHING] * 3
