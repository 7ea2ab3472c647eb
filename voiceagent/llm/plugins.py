"""Any LiveKit Agents language model as a brain: text as it comes, whole tool calls, the tokens counted, stopped at once."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from livekit.agents import APIConnectionError, APIConnectOptions, APIError, APIStatusError, APITimeoutError, llm

from voiceagent import clock
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Done, Message, Prompt, TextDelta, ToolCall, ToolSpec
from voiceagent.llm.settings import LanguageModelSettings
from voiceagent.plugins import PluginClass

_STATUS: Final = {401: "auth", 403: "auth", 429: "rate_limit"}


class PluginModel:
    """One plugin; temperature, length and effort are options that it is made with, since plugins name them each in its way."""

    def __init__(self, found: PluginClass, options: Mapping[str, object], settings: LanguageModelSettings) -> None:
        """`settings` gives the waits. Raises ConfigError for an option, ModelError when the plugin refuses to be made."""
        made = found.make(options)
        assert isinstance(made, llm.LLM)
        self._plugin: llm.LLM[Any] = made
        self._settings = settings
        self.name = found.name if made.model == "unknown" else f"{found.name} {made.model}"

    async def close(self) -> None:
        """Closes its connections."""
        await self._plugin.aclose()

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields text as it arrives, tool calls whole, then Done with the counted tokens. Closing it ends the request.

        Raises LanguageModelError of category auth, rate_limit, bad_request, server, timeout, connection or broke_off.
        """
        usage: dict[str, int] = {}
        calls: list[ToolCall] = []
        began = False
        by = clock.now() + self._settings.first_token_ms
        stream = self._asked(prompt)
        try:
            while (chunk := await self._next(stream, by, began=began)) is not None:
                if chunk.usage is not None:
                    usage = {"input": chunk.usage.prompt_tokens, "output": chunk.usage.completion_tokens}
                if chunk.delta is None:
                    continue
                began = began or chunk.has_response()
                calls += [ToolCall(call.call_id, call.name, call.arguments or "{}") for call in chunk.delta.tool_calls]
                by = clock.now() + self._settings.between_ms if began else by
                if chunk.delta.content:
                    yield TextDelta(chunk.delta.content)
        finally:
            with clock.outside():
                await stream.aclose()
        for call in calls:
            yield call
        yield Done("tool_calls" if calls else "stop", usage)

    def _asked(self, prompt: Prompt) -> llm.LLMStream:
        wait = APIConnectOptions(max_retry=0, timeout=self._settings.first_token_ms / 1000)
        tools: list[llm.Tool] = [_tool(tool) for tool in prompt.tools]
        try:
            return self._plugin.chat(chat_ctx=_context(prompt.messages), tools=tools, conn_options=wait)
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises has a category
            raise self._failure(error, began=False) from None

    async def _next(self, stream: llm.LLMStream, by_ms: int, *, began: bool) -> llm.ChatChunk | None:
        try:
            with clock.outside():
                async with asyncio.timeout(max(0, by_ms - clock.now()) / 1000):
                    return await anext(stream, None)
        except Exception as error:  # noqa: BLE001 - whatever a plugin raises has a category
            raise self._failure(error, began=began) from None

    def _failure(self, error: Exception, *, began: bool) -> LanguageModelError:
        """The error without the plugin's words: they may hold the key or the prompt."""
        category = _category(error)
        if began and category in ("connection", "server"):
            category = "broke_off"
        return LanguageModelError(f"{self.name} failed: {category.replace('_', ' ')}", category=category)


def _category(error: Exception) -> str:
    match error:
        case TimeoutError() | APITimeoutError():
            return "timeout"
        case APIConnectionError():
            return "connection"
        case APIStatusError():
            return _STATUS.get(
                error.status_code, "server" if error.status_code >= 500 or error.status_code < 0 else "bad_request"
            )
        case APIError():
            return "server"
        case _:
            return "server"


def _context(messages: tuple[Message, ...]) -> llm.ChatContext:
    context = llm.ChatContext.empty()
    names: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            call = message.tool_call_id or ""
            output = llm.FunctionCallOutput(name=names.get(call, ""), call_id=call, output=message.content, is_error=False)
            context.items.append(output)
            continue
        if message.content or not message.tool_calls:
            context.add_message(role=message.role, content=message.rendered())
        for wish in message.tool_calls:
            names[wish.id] = wish.name
            context.items.append(llm.FunctionCall(call_id=wish.id, name=wish.name, arguments=wish.arguments))
    return context


def _tool(tool: ToolSpec) -> llm.Tool:
    """The tool as the plugin's model sees it. It is never called there: the agent runs tools."""

    async def run(raw_arguments: dict[str, object]) -> object:
        raise NotImplementedError

    schema = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return llm.function_tool(run, raw_schema=schema)
