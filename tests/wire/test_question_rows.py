"""What every store promises of questions, on each of them."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from voiceagent.errors import StoreError
from voiceagent.room.questions.desk import rows_of
from voiceagent.room.questions.question import Answer, Asking, Question
from voiceagent.room.questions.rows import QuestionRows
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store

AT = datetime(2026, 1, 1, 12, 30, 0, 250_000, tzinfo=UTC)


def asked(number: int, room: str = "r", **more: object) -> Question:
    row = Question(f"{room}-{number}", room, room, "nova", "g1", Asking(f"Number {number}?", ("yes", "no")), AT)
    return replace(row, **more)  # type: ignore[arg-type]


def answered(question: Question, *, after: timedelta = timedelta(0)) -> Question:
    return question.ended("answered", "answered", AT + after, Answer("button", (0,), participant_id="ada"))


@pytest.fixture
def rows(store: Store) -> QuestionRows:
    return rows_of(store)


async def test_a_question_comes_back_equal(rows: QuestionRows) -> None:
    odd = asked(1, room="salón \x00", asking=Asking("ищу \N{SNOWMAN}", ("a\x00", "b"), "c", "d" * 2_000, "now", ("ada", "\x00")))
    await rows.add(odd)
    assert await rows.get(odd.question_id) == odd
    assert await rows.of_room("salón \x00") == [odd]
    assert await rows.get("nowhere") is None


async def test_of_two_ends_the_first_is_kept(rows: QuestionRows) -> None:
    question = asked(1)
    await rows.add(question)
    first, second = answered(question), question.ended("dismissed", "dismissed", AT, Answer("button"))
    assert [await rows.end(first), await rows.end(second)] == [True, False]
    assert await rows.get("r-1") == first
    assert not await rows.end(answered(asked(9)))


async def test_of_ends_that_come_at_once_one_is_kept(rows: QuestionRows) -> None:
    for number in range(20):
        question = asked(number)
        await rows.add(question)
        ends = [question.ended("answered", "answered", AT, Answer("text", text=str(one))) for one in range(4)]
        kept = await asyncio.gather(*(rows.end(end) for end in ends))
        assert kept.count(True) == 1
        assert await rows.get(question.question_id) == ends[kept.index(True)]


async def test_a_room_has_what_is_left_to_do_with_it(rows: QuestionRows) -> None:
    mine, about, other = asked(1), asked(2, asked_in="elsewhere"), asked(3, room="other")
    for question in (mine, about, other):
        await rows.add(question)
    assert await rows.of_room("r") == [mine, about]
    assert await rows.of_room("elsewhere") == [about]
    ended = answered(mine)
    await rows.end(ended)
    assert await rows.of_room("r") == [ended, about]
    await rows.put(replace(ended, lined=True))
    assert [one.question_id for one in await rows.of_room("r")] == ["r-1", "r-2"]
    await rows.put(replace(ended, lined=True, told=True))
    assert await rows.of_room("r") == [about]


async def test_q55_the_list_has_what_is_open_and_what_people_ended_lately(rows: QuestionRows) -> None:
    for number in range(5):
        await rows.add(asked(number))
    await rows.end(answered(asked(0)))
    await rows.end(answered(asked(1), after=timedelta(days=-2)))
    await rows.end(asked(2).ended("withdrawn", "withdrawn", AT))
    await rows.end(asked(3).ended("dismissed", "dismissed", AT, Answer("button")))
    assert [one.question_id for one in await rows.listed(AT - timedelta(days=1))] == ["r-4", "r-3", "r-0"]


async def test_what_utf8_cannot_hold_is_refused_by_a_file_and_leaves_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    with pytest.raises(StoreError, match="cannot be written"):
        await store.questions.add(asked(1, asking=Asking("\ud800")))
    assert await store.questions.of_room("r") == []
    await store.close()


async def test_q35_a_question_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "rooms.db")
    await store.questions.add(asked(1))
    await store.close()
    again = SqliteStore(tmp_path / "rooms.db")
    assert await again.questions.listed(AT) == [asked(1)]
    await again.close()
