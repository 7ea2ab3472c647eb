"""Scenarios leave no task behind, each of them."""

import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.scenario.lines import watching
from tests.scenario.rooms import STORES, ids, make_store
from voiceagent.room.engine import RoomEngine
from voiceagent.room.feed import Feed
from voiceagent.room.store import Store


@pytest.fixture(autouse=True)
def _no_leak(request: pytest.FixtureRequest) -> None:
    """Every scenario that runs on a loop is checked."""
    if inspect.iscoroutinefunction(getattr(request.node, "obj", None)):
        request.getfixturevalue("no_leak")


@pytest.fixture(autouse=True)
def _lines_fit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a feed is told is what docs/events.md says of it."""
    faults: list[str] = []
    monkeypatch.setattr(Feed, "publish", watching(Feed.publish, faults))
    yield
    assert not faults, faults[0]


@pytest_asyncio.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """A store in memory, then a real file."""
    made = make_store(request.param, tmp_path)
    yield made
    await made.close()


@pytest_asyncio.fixture
async def kit(store: Store) -> AsyncIterator[RoomEngine]:
    """A running engine on each store, whose ids are the same in every run."""
    async with RoomEngine(store=store, ids=ids()) as made:
        yield made
