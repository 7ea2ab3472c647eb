"""The shapes of OpenAI's chat completions: a request's body from a Prompt, and streamed chunks put together into an answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from voiceagent.llm.model import Message, Prompt, ToolCall, ToolSpec

_Reason = Literal["stop", "length", "tool_calls", "filtered"]

_REASONS: Mapping[str, _Reason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "filtered",
}


def request(prompt: Prompt, temperature: float | None, max_tokens: int | None) -> dict[str, object]:
    """The body, less the model's name; temperature and length are for prompts that name none."""
    body: dict[str, object] = {
        "messages": [_message(message) for message in prompt.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    temperature = temperature if prompt.temperature is None else prompt.temperature
    if temperature is not None:
        body["temperature"] = temperature
    length = max_tokens if prompt.max_tokens is None else prompt.max_tokens
    if length is not None:
        body["max_tokens"] = length
    if prompt.tools:
        body["tools"] = [_tool(tool) for tool in prompt.tools]
    if prompt.reasoning_effort is not None:
        body["reasoning_effort"] = prompt.reasoning_effort
    if prompt.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(prompt.schema)}}
    return body


@dataclass(slots=True)
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Answer:
    """What has come so far; tool calls arrive in pieces, told apart by their index."""

    began: bool = False
    reason: _Reason | None = None
    usage: dict[str, int] = field(default_factory=dict)
    partial: dict[int, _PartialCall] = field(default_factory=dict)

    def take(self, chunk: ChatCompletionChunk) -> str:
        """Adds a chunk and returns its text."""
        if chunk.usage is not None:
            self.usage = {"input": chunk.usage.prompt_tokens, "output": chunk.usage.completion_tokens}
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._take_calls(choice.delta)
        if choice.finish_reason is not None:
            self.reason = _REASONS.get(choice.finish_reason, "stop")
        text = choice.delta.content or ""
        self.began = self.began or bool(text) or bool(self.partial) or self.reason is not None
        return text

    def calls(self) -> list[ToolCall]:
        """The whole tool calls, in the model's order."""
        ordered = [self.partial[index] for index in sorted(self.partial)]
        return [ToolCall(one.id or f"call_{place}", one.name, one.arguments or "{}") for place, one in enumerate(ordered)]

    def _take_calls(self, delta: ChoiceDelta) -> None:
        for piece in delta.tool_calls or ():
            call = self.partial.setdefault(piece.index, _PartialCall())
            call.id = call.id or (piece.id or "")
            if piece.function is not None:
                call.name += piece.function.name or ""
                call.arguments += piece.function.arguments or ""


def _message(message: Message) -> dict[str, object]:
    fields: dict[str, object] = {"role": message.role, "content": message.rendered()}
    if message.tool_calls:
        fields["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _tool(tool: ToolSpec) -> dict[str, object]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}
