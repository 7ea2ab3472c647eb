"""The Python client against a real server: lines, commands, a line that drops, a server that is killed and started again."""

import asyncio
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from tests.wire.tap import tapped
from tests.wire.writing import desk
from voiceagent.client import Client, Line
from voiceagent.errors import WebError
from voiceagent.web.auth import issue
from voiceagent.web.settings import WebSettings

SECRET = "s" * 40
ENGINE = ("voiceagent.room", "voiceagent.web", "voiceagent.voice", "starlette", "aiortc", "pydantic", "numpy")


async def until(lines: AsyncIterator[Line], *types: str) -> list[Line]:
    """Lines up to the first of one of these types."""
    found: list[Line] = []
    async with asyncio.timeout(20):
        async for line in lines:
            found.append(line)
            if line.type in types:
                return found
    raise AssertionError(f"the lines ended before any of {types}")


@contextmanager
def serving_process(file: Path, port: str = "0") -> Iterator[str]:
    """A server in a process of its own, whose agent always says yes; killed at the end. Gives its URL."""
    command = [sys.executable, "-m", "tests.wire.writing", str(file), port]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


async def test_it_follows_a_room_and_what_it_says_is_acknowledged_once() -> None:
    async with desk() as there, Client(there.url, room="lobby") as room, aclosing(room.events()) as lines:
        assert room.snapshot["generations"] == []
        first = await room.submit("What is there?", id="00000001")
        again = await room.submit("What is there?", id="00000001")
        other = await room.submit("And else?", id="00000001")
        there.pen.write("Bread.", None)
        told = await until(lines, "generation.finished")
        assert (first.accepted, first.duplicate, again.duplicate) == (True, False, True)
        assert first.input_id == again.input_id is not None
        assert (other.accepted, other.code) == (False, "id_reused")
        assert [line.data["input_id"] for line in told if line.type == "input.accepted"] == [first.input_id]
        assert told[-1].responds_to == first.input_id
        assert (await room.cancel("none")).code == "not_active"
        with pytest.raises(WebError, match="no such command"):
            await room.command("input.shout", {})


async def test_an_answer_is_stopped_and_asking_for_less_gives_less() -> None:
    async with desk() as there, Client(there.url, room="lobby") as room:
        async with aclosing(room.events(types="generation.*")) as lines:
            await room.submit("Tell me a story.")
            started = (await until(lines, "generation.started"))[-1]
            assert (await room.cancel(started.generation_id or "")).accepted
            ended = (await until(lines, "generation.detached"))[-1]
        assert (ended.generation_id, ended.data["reason"]) == (started.generation_id, "host")


async def test_a_line_that_drops_is_taken_up_behind_its_last_number() -> None:
    async with desk() as there, tapped(there.port) as tap, Client(tap.url, room="lobby") as room:
        async with aclosing(room.events(after=0)) as lines:
            await room.submit("One?")
            there.pen.write("One.", None)
            told = await until(lines, "generation.finished")
            tap.shut()
            saying = asyncio.create_task(room.submit("Two?"))
            there.engine.feed("lobby").publish("meanwhile", {})
            there.pen.write("Two.", None)
            await tap.open()
            told += await until(lines, "generation.finished")
            assert (await saying).accepted
        numbers = [line.seq for line in told if line.seq is not None]
        assert numbers == list(range(1, len(numbers) + 1))
        assert [line.type for line in told].count("meanwhile") == 1
        assert tap.count > 3


async def test_a_server_that_was_killed_and_started_again_goes_on_by_number(tmp_path: Path) -> None:
    file = tmp_path / "rooms.sqlite"
    with serving_process(file) as url:
        room = await Client(url, room="lobby").__aenter__()
        lines = room.events(after=0)
        await room.submit("One?")
        told = await until(lines, "generation.finished")
    saying = asyncio.create_task(room.submit("Two?"))
    with serving_process(file, url.rsplit(":", 1)[1].strip("/")) as url:
        assert (await saying).accepted
        told += await until(lines, "generation.finished")
        await lines.aclose()
        await room.__aexit__(None, None, None)
    numbers = [line.seq for line in told if line.seq is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [line.anew for line in told if line.type == "stream.ready"] == [False, False]


async def test_numbers_that_began_anew_are_said_to() -> None:
    async with desk() as there:
        room = await Client(there.url, room="lobby").__aenter__()
        lines = room.events(after=0)
        await room.submit("One?")
        there.pen.write("One.", None)
        await until(lines, "generation.finished")
    async with desk(port=there.port):
        told = await until(lines, "stream.snapshot")
        await lines.aclose()
        await room.__aexit__(None, None, None)
    ready = [line for line in told if line.type == "stream.ready"]
    assert [line.anew for line in ready] == [True]
    assert told[-1].data["seq"] == 0


async def test_who_may_not_enter_is_told_why_and_a_token_that_expires_ends_the_lines() -> None:
    async with desk(settings=WebSettings(token_secret=SecretStr(SECRET))) as there:
        with pytest.raises(WebError, match="needs a token"):
            await Client(there.url, room="lobby").__aenter__()
        token = issue(SECRET, "lobby", int(time.time()) + 3, host=True)
        async with Client(there.url, room="lobby", token=token) as room, asyncio.timeout(30):
            assert [line.type async for line in room.events()][-1] == "stream.closed"
    with pytest.raises(WebError, match="does not answer"):
        await Client(there.url, room="lobby").__aenter__()


def test_importing_it_loads_nothing_of_the_engine() -> None:
    look = "import json, sys, voiceagent.client; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60)
    assert [name for name in json.loads(run.stdout) if name.startswith(ENGINE)] == []


async def test_the_example_says_one_thing_and_prints_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("follow_a_room", Path(__file__).parents[2] / "examples" / "follow_a_room.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    async with desk() as there, asyncio.timeout(20):
        there.pen.write("Bread.", None)
        await example.main(there.url, "What is there?")
    assert capsys.readouterr().out.splitlines() == ["said: What is there?", "answer: Bread.", "settled: answered"]
