"""A request begun ahead: bounded, handed on whole, and stopped at its source however it is let go."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from voiceagent.agent.headstart import MOST_CHUNKS, HeadStart
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Done, LanguageModel, Message, Prompt, TextDelta, ToolCall
from voiceagent.llm.scripted import Pause, ScriptedModel
from voiceagent.room.reply import Reply
from voiceagent.room.tasks import Tasks

PROMPT = Prompt((Message("user", "hello"),))


class Endless:
    """Counts without a pause, further than anybody reads."""

    name = "endless"

    def __init__(self) -> None:
        self.given = 0
        self.closed = 0

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        try:
            while self.given < 20 * MOST_CHUNKS:
                self.given += 1
                yield TextDelta(f"{self.given} ")
        finally:
            self.closed += 1


class Panic(BaseException):
    """What no program catches by habit."""


class GivesUp:
    """Cancels itself."""

    name = "gives up"

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        yield TextDelta("So")
        raise asyncio.CancelledError


def begun(model: LanguageModel, tasks: Tasks) -> tuple[HeadStart, Reply]:
    draft = Reply("g1", "room")
    start = HeadStart(model, PROMPT, draft)
    start.begin(tasks.spawn)
    return start, draft


async def test_what_came_and_what_comes_is_handed_on_in_order() -> None:
    call = ToolCall("c1", "order", "{}")
    model = ScriptedModel([("It ", Pause(50), "rains.", call, Done(usage={"output": 3}))])
    async with Tasks() as tasks:
        start, draft = begun(model, tasks)
        await asyncio.sleep(0.02)
        assert draft.text == "It "
        assert [chunk async for chunk in start.chunks()] == [
            TextDelta("It "),
            TextDelta("rains."),
            call,
            Done(usage={"output": 3}),
        ]
    assert start.cost == {"characters": 9, "output": 3}
    assert (draft.cancelled, start.fits, model.closed, len(model.prompts)) == ("given", False, 0, 1)


async def test_a_model_that_has_more_than_is_kept_waits() -> None:
    model = Endless()
    async with Tasks() as tasks:
        start, _ = begun(model, tasks)
        await asyncio.sleep(1)
        assert model.given == MOST_CHUNKS + 1
        read = start.chunks()
        texts = [await anext(read) for _ in range(3 * MOST_CHUNKS)]
        assert texts == [TextDelta(f"{number} ") for number in range(1, 3 * MOST_CHUNKS + 1)]
        await read.aclose()  # type: ignore[attr-defined]
        assert model.closed == 1


@pytest.mark.parametrize("after", [0.0, 0.02])
async def test_what_is_dropped_stops_at_once_and_its_draft_is_for_nothing(after: float) -> None:
    model = Endless()
    async with Tasks() as tasks:
        start, draft = begun(model, tasks)
        if after:
            await asyncio.sleep(after)
        start.drop()
        await asyncio.sleep(0.01)
        assert model.closed == (1 if after else 0)
        assert draft.cancelled == "forgone"
        assert not start.fits


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (ScriptedModel([("So", LanguageModelError("no", "server"))]), "no"),
        (GivesUp(), "the model gave itself up"),
        (ScriptedModel([("So", Panic())]), "Panic"),
    ],
    ids=["fails", "gives itself up", "panics"],
)
async def test_a_failure_is_told_to_who_takes_it_behind_what_came(model: LanguageModel, error: str) -> None:
    async with Tasks() as tasks:
        start, _ = begun(model, tasks)
        assert start.fits
        chunks: list[Chunk] = []

        async def read() -> None:
            async for chunk in start.chunks():
                chunks.append(chunk)  # noqa: PERF401 - what came before the failure is kept

        with pytest.raises(Exception, match=error):
            await read()
        assert chunks == [TextDelta("So")]


async def test_a_failed_request_fits_nobody() -> None:
    async with Tasks() as tasks:
        start, _ = begun(GivesUp(), tasks)
        await asyncio.sleep(0.01)
        assert not start.fits
