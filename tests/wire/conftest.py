"""Lets wire tests import their helpers by name, however pytest was started, and shares one Postgres server among them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

from tests.wire.cluster import Cluster, binaries  # noqa: E402 - found by the path above


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A Postgres server that runs; skips when none is installed."""
    programs = binaries()
    if programs is None:
        pytest.skip("no Postgres server is installed (Debian: apt-get install postgresql)")
    made = Cluster(programs)
    yield made
    made.remove()
