"""The `openai` client against a server that behaves, and against every way in which one does not."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.wire import chat_server
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Done, Message, Prompt, TextDelta, ToolCall, ToolSpec
from voiceagent.llm.openai import OpenAIModel
from voiceagent.llm.settings import LanguageModelSettings

KEY = "sk-very-secret"
PROMPT = Prompt((Message("system", "secret prompt"), Message("user", "hi", name="Zoë Ríos")))
SETTINGS = LanguageModelSettings(first_token_ms=300, between_ms=300, max_tokens=50)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[object]:
    async with chat_server.serving() as running:
        yield running


async def collected(url: str, name: str, prompt: Prompt = PROMPT, into: list[Chunk] | None = None) -> list[Chunk]:
    model = OpenAIModel(url, name, KEY, SETTINGS)
    chunks: list[Chunk] = [] if into is None else into
    try:
        async for chunk in model.stream(prompt):
            chunks.append(chunk)  # noqa: PERF401 - what came before a failure counts
    finally:
        await model.close()
    return chunks


async def test_text_then_done_with_the_counted_tokens(server: object) -> None:
    chunks = await collected(server.url, "talking")  # type: ignore[attr-defined]
    assert chunks == [TextDelta("Hello "), TextDelta("there."), Done("stop", {"input": 7, "output": 3})]


async def test_what_is_sent(server: object) -> None:
    tool = ToolSpec("look", "looks", {"type": "object", "properties": {}})
    asked = (
        *PROMPT.messages,
        Message("assistant", "", tool_calls=(ToolCall("1", "look", "{}"),)),
        Message("tool", "x", tool_call_id="1"),
    )
    await collected(server.url, "talking", Prompt(asked, (tool,), temperature=0.5, schema={"type": "object"}))  # type: ignore[attr-defined]
    body = server.bodies[0]  # type: ignore[attr-defined]
    assert body["max_tokens"] == 50
    assert body["temperature"] == 0.5
    assert body["messages"][1] == {"role": "user", "content": "Zoë Ríos: hi"}
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "look", "arguments": "{}"}
    assert body["messages"][3]["tool_call_id"] == "1"
    assert body["tools"][0]["function"]["name"] == "look"
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


async def test_tool_calls_arrive_whole(server: object) -> None:
    chunks = await collected(server.url, "calling")  # type: ignore[attr-defined]
    assert chunks == [ToolCall("id0", "look", '{"a": 1}'), ToolCall("id1", "find", '{"b": 2}'), Done("tool_calls")]


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("refused", "auth"),
        ("busy", "rate_limit"),
        ("unknown", "bad_request"),
        ("failing", "server"),
        ("hanging", "timeout"),
        ("rubbish", "server"),
    ],
)
async def test_a_failure_has_a_category_and_tells_no_secrets(server: object, name: str, category: str) -> None:
    with pytest.raises(LanguageModelError) as caught:
        await collected(server.url, name)  # type: ignore[attr-defined]
    assert caught.value.category == category
    assert name in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    for secret in (KEY, "secret prompt", "stack trace"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "category"),
    [("breaking", "broke_off"), ("ending", "broke_off"), ("failing_late", "broke_off"), ("stalling", "timeout")],
)
async def test_a_stream_that_breaks_gives_what_came_and_then_fails(server: object, name: str, category: str) -> None:
    chunks: list[Chunk] = []
    with pytest.raises(LanguageModelError) as caught:
        await collected(server.url, name, into=chunks)  # type: ignore[attr-defined]
    assert chunks == [TextDelta("Hello ")]
    assert caught.value.category == category
    assert category != "broke_off" or str(caught.value).endswith("broke off")
    assert "secret" not in str(caught.value)


async def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(LanguageModelError) as caught:
        await collected(f"http://127.0.0.1:{port}/v1", "absent")
    assert caught.value.category == "connection"


async def test_closing_the_stream_ends_the_request(server: object, no_leak: None) -> None:
    model = OpenAIModel(server.url, "endless", None, SETTINGS)  # type: ignore[attr-defined]
    stream = model.stream(PROMPT)
    assert await anext(stream) == TextDelta("and ")
    await stream.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(server.left.wait(), 5)  # type: ignore[attr-defined]
    await model.close()


FIRST = """
import asyncio, sys
from anyio.lowlevel import checkpoint
from voiceagent.llm.model import Message, Prompt
from voiceagent.llm.openai import OpenAIModel
from voiceagent.llm.settings import LanguageModelSettings

async def main():
    await checkpoint()  # as the app does
    model = await asyncio.to_thread(OpenAIModel, sys.argv[1], "talking", "key", LanguageModelSettings())
    before = set(sys.modules)
    said = [piece async for piece in model.stream(Prompt((Message("user", "hi"),)))]
    print(len(said), *sorted(set(sys.modules) - before))
    await model.close()

asyncio.run(main())
"""


async def test_a_callers_first_turn_imports_nothing(server: object) -> None:
    """That would hold the loop: 76 ms, once."""
    command = (sys.executable, "-c", FIRST, server.url)  # type: ignore[attr-defined]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    told, _ = await asyncio.wait_for(process.communicate(), 30)
    assert told.decode().split() == ["3"]
