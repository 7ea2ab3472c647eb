"""One reader of a room: the order in which they are told, and every way in which it ends."""

import asyncio
import json
from typing import Any

import pytest

from tests.scenario.generations import followed
from tests.scenario.rooms import ROOM, say
from voiceagent import clock
from voiceagent.errors import StoreError
from voiceagent.llm.scripted import Pause
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import QUEUE, Feed
from voiceagent.web.lifeline import HEARTBEAT_S, SLOW_S, End
from voiceagent.web.reader import Opening, Reader
from voiceagent.web.standing import Standing
from voiceagent.web.view import View, Wishes

Object = dict[str, Any]
HOST = Standing(host=True)


class Peer:
    """Takes what is sent, each object in so many milliseconds, until it leaves."""

    def __init__(self, slow_ms: int = 0) -> None:
        self.got: list[Object] = []
        self.ids: list[int | None] = []
        self.left = asyncio.Event()
        self.slow_ms = slow_ms

    async def send(self, text: str, seq: int | None) -> None:
        if self.slow_ms:
            await clock.sleep_until(clock.now() + self.slow_ms)
        self.got.append(json.loads(text))
        self.ids.append(seq)

    async def gone(self) -> None:
        await self.left.wait()

    @property
    def types(self) -> list[str]:
        return [one["type"] for one in self.got]


def reading(kit: RoomEngine, peer: Peer, after: int | None = None, standing: Standing = HOST) -> "asyncio.Task[End]":
    """A reader of the room, from now on; `after` as they ask for it."""
    subscription, snapshot = kit.feed(ROOM).subscribe(after), kit.snapshot(ROOM)
    start = after if subscription.gap is None else subscription.gap[1]
    reader = Reader(ROOM, subscription, View(standing, Wishes()), standing, peer.send)
    return asyncio.create_task(
        reader.run(Opening(start, {"epoch": "", "host": standing.host, "people": []}, snapshot), peer.gone())
    )


async def quiet() -> None:
    """Lets everything happen that needs little time: a store takes some."""
    await clock.sleep_until(clock.now() + 50)


async def test_the_snapshot_stands_between_what_was_and_what_comes(kit: RoomEngine) -> None:
    await kit.create_room(ROOM)
    feed = kit.feed(ROOM)
    for type in ("first", "second"):
        feed.publish(type, {})
    await quiet()
    anew, behind, now = (Peer() for _ in range(3))
    tasks = [reading(kit, anew, 0), reading(kit, behind, 1), reading(kit, now)]
    feed.publish("level", {}, durable=False)
    feed.publish("third", {})
    await quiet()
    assert anew.types == ["stream.ready", "first", "second", "stream.snapshot", "level", "third"]
    assert behind.types == ["stream.ready", "second", "stream.snapshot", "level", "third"]
    assert now.types == ["stream.ready", "stream.snapshot", "level", "third"]
    assert anew.ids == [None, 1, 2, 2, None, 3]
    assert anew.got[3]["data"]["seq"] == 2
    for peer in (anew, behind, now):
        peer.left.set()
    assert await asyncio.gather(*tasks) == ["gone"] * 3


async def test_a_snapshot_holds_the_answer_that_is_being_made_and_the_rest_follows(kit: RoomEngine) -> None:
    room = await followed(kit, ["Good ", Pause(1000), "morning."])
    await say(kit, "hello")
    await clock.sleep_until(clock.now() + 500)
    peer = Peer()
    task = reading(kit, peer)
    await clock.sleep_until(clock.now() + 2000)
    snapshot = next(one for one in peer.got if one["type"] == "stream.snapshot")
    (generation,) = snapshot["data"]["generations"]
    deltas = [one["data"]["text"] for one in peer.got if one["type"] == "text.delta"]
    assert (generation["text"], deltas) == ("Good ", ["morning."])
    assert generation["generation_id"] == next(one["generation_id"] for one in peer.got if one["type"] == "text.delta")
    await room.read()
    peer.left.set()
    assert await task == "gone"


async def test_what_is_kept_no_longer_is_named_by_a_gap_before_everything_else(
    kit: RoomEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("voiceagent.room.feed.KEPT", 2)
    await kit.create_room(ROOM)
    for number in range(5):
        kit.feed(ROOM).publish(f"line{number}", {})
    await quiet()
    peer, beyond = Peer(), Peer()
    tasks = [reading(kit, peer, 1), reading(kit, beyond, 99)]
    await quiet()
    assert peer.types == ["stream.ready", "stream.gap", "line3", "line4", "stream.snapshot"]
    assert peer.got[1]["data"] == {"from": 2, "to": 3}
    assert beyond.types == ["stream.ready", "stream.gap", "stream.snapshot"]
    assert beyond.got[1]["data"] == {"from": 1, "to": 5}
    await kit.close_room(ROOM)
    assert await asyncio.gather(*tasks) == ["room_closed"] * 2


async def test_a_slow_reader_is_told_and_cut_off_and_others_are_not_slowed(kit: RoomEngine) -> None:
    await kit.create_room(ROOM)
    slow, quick = Peer(slow_ms=100), Peer()
    tasks = [reading(kit, slow), reading(kit, quick)]
    await clock.sleep_until(clock.now() + 1000)
    for number in range(QUEUE + 50):
        kit.feed(ROOM).publish("line", {"number": number})
        if number % 100 == 0:
            await quiet()
    await quiet()
    assert quick.types.count("line") == QUEUE + 50
    assert await tasks[0] == "lagging"
    last = max(one["seq"] for one in slow.got if "seq" in one)
    assert slow.types[-1] == "stream.lagging"
    assert [one["seq"] for one in slow.got if "seq" in one] == list(range(1, last + 1))
    again = Peer()
    third = reading(kit, again, last)
    await quiet()
    assert [one["data"]["number"] for one in again.got if one["type"] == "line"] == list(range(last, QUEUE + 50))
    for peer in (quick, again):
        peer.left.set()
    await asyncio.gather(tasks[1], third)


async def test_a_reader_who_takes_nothing_is_let_go_in_time(kit: RoomEngine) -> None:
    await kit.create_room(ROOM)
    stuck = Peer(slow_ms=3_600_000)
    began = clock.now()
    assert await reading(kit, stuck) == "gone"
    assert clock.now() - began == SLOW_S * 1000
    assert not kit.feed(ROOM).watched


async def test_there_are_signs_of_life(kit: RoomEngine) -> None:
    await kit.create_room(ROOM)
    peer = Peer()
    task = reading(kit, peer)
    await clock.sleep_until(clock.now() + HEARTBEAT_S * 2500)
    assert peer.types == ["stream.ready", "stream.snapshot", "stream.alive", "stream.alive"]
    peer.left.set()
    await task


async def test_a_token_that_expires_ends_the_reading_and_says_so(kit: RoomEngine) -> None:
    await kit.create_room(ROOM)
    peer = Peer()
    task = reading(kit, peer, standing=Standing(host=False, until=int(clock.utc().timestamp()) + 5))
    assert await task == "token_expired"
    assert peer.got[-1]["type"] == "stream.closed"
    assert peer.got[-1]["data"] == {"reason": "token_expired"}
    assert not kit.feed(ROOM).watched


async def test_a_store_that_fails_ends_the_reading_and_says_so(kit: RoomEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    await kit.create_room(ROOM)
    kit.feed(ROOM).publish("first", {})
    await quiet()

    async def fail(self: Feed, after: int, limit: int) -> object:
        raise StoreError("locked")

    monkeypatch.setattr(Feed, "_past", fail)
    peer = Peer()
    assert await reading(kit, peer, 0) == "store_failed"
    assert peer.got[-1]["data"] == {"reason": "store_failed"}
