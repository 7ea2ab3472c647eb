"""Webhooks on the virtual clock: every line once it is stored, in order, until it is taken, and on from there after a restart."""

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from tests.scenario.rooms import make_store
from voiceagent import clock
from voiceagent.errors import ConfigError, StoreError
from voiceagent.room.cursors.store import kept_cursors
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import KEPT
from voiceagent.room.memory import MemoryStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store
from voiceagent.web.webhooks.sender import Answer, SendError
from voiceagent.web.webhooks.settings import Webhook, WebhookSettings
from voiceagent.web.webhooks.webhooks import Webhooks

SECRET = {"CRM": "whsec_" + base64.b64encode(bytes(32)).decode()}
Reply = int | Answer | Exception | None


class Receiver:
    """Takes deliveries as `says` has it: a status, an exception that is raised, or None for no answer ever."""

    def __init__(self, says: Callable[[str], Reply] = lambda _: 200) -> None:
        self.says = says
        self.tried: list[tuple[int, str]] = []
        self.taken: list[str] = []
        self.bodies: dict[str, dict[str, object]] = {}
        self.busy: dict[str, int] = {}
        self.most = 0

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        key = headers["webhook-id"]
        room = key.split(":")[0]
        self.tried.append((clock.now(), key))
        self.busy[room] = self.busy.get(room, 0) + 1
        self.most = max(self.most, sum(self.busy.values()))
        assert self.busy[room] == 1, "a room's lines are told one after the other"
        try:
            await asyncio.sleep(0.01)
            said = self.says(key)
            if said is None:
                await asyncio.Event().wait()
        finally:
            self.busy[room] -= 1
        if isinstance(said, Exception):
            raise said
        answer = said if isinstance(said, Answer) else Answer(said or 0)
        if answer.status < 300:
            self.taken.append(key)
            self.bodies[key] = json.loads(body)
        return answer

    async def close(self) -> None:
        pass


def settings(*types: str, **more: int) -> WebhookSettings:
    hook = Webhook(name="crm", url="http://127.0.0.1:9/x", secret_env="CRM", types=types)
    return WebhookSettings.model_validate({"hooks": (hook,), **more})


@asynccontextmanager
async def telling(
    receiver: Receiver, store: Store, wanted: WebhookSettings | None = None
) -> AsyncIterator[tuple[RoomEngine, Webhooks]]:
    hooks = Webhooks(wanted or settings("job.*"), store, SECRET, sender=receiver, chance=lambda: 1.0)
    async with hooks, RoomEngine(store=store, on_line=hooks.on_line) as kit:
        await kit.create_room("r")
        yield kit, hooks


def publish(kit: RoomEngine, *numbers: int, room: str = "r", type: str = "job.returned") -> None:
    for number in numbers:
        kit.feed(room).publish(type, {"job_id": str(number)})


def jobs(receiver: Receiver) -> list[str]:
    """The jobs that the receiver took, in order."""
    found = (receiver.bodies[key]["data"] for key in receiver.taken)
    return [str(data["job_id"]) for data in found if isinstance(data, dict)]


async def test_lines_that_are_asked_for_are_told_in_order_by_room_and_number(store: Store) -> None:
    receiver = Receiver()
    async with telling(receiver, store) as (kit, hooks):
        await kit.create_room("s")
        for number in range(5):
            publish(kit, number)
            publish(kit, number, room="s")
            publish(kit, number, type="speech.queued")
        await asyncio.sleep(5)
        assert dict(hooks.waiting) == {"crm": 0}
    for room in "rs":
        numbers = [int(key.split(":")[1]) for key in receiver.taken if key.startswith(room)]
        assert len(numbers) == 5 and numbers == sorted(set(numbers))
    for key in receiver.taken:
        body = receiver.bodies[key]
        assert (f"{body['room_id']}:{body['seq']}", body["type"]) == (key, "job.returned")


async def test_a_line_that_is_not_taken_is_tried_again_later_and_later_and_nothing_overtakes_it(store: Store) -> None:
    failing: Iterator[Reply] = iter([500, SendError("ConnectError"), 302, 404])
    receiver = Receiver(lambda key: next(failing, 200))
    async with telling(receiver, store) as (kit, _):
        publish(kit, 1, 2, 3)
        await asyncio.sleep(60)
    assert jobs(receiver) == ["1", "2", "3"]
    first = [at for at, key in receiver.tried if key == receiver.tried[0][1]]
    assert [round((b - a) / 1000) for a, b in pairwise(first)] == [1, 2, 4, 8]


async def test_one_that_never_answers_is_given_up_and_tried_again(store: Store) -> None:
    says: list[Reply] = [None, 200]
    receiver = Receiver(lambda key: says.pop(0) if says else 200)
    async with telling(receiver, store, settings("job.*", timeout_ms=500)) as (kit, _):
        publish(kit, 1)
        await asyncio.sleep(10)
    assert [at - receiver.tried[0][0] for at, _ in receiver.tried] == [0, 1_500]


async def test_a_receiver_may_ask_for_a_longer_wait_but_not_for_any(store: Store) -> None:
    says: list[Reply] = [Answer(503, 20), Answer(503, 99_999_999)]
    receiver = Receiver(lambda key: says.pop(0) if says else 200)
    async with telling(receiver, store, settings("job.*", longest_wait_ms=30_000)) as (kit, _):
        publish(kit, 1)
        await asyncio.sleep(100)
    times = [at for at, _ in receiver.tried]
    assert [round((b - a) / 1000) for a, b in pairwise(times)] == [20, 30]


async def test_a_room_that_fails_holds_up_no_other(store: Store) -> None:
    receiver = Receiver(lambda key: 500 if key.startswith("r:") else 200)
    async with telling(receiver, store) as (kit, hooks):
        await kit.create_room("s")
        publish(kit, 1)
        publish(kit, *range(20), room="s")
        await asyncio.sleep(3)
        assert jobs(receiver) == [str(number) for number in range(20)]
        assert dict(hooks.waiting) == {"crm": 1}


async def test_a_receiver_that_hangs_costs_a_room_nothing_and_memory_only_its_name(store: Store) -> None:
    receiver = Receiver(lambda key: None)
    async with telling(receiver, store) as (kit, hooks):
        began = clock.now()
        publish(kit, *range(2_000))
        assert clock.now() == began
        await asyncio.sleep(1)
        assert dict(hooks.waiting) == {"crm": 1}
        assert (receiver.most, len(receiver.tried)) == (1, 1)


async def test_it_tells_of_so_many_rooms_at_once(store: Store) -> None:
    receiver = Receiver()
    async with telling(receiver, store, settings("job.*", at_once=2)) as (kit, _):
        for number in range(6):
            await kit.create_room(f"room{number}")
            publish(kit, number, room=f"room{number}")
        await asyncio.sleep(2)
    assert (len(receiver.taken), receiver.most) == (6, 2)


async def test_after_a_restart_it_goes_on_behind_what_was_taken_also_for_rooms_that_nobody_opens(tmp_path: Path) -> None:
    first = Receiver(lambda key: 200 if len(first.taken) < 2 else 500)
    store = make_store("sqlite", tmp_path)
    async with telling(first, store) as (kit, _):
        publish(kit, 1, 2, 3, 4)
        await asyncio.sleep(1)
    await store.close()
    assert jobs(first) == ["1", "2"]
    store, second = make_store("sqlite", tmp_path), Receiver()
    async with Webhooks(settings("job.*"), store, SECRET, sender=second):
        await asyncio.sleep(1)
        assert jobs(second) == ["3", "4"]
    async with Webhooks(settings("job.*"), store, SECRET, sender=second):
        await asyncio.sleep(1)
    await store.close()
    assert jobs(second) == ["3", "4"]


async def test_a_new_webhook_is_told_nothing_of_what_was_before_it_but_all_of_new_rooms(store: Store) -> None:
    async with RoomEngine(store=store) as kit:
        await kit.create_room("r")
        publish(kit, 1)
    receiver = Receiver()
    async with telling(receiver, store) as (kit, _):
        publish(kit, 2)
        await kit.create_room("new")
        publish(kit, 3, room="new")
        await asyncio.sleep(1)
    assert sorted(jobs(receiver)) == ["2", "3"]


async def test_lines_that_are_kept_no_longer_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    receiver = Receiver(lambda key: 500)
    store = MemoryStore()
    async with telling(receiver, store) as (kit, _):
        publish(kit, *range(KEPT + 1_000))
        await asyncio.sleep(0.1)
        receiver.says = lambda key: 200
        with caplog.at_level(logging.ERROR):
            await asyncio.sleep(300)
    gap = receiver.bodies[receiver.taken[0]]
    assert gap["type"] == "stream.gap" and isinstance(gap["data"], dict)
    first, last = gap["data"]["from"], gap["data"]["to"]
    assert receiver.taken[0] == f"r:gap-{first}-{last}" and first == 1
    assert receiver.taken[1] == f"r:{last + 1}"
    assert len(receiver.taken) == 1 + KEPT + 1_000 - last
    assert [record.levelname for record in caplog.records if "no longer kept" in record.message] == ["ERROR"]


async def test_one_that_says_that_it_is_gone_is_told_nothing_more(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    receiver = Receiver(lambda key: 410)
    with caplog.at_level(logging.ERROR):
        async with telling(receiver, store) as (kit, hooks):
            publish(kit, 1)
            await asyncio.sleep(1)
            publish(kit, 2)
            await asyncio.sleep(5_000)
            assert dict(hooks.waiting) == {"crm": 0}
    assert len(receiver.tried) == 1
    assert "gone" in caplog.text


async def test_what_the_end_publishes_is_still_told(store: Store) -> None:
    receiver = Receiver()
    async with telling(receiver, store) as (kit, _):
        publish(kit, 1)
    assert jobs(receiver) == ["1"]


@pytest.mark.parametrize(("audience", "seen"), [("all", ["1"]), ("host", ["1", "2"])])
async def test_what_is_for_hosts_is_told_to_those_who_ask_for_it(audience: str, seen: list[str]) -> None:
    receiver = Receiver()
    hook = {"name": "crm", "url": "http://127.0.0.1:9/x", "secret_env": "CRM", "types": [], "audience": audience}
    async with telling(receiver, MemoryStore(), WebhookSettings.model_validate({"hooks": [hook]})) as (kit, _):
        kit.feed("r").publish("job.returned", {"job_id": "1"})
        kit.feed("r").publish("job.returned", {"job_id": "2"}, audience="host")
        await asyncio.sleep(1)
    assert jobs(receiver) == seen


async def test_a_store_that_fails_delays_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store("sqlite", tmp_path)
    assert isinstance(store, SqliteStore)
    receiver = Receiver()
    cursors = kept_cursors(store.feed_lines)
    assert cursors is not None
    move, failures = cursors.move, [StoreError("full"), StoreError("full")]

    async def moves(follower: str, room_id: str, seq: int) -> None:
        if failures:
            raise failures.pop()
        await move(follower, room_id, seq)

    monkeypatch.setattr(cursors, "move", moves)
    async with telling(receiver, store) as (kit, _):
        publish(kit, 1, 2)
        await asyncio.sleep(20)
    await store.close()
    assert jobs(receiver) == ["1", "1", "1", "2"]  # at least once: known again by its webhook-id
    assert len(set(receiver.taken)) == 2


@pytest.mark.parametrize("environ", [{}, {"CRM": "whsec_short"}])
async def test_without_its_secret_it_does_not_start(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="environment variable CRM"):
        Webhooks(settings(), MemoryStore(), environ)
