"""A command's loop: real or virtual, and errors of tasks come out as themselves."""

import asyncio

import pytest

from voiceagent.cli.loop import cause, run
from voiceagent.clock import VirtualLoop
from voiceagent.errors import ModelError


async def _fail_in_tasks(error: Exception) -> None:
    async def fail() -> None:
        raise error

    async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as inner:
        inner.create_task(fail())
        outer.create_task(asyncio.sleep(0))


@pytest.mark.parametrize("virtual", [True, False])
def test_it_runs_on_the_loop_asked_for(virtual: bool) -> None:
    async def kind() -> bool:
        return isinstance(asyncio.get_running_loop(), VirtualLoop)

    assert run(kind(), virtual=virtual) is virtual


def test_an_error_of_the_project_s_own_comes_out_of_its_groups() -> None:
    with pytest.raises(ModelError, match="no voice"):
        run(_fail_in_tasks(ModelError("no voice")))


def test_any_other_error_keeps_its_group() -> None:
    with pytest.raises(ExceptionGroup):
        run(_fail_in_tasks(ValueError("a bug")))


def test_the_cause_of_a_group_is_its_first_error() -> None:
    inner = KeyError("x")
    assert cause(ExceptionGroup("a", [ExceptionGroup("b", [inner]), ValueError()])) is inner
    assert cause(inner) is inner
