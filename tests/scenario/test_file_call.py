"""A recording as a caller, on the virtual clock: when it speaks, what it hears, how it ends."""

import asyncio

import numpy as np
import pytest

from voiceagent import clock
from voiceagent.audio.frame import SILENCE, AudioFrame, Samples
from voiceagent.errors import TransportError
from voiceagent.transport.call import Call
from voiceagent.transport.file import FileCall

SOUND = np.arange(1, 1001, dtype=np.int16)  # 62.5 ms


def frame(value: int) -> AudioFrame:
    return AudioFrame(np.full(320, value, dtype=np.int16))


def heard(call: FileCall) -> list[tuple[int, int]]:
    """(place in ms, value) of every frame that was heard."""
    return [(piece.at_ms, int(piece.samples[0])) for piece in call.heard()]


async def said(call: FileCall) -> list[tuple[int, AudioFrame]]:
    """(time of arrival after the opening, frame) until the line closes."""
    opened = clock.now()
    return [(clock.now() - opened, frame) async for frame in call.frames()]


def joined(frames: list[tuple[int, AudioFrame]]) -> Samples:
    return np.concatenate([frame.samples for _, frame in frames])


async def test_the_recording_comes_at_the_pace_of_sound_then_silence_until_its_tail_is_over() -> None:
    call: Call = FileCall("c1", SOUND, tail_ms=50)
    assert isinstance(call, FileCall)
    frames = await said(call)
    assert call.session_id == "c1"
    assert [at for at, _ in frames] == [20, 40, 60, 80, 100, 120]
    assert [frame.at for _, frame in frames] == [0, 320, 640, 960, 1280, 1600]
    assert np.array_equal(joined(frames), np.concatenate([SOUND, np.zeros(920, dtype=np.int16)]))
    assert call.closed


@pytest.mark.parametrize("start_ms", [20, 33, 100])
async def test_it_begins_at_its_start(start_ms: int) -> None:
    call = FileCall("c1", SOUND, start_ms=start_ms, tail_ms=0)
    sound = joined(await said(call))
    assert np.array_equal(sound[start_ms * 16 :][:1000], SOUND)
    assert not sound[: start_ms * 16].any()
    assert not sound[start_ms * 16 + 1000 :].any()
    assert call.speaks_until_ms == start_ms + 63


async def test_without_a_tail_it_stays_until_it_is_told_to_finish() -> None:
    call = FileCall("c1", SOUND)
    task = asyncio.create_task(said(call))
    await clock.sleep_until(clock.now() + 60_010)
    assert not task.done()
    call.finish()
    frames = await task
    assert len(frames) == 3_000
    assert frames[-1][1].samples is SILENCE


async def test_a_listener_that_is_late_once_does_not_shift_what_follows() -> None:
    call = FileCall("c1", np.zeros(0, dtype=np.int16), tail_ms=200)
    opened, times = clock.now(), []
    async for got in call.frames():
        times.append(clock.now() - opened)
        if got.at == 320:
            await clock.sleep_until(clock.now() + 70)
    assert times == [20, 40, 110, 110, 110, 120, 140, 160, 180, 200]


async def test_its_sound_can_be_taken_once() -> None:
    call = FileCall("c1", SOUND, tail_ms=0)
    await said(call)
    with pytest.raises(TransportError, match="already being listened to"):
        await said(call)


async def test_what_is_played_is_heard_at_its_place_in_time() -> None:
    call = FileCall("c1", SOUND)
    assert (call.opened_at_ms, call.heard()) == (None, ())
    await clock.sleep_until(500)
    call.play(frame(1))
    assert call.opened_at_ms == 500
    await clock.sleep_until(1_500)
    call.play(frame(2))
    assert call.queued == 0
    await clock.sleep_until(1_527)  # late by less than a frame: no gap
    call.play(frame(3))
    assert heard(call) == [(0, 1), (1_000, 2), (1_020, 3)]
    await clock.sleep_until(1_561)  # late by more: a gap
    call.play(frame(4))
    assert heard(call)[-1] == (1_061, 4)


async def test_frames_early_wait_and_clear_says_how_many() -> None:
    call = FileCall("c1", SOUND)
    for value in (1, 2, 3):
        call.play(frame(value))
    assert call.queued == 640
    assert heard(call) == [(0, 1)]
    await clock.sleep_until(clock.now() + 20)
    assert call.queued == 320
    assert call.clear() == 320
    assert call.clear() == call.queued == 0
    await clock.sleep_until(clock.now() + 100)
    assert heard(call) == [(0, 1), (20, 2)]
    call.play(frame(9))
    assert heard(call)[-1] == (120, 9)


async def test_never_more_than_200_ms_ahead_the_oldest_that_wait_are_dropped() -> None:
    call = FileCall("c1", SOUND)
    for value in range(1, 16):
        assert call.play(frame(value)) == (320 if value > 10 else 0)
        assert call.queued <= 9 * 320
    await clock.sleep_until(clock.now() + 1_000)
    assert heard(call) == [(0, 1), *[(20 * (place + 1), value) for place, value in enumerate(range(7, 16))]]


async def test_hanging_up_lets_what_is_queued_leave_first() -> None:
    call = FileCall("c1", SOUND)
    frames = asyncio.create_task(said(call))
    await clock.sleep_until(clock.now() + 10)
    for value in (1, 2, 3):
        call.play(frame(value))
    before = clock.now()
    await call.hang_up()
    assert clock.now() - before == 60
    await call.hang_up()
    assert clock.now() - before == 60
    assert [value for _, value in heard(call)] == [1, 2, 3]
    assert [at for at, _ in await frames] == [20, 40, 60]


async def test_a_closed_line_says_and_hears_nothing() -> None:
    call = FileCall("c1", SOUND)
    call.play(frame(1))
    call.play(frame(2))
    call.finish()
    call.play(frame(3))
    assert heard(call) == [(0, 1)]
    assert call.queued == 320  # it has not been heard, and never will be
    assert (call.clear(), call.queued) == (320, 0)
    assert await said(call) == []
    await call.hang_up()


async def test_two_minutes_take_no_time_and_do_not_drift() -> None:
    call = FileCall("c1", SOUND, tail_ms=120_000)
    frames = await said(call)
    assert all(at == 20 * (number + 1) for number, (at, _) in enumerate(frames))
    assert len(frames) == 6_004
