"""What every test may ask for: the recordings, the loop a test runs on, and the proof that it left no task behind."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
import pytest_asyncio

from voiceagent import weights
from voiceagent.clock import VirtualLoop
from voiceagent.errors import ModelError

TESTS = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("VOICEAGENT_SHARED", TESTS.parent.parent / "shared"))


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Scenario tests run on the virtual loop, all others on a real one."""
    if TESTS / "scenario" in item.path.parents:
        return {"virtual": VirtualLoop}
    return {"real": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recordings and labelled data that lies beside the repository, or is named by VOICEAGENT_SHARED."""
    if not SHARED.is_dir():
        pytest.skip(f"the folder with the recordings is missing: {SHARED} (name another with VOICEAGENT_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def shared_audio(shared: Path) -> Path:
    """The folder of real recordings."""
    audio = shared / "audio"
    if not audio.is_dir():
        pytest.skip(f"the recordings are missing: {audio}")
    return audio


@pytest.fixture(scope="session")
def default_models() -> None:
    """The models that a conversation needs out of the box; skips when one is missing, naming it and how to fetch it."""
    for name in ("whisper-tiny.en", "en_US-joe-medium", "silero-vad", "all-MiniLM-L6-v2"):
        try:
            weights.path(name)
        except ModelError as error:
            pytest.skip(str(error))


@pytest_asyncio.fixture
async def no_leak() -> AsyncIterator[None]:
    """Fails a test that leaves tasks behind; asked for by tests of whatever starts tasks."""
    before = asyncio.all_tasks()
    yield
    left = [task for task in asyncio.all_tasks() - before if task is not asyncio.current_task()]
    assert not left, f"tasks left behind: {sorted(task.get_name() for task in left)}"
