"""Lets wire tests import their helpers by name, however pytest was started, and shares stores of each kind among them."""

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from tests.wire.cluster import Cluster, binaries  # noqa: E402 - found by the path above
from voiceagent.room.memory import MemoryStore  # noqa: E402
from voiceagent.room.postgres import PostgresStore  # noqa: E402
from voiceagent.room.sqlite import SqliteStore  # noqa: E402
from voiceagent.room.store import Store  # noqa: E402


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A Postgres server that runs; skips when none is installed."""
    programs = binaries()
    if programs is None:
        pytest.skip("no Postgres server is installed (Debian: apt-get install postgresql)")
    made = Cluster(programs)
    yield made
    made.remove()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def server(request: pytest.FixtureRequest) -> Cluster | str:
    """Which store is asked; the server, for the one that needs it."""
    kind: str = request.param
    found: Cluster | str = request.getfixturevalue("cluster") if kind == "postgres" else kind
    return found


@pytest_asyncio.fixture
async def store(server: Cluster | str, tmp_path: Path) -> AsyncIterator[Store]:
    """A store of each kind, with nothing in it."""
    made: Store = MemoryStore() if server == "memory" else SqliteStore(tmp_path / "rooms.db")
    if isinstance(server, Cluster):
        made = database = PostgresStore(await server.fresh())
        await database.init()
    yield made
    await made.close()
