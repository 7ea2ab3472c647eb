"""What leaves for a listener and when: cushion, order, the 200 ms bound, the cut, and nothing while nobody speaks."""

import numpy as np

from voiceagent.audio.frame import FRAME_SAMPLES, SILENCE, Samples
from voiceagent.transport.outbox import MOST_FRAMES, TAIL_FRAMES, Outbox


def _sound(value: int) -> Samples:
    return np.full(FRAME_SAMPLES, value, dtype=np.int16)


def _take(outbox: Outbox, slots: int) -> list[int | None]:
    taken = [outbox.take() for _ in range(slots)]
    return [None if samples is None else int(samples[0]) for samples in taken]


def test_nothing_is_due_while_nothing_waits() -> None:
    outbox = Outbox()
    assert outbox.idle
    outbox.put(_sound(1), 0)
    assert not outbox.idle


def test_a_spurt_waits_for_its_cushion_and_no_longer_than_it_lasts() -> None:
    outbox = Outbox()
    outbox.put(_sound(1), 100)
    assert outbox.ready_at(100) == 140
    outbox.put(_sound(2), 120)
    assert outbox.ready_at(120) == 120
    outbox.take()
    outbox.take()
    outbox.put(_sound(3), 200)
    assert outbox.ready_at(200) == 200


def test_order_and_then_a_tail_and_then_nothing() -> None:
    outbox = Outbox()
    for value in (5, 6):
        outbox.put(_sound(value), 0)
    assert outbox.queued == 2 * FRAME_SAMPLES
    assert _take(outbox, 2) == [5, 6]
    tail = [outbox.take() for _ in range(TAIL_FRAMES + 1)]
    sent = [samples for samples in tail if samples is not None]
    assert TAIL_FRAMES <= len(sent) <= TAIL_FRAMES + 1
    assert not sent[-1].any()
    assert outbox.idle


def test_silence_that_is_handed_over_leaves_its_slots_empty() -> None:
    outbox = Outbox()
    for _ in range(5):
        outbox.put(SILENCE, 0)
    assert _take(outbox, 5) == [None] * 5
    assert outbox.queued == 0
    outbox.put(_sound(7), 100)
    assert _take(outbox, 1) == [7]


def test_no_more_than_200_ms_waits_and_the_oldest_goes() -> None:
    outbox = Outbox()
    dropped = [outbox.put(_sound(value + 1), 0) for value in range(15)]
    assert outbox.queued == MOST_FRAMES * FRAME_SAMPLES == 3200
    assert sum(dropped) == 5 * FRAME_SAMPLES
    assert _take(outbox, 1) == [6]


def test_a_cut_drops_what_waits_and_fades_what_was_sent() -> None:
    outbox = Outbox()
    for _ in range(5):
        outbox.put(_sound(9000), 0)
    outbox.take()
    assert outbox.clear() == 4 * FRAME_SAMPLES
    assert outbox.queued == 0
    after = outbox.take()
    assert after is not None
    assert int(after[0]) == 9000
    assert not after[80:].any()
    outbox.put(_sound(3), 40)
    assert _take(outbox, 1) == [3]


def test_a_cut_before_anything_left_sends_nothing() -> None:
    outbox = Outbox()
    outbox.put(_sound(1), 0)
    assert outbox.clear() == FRAME_SAMPLES
    assert outbox.idle
