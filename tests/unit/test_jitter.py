"""The jitter buffer: order, places and patience, from tables and from any arrival order."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.audio.jitter import HELD, LEAD_MS, MOST_MS, READING_MS, SLOT, JitterBuffer, Missing, Packet, Place
from voiceagent.audio.lateness import Lateness

LOST, QUIET = Missing.LOST, Missing.QUIET


def _packet(
    number: int, *, at: int | None = None, first: int = 65_530, origin: int = (1 << 32) - 2 * SLOT, stream: int = 0
) -> Packet:
    """The packet of this number, from numbers and a clock that are about to wrap; `at`: its slot, where slots were silent."""
    stamp = (origin + (number if at is None else at) * SLOT) % (1 << 32)
    return Packet((first + number) % (1 << 16), stamp, str(number).encode(), stream=stream)


def _said(place: Place) -> int | str:
    return int(place.payload) if isinstance(place, Packet) else place.value


def _run(arrivals: Iterable[tuple[int, Packet]], until: int) -> list[tuple[int, int | str]]:
    """(when, what) for each place handed on, with the loop's clock in whole ms."""
    waiting = sorted(arrivals, key=lambda one: one[0])
    buffer, handed, index = JitterBuffer(0), [], 0
    for now in range(until):
        while index < len(waiting) and waiting[index][0] <= now:
            buffer.add(waiting[index][1], now)
            index += 1
        while (place := buffer.take(now)) is not None:
            handed.append((now, _said(place)))
    return handed


def _even(numbers: Iterable[int]) -> list[tuple[int, Packet]]:
    return [(20 * n, _packet(n)) for n in numbers]


def test_packets_in_order_are_handed_on_as_they_come_over_every_wrap() -> None:
    assert _run(_even(range(12)), 230) == [(20 * n, n) for n in range(12)]


def test_a_lost_packet_costs_its_own_place_and_no_delay() -> None:
    calm = 200
    handed = _run(_even(n for n in range(calm + 50) if n != calm), 20 * (calm + 50))
    replaced = handed[calm][1]
    assert replaced in ("lost", "quiet")
    assert [what for _, what in handed] == [*range(calm), replaced, *range(calm + 1, calm + 50)]
    assert handed[calm + 1] == (20 * (calm + 1), calm + 1)
    assert handed[-1] == (20 * (calm + 49), calm + 49)


def test_a_packet_that_changed_places_is_put_back_and_a_copy_is_ignored() -> None:
    times = {0: 0, 1: 20, 3: 60, 2: 70, 4: 80, 6: 120, 5: 135, 7: 140}
    copies = [(75, _packet(2)), (77, _packet(3)), (139, _packet(4))]
    handed = _run([*((when, _packet(n)) for n, when in times.items()), *copies], 160)
    assert [what for _, what in handed] == list(range(8))


def test_silence_that_was_not_sent_keeps_its_time() -> None:
    spoken = [(20 * n, _packet(n)) for n in range(10)]
    later = [(20 * (60 + n), _packet(10 + n, at=60 + n)) for n in range(10)]
    handed = _run(spoken + later, 1400)
    assert [what for _, what in handed] == [*range(10), *["quiet"] * 50, *range(10, 20)]
    assert handed[60] == (1200, 10)


def test_who_comes_late_is_heard_and_time_goes_back_in_the_next_silence() -> None:
    buffer = JitterBuffer(0)
    handed: list[int | str] = []

    def take(now: int) -> None:
        while (place := buffer.take(now)) is not None:
            handed.append(_said(place))

    for n in range(100):
        buffer.add(_packet(n), 20 * n)
        take(20 * n)
    for now in range(2000, 2151):
        take(now)
    late = handed.count("quiet")
    for n in range(100, 108):
        buffer.add(_packet(n), 2150)
    take(2150)
    assert late > 0
    assert buffer.ahead_ms == 20 * late
    assert [what for what in handed if what != "quiet"] == list(range(108))
    for now in range(2151, 2800):
        take(now)
    buffer.add(_packet(108, at=140), 2800)
    take(2800)
    assert buffer.ahead_ms == 0
    assert len(handed) == 141


def test_a_burst_after_two_seconds_brings_no_more_than_400_ms() -> None:
    calm = [(20 * n, _packet(n)) for n in range(100)]
    burst = [(4000, _packet(n)) for n in range(100, 200)]
    handed = _run(calm + burst + [(20 * n, _packet(n)) for n in range(200, 300)], 6000)
    numbers = [what for _, what in handed if isinstance(what, int)]
    assert numbers == sorted(numbers)
    assert set(range(200, 300)) <= set(numbers)
    assert 0 <= len(handed) - 300 <= MOST_MS // 20
    assert all(when == 20 * what for when, what in handed if isinstance(what, int) and what >= 200)


@pytest.mark.parametrize("shift", [700, 5_000])
def test_a_route_that_became_longer_for_good_is_followed(shift: int) -> None:
    later = [(20 * n + shift, _packet(n)) for n in range(100, 200)]
    handed = _run(_even(range(100)) + later, 4000 + shift)
    assert [what for _, what in handed if isinstance(what, int)][-80:] == list(range(120, 200))


def test_another_stream_begins_at_once_and_the_rest_of_the_old_one_is_let_go() -> None:
    new = [(200 + 20 * n, _packet(n, first=7, origin=99, stream=5)) for n in range(5)]
    old = [(205, _packet(10)), (245, _packet(12))]
    handed = _run(_even(range(10)) + new + old, 290)
    assert [what for _, what in handed] == [*range(10), *range(5)]


def test_a_flood_is_kept_to_real_time_and_memory() -> None:
    buffer = JitterBuffer(0)
    for n in range(1000):
        buffer.add(_packet(n), 0)
    handed = []
    while (place := buffer.take(0)) is not None:
        handed.append(place)
    assert len(handed) <= min(HELD, LEAD_MS // 20)


def test_patience_follows_the_line_both_ways() -> None:
    lateness, now = Lateness(), 0

    def line(late: Iterable[int]) -> int:
        nonlocal now
        for ms in late:
            now += 20
            lateness.add(ms, now)
        return lateness.wait_ms

    assert line([0] * 150) == 20
    assert line([0, 45, 10, 58] * 40) == 60
    assert line([0, 150] * 40) == 160
    assert line([0] * 150) == 20
    assert line([0, 1500] * 40) == 20


_delays = st.lists(st.one_of(st.none(), st.integers(0, 120), st.integers(0, 3000)), min_size=1, max_size=120)


@settings(max_examples=40, deadline=None)
@given(_delays, st.data())
def test_any_arrival_gives_each_packet_once_in_order_in_time(delays: list[int | None], data: st.DataObject) -> None:
    arrivals = [(20 * n + late, _packet(n)) for n, late in enumerate(delays) if late is not None]
    copies = data.draw(st.lists(st.sampled_from(arrivals), max_size=20)) if arrivals else []
    arrivals += [(when + data.draw(st.integers(0, 500)), packet) for when, packet in copies]
    end = 20 * len(delays) + 3600
    handed = _run(arrivals, end)
    numbers = [what for _, what in handed if isinstance(what, int)]
    assert all(before < after for before, after in pairwise(numbers))
    assert (end - 20 * len(handed)) <= 2 * MOST_MS + 3000
    assert 20 * len(handed) <= end + 2 * MOST_MS + LEAD_MS + 3000


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 65535), st.integers(0, (1 << 32) - 1), st.integers(0, 2), st.integers(0, 60)), max_size=150)
)
def test_nonsense_is_survived_within_bounds(said: list[tuple[int, int, int, int]]) -> None:
    buffer, now, handed = JitterBuffer(0), 0, 0
    for sequence, stamp, stream, later in said:
        now += later
        buffer.add(Packet(sequence, stamp, b"x", stream=stream), now)
        while buffer.take(now) is not None:
            handed += 1
            assert handed * 20 <= now * 2.1 + LEAD_MS + MOST_MS + 100
    assert buffer.ahead_ms <= MOST_MS


def test_who_overslept_reads_what_has_come_before_anything_is_given_up() -> None:
    buffer, handed = JitterBuffer(0), []
    for n in range(50):
        buffer.add(_packet(n), 20 * n)
        while (place := buffer.take(20 * n)) is not None:
            handed.append(place)
    woke = 980 + 700
    assert buffer.take(woke) is None
    assert buffer.due == woke + READING_MS
    for n in range(50, 84):
        buffer.add(_packet(n), woke + 10)
        while (place := buffer.take(woke + 10)) is not None:
            handed.append(place)
    assert [_said(place) for place in handed] == list(range(84)[: len(handed)])
    assert len(handed) >= 50 + LEAD_MS // 20
