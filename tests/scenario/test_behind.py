"""A listener whose jitter buffer and device hold sound back: what has left is not heard before it comes to the ear."""

from tests.scenario.scripted import ScriptedCall, house
from voiceagent import clock
from voiceagent.audio.frame import SILENCE, to_ms, to_samples
from voiceagent.voice.flight import Flight
from voiceagent.voice.line import Line

TURN = [(800, 1_000)]
BEHIND = 200


class Far(ScriptedCall):
    """Sends what it is handed at once, and is heard BEHIND ms later."""

    def __init__(self) -> None:
        super().__init__("far", [])
        self.behind_ms = BEHIND

    @property
    def queued(self) -> int:
        return 0

    def clear(self) -> int:
        return 0


def line() -> Line:
    return Line(Far(), "ann", lambda: None)


async def hand(to: Line, frames: int, *, own: bool = True) -> None:
    """At the pace of sound; returns as the last one has left."""
    begun = clock.now()
    for number in range(frames):
        to.hand(SILENCE, own=own)
        await clock.sleep_until(begun + (number + 1) * 20)


async def test_what_has_left_is_heard_so_much_later_and_all_of_it_in_the_end() -> None:
    far = line()
    far.begin()
    await hand(far, 8)
    assert (far.played(), far.through()) == (0, False)
    await hand(far, 12)
    assert to_ms(far.played()) == 400 - BEHIND
    for waited, heard in ((100, 300), (180, 380), (200, 400), (5_000, 400)):
        await clock.sleep_until(20 * 20 + waited)
        assert to_ms(far.played()) == heard
        assert far.through() is (heard == 400)


async def test_of_a_cut_answer_what_has_left_comes_to_the_ear_yet() -> None:
    far = line()
    far.begin()
    await hand(far, 20)
    assert to_ms(far.stop()) == 400
    assert to_ms(far.played()) == 400


async def test_who_hangs_up_does_not_hear_what_was_on_its_way() -> None:
    far = line()
    far.begin()
    await hand(far, 20)
    far.end()
    assert to_ms(far.played()) == 400 - BEHIND
    assert far.through()


async def test_the_next_answer_begins_unheard() -> None:
    far = line()
    far.begin()
    await hand(far, 20)
    far.begin()
    assert far.played() == 0
    await hand(far, 11)
    assert to_ms(far.played()) == 220 - BEHIND


async def test_peoples_sound_on_the_way_is_not_the_answers() -> None:
    far = line()
    far.begin()
    await hand(far, 10)
    await hand(far, 10, own=False)
    assert to_ms(far.played()) == 200
    assert far.through()


def test_a_pause_in_what_leaves_drains_the_delay_and_what_waited_and_was_dropped_never_fills_it() -> None:
    flight = Flight()
    behind = to_samples(BEHIND)
    assert flight.samples(behind, 1_000) == 0
    for now in (1_000, 1_005, 1_010):
        flight.hand(now)
    assert flight.samples(behind, 1_060) == behind
    assert flight.samples(behind, 1_160) == behind // 2
    flight.drop(1_010)
    assert flight.samples(behind, 1_110) == behind // 2
    assert flight.samples(0, 1_010) == 0


async def test_a_finished_answer_was_heard_whole_once_its_last_sound_has_come_to_the_ear() -> None:
    call = ScriptedCall("s1", TURN, until_ms=6_000)
    call.behind_ms = BEHIND
    near = ScriptedCall("s1", TURN, until_ms=6_000)
    ended = []
    for each in (call, near):
        async with house(answers=["Good morning to you."]) as here:
            await here.receive(each)
            finished = next(event for event in await here.read() if event.type == "speech.finished")
            started = next(event for event in here.events if event.type == "speech.started")
            progress = [event.data["played_ms"] for event in here.events if event.type == "speech.progress"]
            assert finished.data["heard_text"] == "Good morning to you."
            assert finished.data["played_ms"] == 1_000
            ended.append((finished.at_ms - started.at_ms, progress[0]))
    (late, late_first), (soon, soon_first) = ended
    assert late - soon == BEHIND
    assert int(str(soon_first)) - int(str(late_first)) == min(BEHIND, int(str(soon_first)))
