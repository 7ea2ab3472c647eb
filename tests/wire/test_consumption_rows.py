"""What every store promises of what became of answers, on each of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.wire.cluster import Cluster
from voiceagent.room.consumption.memory import MemoryConsumption
from voiceagent.room.consumption.rows import ConsumptionRows, rows_of
from voiceagent.room.consumption.state import RANKS, Consumption, Row
from voiceagent.room.postgres import PostgresStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

AT = datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC)


def row(event: str = "e1", person: str | None = "ann", room: str = "r", **more: object) -> Row:
    one = Consumption("voice", person, "playing", 3, 200, AT)
    return Row(room, event, replace(one, **more))  # type: ignore[arg-type]


@pytest.fixture
def rows(store: Store) -> ConsumptionRows:
    return rows_of(store)


async def test_what_is_kept_comes_back_equal(rows: ConsumptionRows) -> None:
    odd = row("é \x00", "salón \x00", "ищу \x00", state="cut", word="w\\0\x00rd", heard_chars=7, channel_id="v \N{SNOWMAN}")
    nobody = row("é \x00", None, "ищу \x00", state="delivered", channel_id="text")
    assert list(await rows.put([odd, nobody])) == [odd, nobody]
    assert sorted(await rows.of("é \x00"), key=lambda one: one.channel_id) == [nobody.consumption, odd.consumption]
    assert list(await rows.of("e1")) == []
    assert list(await rows.put([])) == []


async def test_only_what_says_more_takes_the_place_of_what_is_kept(rows: ConsumptionRows) -> None:
    for weaker, stronger in zip(list(RANKS), list(RANKS)[1:], strict=False):
        before, after = row(stronger, state=weaker, heard_chars=9), row(stronger, state=stronger, heard_chars=0, word=None)
        assert list(await rows.put([before])) == [before]
        assert list(await rows.put([after])) == [after]
        assert list(await rows.put([before])) == []
        assert list(await rows.of(stronger)) == [after.consumption]
    steps = [row(heard_chars=3, played_ms=200), row(heard_chars=3, played_ms=220), row(heard_chars=4, played_ms=100)]
    for number, step in enumerate(steps):
        assert list(await rows.put([step])) == [step]
        later = [replace(one, consumption=replace(one.consumption, at=AT + timedelta(hours=1))) for one in steps[: number + 1]]
        assert [list(await rows.put([one])) for one in later] == [[]] * (number + 1)
        assert list(await rows.of("e1")) == [step.consumption]


async def test_each_answer_channel_and_person_has_a_row_of_its_own(rows: ConsumptionRows) -> None:
    batch = [row(), row(person="ben"), row(person=None), row(channel_id="phone"), row("e2")]
    assert list(await rows.put(batch)) == batch
    more = [row(state="cut"), row(person="ben"), row("e3")]
    assert list(await rows.put(more)) == [more[0], more[2]]
    assert {(one.channel_id, one.participant_id, one.state) for one in await rows.of("e1")} == {
        ("voice", "ann", "cut"),
        ("voice", "ben", "playing"),
        ("voice", None, "playing"),
        ("phone", "ann", "playing"),
    }


async def test_what_runs_is_not_ended_by_its_own_process(rows: ConsumptionRows) -> None:
    await rows.put([row()])
    assert list(await rows.end_left("r", AT)) == []
    assert [one.state for one in await rows.of("e1")] == ["playing"]


LEFT = [row("e1"), row("e2", state="queued", heard_chars=0), row("e3", state="heard"), row("e4", room="other")]


async def test_what_an_earlier_opening_of_a_file_left_open_is_ended_once(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    await store.consumption.put(LEFT)
    await store.close()
    store = SqliteStore(tmp_path / "rooms.db")
    later = AT + timedelta(seconds=5)
    ended = [row("e1", state="cut", at=later), row("e2", state="never_played", heard_chars=0, at=later)]
    assert sorted(await store.consumption.end_left("r", later), key=lambda one: one.event_id) == ended
    assert list(await store.consumption.end_left("r", later)) == []
    assert [list(await store.consumption.put([one])) for one in LEFT[:2]] == [[], []]
    assert [one.state for one in await store.consumption.of("e4")] == ["playing"]
    await store.close()


async def test_a_process_ends_what_others_left_and_not_what_they_play(cluster: Cluster) -> None:
    dsn = await cluster.fresh()
    stores = [PostgresStore(dsn), PostgresStore(dsn)]
    for store in stores:
        await store.init()
    one, two = (store.consumption for store in stores)
    await one.put(LEFT)
    assert list(await two.end_left("r", AT)) == []
    await stores[0].close()
    ended: list[Row] = []
    while len(ended) < 2:  # the server takes a moment to see that the line is closed
        ended += await two.end_left("r", AT)
    assert sorted((r.event_id, r.consumption.state) for r in ended) == [("e1", "cut"), ("e2", "never_played")]
    assert list(await two.end_left("r", AT)) == []
    await stores[1].close()


async def test_a_store_without_consumption_has_it_kept_in_memory() -> None:
    class Plain:
        """A store of an older program."""

    assert isinstance(rows_of(Plain()), MemoryConsumption)  # type: ignore[arg-type]
