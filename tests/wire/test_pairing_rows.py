"""What every store promises of pairings, on each of them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from voiceagent.errors import StoreError
from voiceagent.room.pairings.memory import pairings_of
from voiceagent.room.pairings.pairing import Pairing, PairingRows, sealed
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

AT = datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC)


def pairing(id: str, name: str = "bern") -> Pairing:
    return Pairing(id, name, "https://bern.example.org", "read", "prompt", AT, "the key of ours", sealed("the key of theirs"))


@pytest.fixture
def rows(store: Store) -> PairingRows:
    return pairings_of(store)


async def test_a_pairing_comes_back_equal_is_replaced_and_forgotten(rows: PairingRows) -> None:
    odd = pairing("b", "\N{SNOWMAN} \x00")
    for one in (odd, pairing("a"), pairing("b"), odd):
        await rows.put(one)
    assert await rows.listed() == [pairing("a"), odd]
    assert await rows.get("b") == odd
    await rows.erase("b")
    await rows.erase("nowhere")
    assert await rows.listed() == [pairing("a")]
    assert await rows.get("b") is None


async def test_a_pairing_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    await store.pairings.put(pairing("a"))
    with pytest.raises(StoreError, match="cannot be written"):
        await store.pairings.put(pairing("b", "\ud800"))
    await store.close()
    again = SqliteStore(tmp_path / "rooms.db")
    assert await again.pairings.listed() == [pairing("a")]
    await again.close()


def test_only_the_other_host_s_key_opens_a_pairing_and_no_key_is_printed() -> None:
    one = pairing("a")
    assert one.opened_by("the key of theirs")
    assert not one.opened_by("the key of ours") and not replace(one, expected="").opened_by("")
    assert "key of" not in repr(one) and one.expected not in repr(one)
