"""Where rooms are kept: a file's path, or a database's address, told apart by how they begin."""

from pathlib import Path

import pytest

from voiceagent.config import load
from voiceagent.errors import ConfigError


@pytest.mark.parametrize("address", ["postgresql://ana:Tulip7@host/rooms", "postgres:///rooms"])
def test_an_address_stays_as_it_is_written_and_is_not_shown(address: str) -> None:
    settings = load(None, {"VOICEAGENT_ROOM__DATABASE": address})
    assert settings.room.database == address
    assert "Tulip7" not in repr(settings)


@pytest.mark.parametrize("path", ["rooms.db", "folder/postgresql.db", "postgresql:rooms"])
def test_everything_else_is_a_file(path: str) -> None:
    assert load(None, {}, {"room.database": path}).room.database == Path(path)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"room\.database"):
        load(None, {}, {"room.database": 3})
