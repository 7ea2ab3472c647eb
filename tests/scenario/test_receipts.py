"""Commands that are sent again: done once, acknowledged each time, and forgotten only when nothing was done."""

import asyncio

import pytest

from voiceagent import clock
from voiceagent.web.command import Ack
from voiceagent.web.receipts import Key, Receipts

KEY: Key = ("room", "web-1", "00000001")


class Work:
    """Counts how often it is done, and takes 100 ms."""

    def __init__(self, *, accepted: bool = True) -> None:
        self.done = 0
        self._accepted = accepted

    async def __call__(self) -> Ack:
        self.done += 1
        await clock.sleep_until(clock.now() + 100)
        return Ack(id=KEY[2], accepted=True, disposition="queued") if self._accepted else Ack.refusal(KEY[2], "refused", "no")


async def test_whoever_sends_the_same_while_it_is_done_waits_for_it() -> None:
    receipts, work = Receipts(), Work()
    acks = await asyncio.gather(*(receipts.once(KEY, "a", work) for _ in range(5)))
    assert work.done == 1
    assert sorted(ack.duplicate for ack in acks) == [False, True, True, True, True]
    assert (await receipts.once(KEY, "a", work)).duplicate
    assert work.done == 1


async def test_the_same_id_for_something_else_is_refused_also_while_it_is_done() -> None:
    receipts, work = Receipts(), Work()
    first, other = await asyncio.gather(receipts.once(KEY, "a", work), receipts.once(KEY, "b", work))
    later = await receipts.once(KEY, "b", work)
    assert (first.accepted, other.accepted, later.accepted) == (True, False, False)
    assert [ack.error and ack.error.code for ack in (other, later)] == ["id_reused", "id_reused"]
    assert work.done == 1


async def test_what_was_refused_may_be_tried_again() -> None:
    receipts, work = Receipts(), Work(accepted=False)
    first, second = await asyncio.gather(receipts.once(KEY, "a", work), receipts.once(KEY, "a", work))
    assert not first.accepted
    assert not second.duplicate
    assert work.done == 2
    again = Work()
    assert (await receipts.once(KEY, "b", again)).accepted
    assert again.done == 1


async def test_who_is_cut_off_while_it_is_done_leaves_it_to_the_next() -> None:
    receipts, work = Receipts(), Work()
    first = asyncio.create_task(receipts.once(KEY, "a", work))
    await asyncio.sleep(0)
    second = asyncio.create_task(receipts.once(KEY, "a", work))
    await asyncio.sleep(0)
    first.cancel()
    ack = await second
    assert (ack.accepted, ack.duplicate, work.done) == (True, False, 2)
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_another_sender_or_room_has_ids_of_its_own() -> None:
    receipts, work = Receipts(), Work()
    for key in (KEY, ("room", "web-2", KEY[2]), ("other", "web-1", KEY[2])):
        assert not (await receipts.once(key, "a", work)).duplicate
    assert work.done == 3


async def test_only_so_many_are_remembered() -> None:
    receipts, work = Receipts(most=2), Work()
    for number in range(3):
        await receipts.once(("room", "web-1", str(number)), "a", work)
    assert not (await receipts.once(("room", "web-1", "0"), "a", work)).duplicate
    assert (await receipts.once(("room", "web-1", "2"), "a", work)).duplicate
