"""A whole day in two hundred rooms: whatever goes wrong in it, every promise is kept, and only what is stored is left of it."""

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenario.day import Followed, Scale, alive, shift
from tests.scenario.promises import SILENCES, TERMINALS, hold, same
from tests.scenario.rooms import STORES, make_store
from voiceagent.agent.answers import Answer
from voiceagent.agent.generation import Generation
from voiceagent.agent.presence import Presence
from voiceagent.room.feed import Feed, Subscription
from voiceagent.room.live import LiveRoom
from voiceagent.room.reply import Reply
from voiceagent.room.store import EventFilter, Store
from voiceagent.voice.floor import Floor

PASSING = (Reply, Generation, Answer, Presence, LiveRoom, Feed, Subscription, Floor, asyncio.Task)
"""What is there only while something is under way."""
SEED = 4

HAPPENS = (
    *TERMINALS,
    *SILENCES,
    *("job.returned", "job.failed", "job.cancelled", "steering.sent", "command.rejected", "participant.left"),
    *(f"settled {end}" for end in ("answered", "failed", "unknown", "held", "superseded", "rejected", "listened")),
)
"""A day in which one of these never happens proves too little."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """A day of failures fills no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


async def check(store: Store, rooms: dict[str, Followed]) -> Counter[str]:
    """Holds every room to its promises; what kinds of lines there were."""
    kinds: Counter[str] = Counter()
    for room_id, followed in rooms.items():
        lines = await store.feed_lines.after(room_id, 0, 100_000)  # type: ignore[attr-defined]
        hold(lines)
        same(lines, await store.list_events(room_id, event_filter=EventFilter(blocked=True)))
        assert followed.lines == lines, room_id
        kinds.update(line.type for line in lines)
        kinds.update(f"settled {line.data['disposition']}" for line in lines if line.type == "input.settled")
    return kinds


async def whole_day(folder: Path, scale: Scale, seed: int) -> Counter[str]:
    """All rooms through all shifts, on both stores side by side."""
    stores = {kind: make_store(kind, folder) for kind in STORES}
    parts = {"memory": scale.rooms - scale.filed, "sqlite": scale.filed}
    rooms = {kind: {f"{kind} {number}": Followed() for number in range(size)} for kind, size in parts.items()}
    kinds: Counter[str] = Counter()
    for number in range(scale.shifts):
        for kind, store in stores.items():
            calls = scale.calls * parts[kind] // scale.rooms
            await shift(store, rooms[kind], scale, seed + number, calls=calls)
    for kind, store in stores.items():
        kinds += await check(store, rooms[kind])
        await store.close()
    return kinds


def passing() -> dict[str, int]:
    """How many objects there are of what should have passed."""
    return {kind.__name__: alive(kind) for kind in PASSING}


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


async def day(folder: Path, scale: Scale, seed: int) -> None:
    before, files = passing(), open_files()
    kinds = await whole_day(folder, scale, seed)
    await asyncio.sleep(60)
    assert passing() == before
    assert open_files() == files
    assert set(HAPPENS) <= set(kinds), set(HAPPENS) - set(kinds)


async def test_a_whole_day_keeps_every_promise_and_leaves_nothing_behind(tmp_path: Path) -> None:
    await day(tmp_path, Scale(), SEED)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
async def test_long_days(tmp_path: Path, seed: int) -> None:
    await day(tmp_path, Scale(calls=60, filed=100, acts=60, shifts=4), seed)
