"""One answer in the making: the model's stream, its tools, the rows it leaves, and its end, whichever it is."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from voiceagent import clock
from voiceagent.agent.context import AIContext
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Tool, Toolbox, ToolOutcome
from voiceagent.errors import LanguageModelError, StoreError
from voiceagent.llm.model import LanguageModel, Message, Prompt, TextDelta, ToolCall
from voiceagent.room.bounded import contained
from voiceagent.room.channel import Host, RoomContext
from voiceagent.room.events import (
    ChannelType,
    Content,
    Direction,
    EventSource,
    EventType,
    RoomEvent,
    TextContent,
    ToolCallContent,
)
from voiceagent.room.feed import Audience
from voiceagent.room.frozen import whole_text
from voiceagent.room.reply import Reply
from voiceagent.room.visibility import ALL
from voiceagent.values import JSON

log = logging.getLogger(__name__)

LONGEST_ANSWER: Final = 200_000
"""How many characters a model may write for one answer, and how many pieces it may send."""


@dataclass(frozen=True, slots=True)
class Means:
    """What an agent makes answers with."""

    model: LanguageModel
    tools: Toolbox
    apology: str
    max_tool_rounds: int
    max_tool_calls: int


def means_of(model: LanguageModel, tools: Iterable[Tool | Callable[..., Awaitable[object]]], settings: AgentSettings) -> Means:
    """A model and its tools within an agent's limits."""
    toolbox = Toolbox(tools, settings.tool_timeout_ms)
    return Means(model, toolbox, settings.apology, settings.max_tool_rounds, settings.max_tool_calls)


class Generation:
    """Answers one trigger. `cancel` is the reply's: text so far is kept as cancelled, no tool starts, a running one finishes."""

    def __init__(self, host: Host, means: Means, reply: Reply, trigger: RoomEvent) -> None:
        self._host = host
        self._means = means
        self._reply = reply
        self._trigger = trigger
        self._feed = host.feed(reply.room_id)
        self._audience = _audience(host.context(reply.room_id), reply)
        self._source = EventSource(reply.channel_id or "", ChannelType.AI, Direction.OUTBOUND)
        self._unsaved = ""
        self._final = ""
        self._left = LONGEST_ANSWER
        self._task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Ends the stream at its next step; the rows are closed before run() returns."""
        if self._task is not None:
            self._task.cancel()

    async def run(self, context: AIContext) -> LanguageModelError | Exception | None:
        """Makes the whole answer; returns what broke it, None when it was finished or cancelled."""
        self._publish(
            "generation.started", {"initial_input_id": self._trigger.id, "purpose": "answer", "chain_depth": self._depth}
        )
        self._task = asyncio.current_task()
        try:
            if self._reply.cancelled is not None:
                await self._detached(self._reply.cancelled)
                return None
            with contained():
                await self._rounds(context)
        except asyncio.CancelledError:
            if self._task is not None and not self._task.cancelling():
                given_up = LanguageModelError("the model gave itself up")
                await self._failed(given_up)
                return given_up
            if self._reply.cancelled is None or self._task is None:
                raise
            self._task.uncancel()
            await self._detached(self._reply.cancelled)
        except Exception as error:  # noqa: BLE001 - the turn ends here, the call goes on
            await self._failed(error)
            return error
        else:
            self._publish("generation.finished", {"text": self._final, "input_ids": [self._trigger.id], **_FINISHED})
        finally:
            self._task = None
            self._reply.end()
        return None

    @property
    def _depth(self) -> int:
        return self._trigger.chain_depth + 1

    async def _rounds(self, context: AIContext) -> None:
        messages = list(context.messages)
        for tools_left in range(self._means.max_tool_rounds, -1, -1):
            calls = await self._stream(context, messages, with_tools=tools_left > 0)
            self._final = self._unsaved
            await self._save_text({})
            if not calls or tools_left == 0:
                return
            self._reply.pause()
            messages.append(Message("assistant", self._final, tool_calls=tuple(calls)))
            for number, call in enumerate(calls):
                outcome = await self._run_tool(call) if number < self._means.max_tool_calls else self._one_too_many(call)
                messages.append(Message("tool", outcome.text, tool_call_id=call.id))

    async def _stream(self, context: AIContext, messages: list[Message], *, with_tools: bool) -> list[ToolCall]:
        """One call of the model; its text goes to whoever sounds it as it comes."""
        head = (Message("system", context.system_prompt),) if context.system_prompt else ()
        prompt = Prompt((*head, *messages), tuple(context.tools) if with_tools else (), context.max_tokens, context.temperature)
        calls: list[ToolCall] = []
        half = ""
        async with aclosing(self._means.model.stream(prompt)) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                await asyncio.sleep(0)  # a model that waits for nothing must not stop everybody else
                match chunk:
                    case TextDelta(text):
                        text, half = _whole_piece(half + text)
                        self._say(text)
                    case ToolCall():
                        self._spend(len(chunk.arguments))
                        calls.append(_whole_call(chunk))
        if half:
            self._say(whole_text(half))
        return calls

    def _say(self, text: str) -> None:
        """Words go to whoever sounds them as they come. Raises LanguageModelError when they are too many."""
        text, rest = text[: self._left], text[self._left :]
        self._unsaved += text
        self._reply.write(text)
        if text:
            self._publish("text.delta", {"text": text}, durable=False)
        self._spend(len(text) + len(rest))

    def _spend(self, characters: int) -> None:
        self._left -= max(1, characters)
        if self._left < 0:
            raise LanguageModelError(f"the answer did not end within {LONGEST_ANSWER} characters", "length")

    def _one_too_many(self, call: ToolCall) -> ToolOutcome:
        log.warning("room %s: %s: tool %s is one too many", self._reply.room_id, self._source.channel_id, call.name)
        return ToolOutcome(error=f"not run: at most {self._means.max_tool_calls} tools may be called at once")

    async def _run_tool(self, call: ToolCall) -> ToolOutcome:
        """Runs a tool in a task of its own, so that a cut lets it finish and keeps its result."""
        content = ToolCallContent(call.id, call.name, call.arguments)
        try:
            await self._save(content, EventType.TOOL_CALL_START, {})
        except asyncio.CancelledError:
            await self._close_tool(content, ToolOutcome(error="not started: the answer was stopped"))
            raise
        self._publish("tool.started", {"call_id": call.id, "tool": call.name})
        done: asyncio.Future[ToolOutcome] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            outcome = await self._means.tools.run(call)
            if not done.cancelled():
                done.set_result(outcome)

        # When the engine ends under a tool, nobody must wait for what it would have said.
        self._host.spawn(work(), f"tool {call.name}").add_done_callback(lambda _: done.cancel())
        try:
            outcome = await asyncio.shield(done)
        except asyncio.CancelledError:
            if self._reply.cancelled is None:
                raise
            await self._close_tool(content, await done)
            raise
        await self._close_tool(content, outcome)
        return outcome

    async def _close_tool(self, content: ToolCallContent, outcome: ToolOutcome) -> None:
        ended = ToolCallContent(content.call_id, content.tool, content.arguments, outcome.result, outcome.error)
        await self._save(ended, EventType.TOOL_CALL_END, {})
        self._publish(
            "tool.ended", {"call_id": content.call_id, "tool": content.tool, "outcome": "error" if outcome.error else "ok"}
        )

    async def _detached(self, reason: str) -> None:
        await self._save_text({"cancelled": True, "cancellation_reason": reason})
        self._publish("generation.detached", {"input_ids": [self._trigger.id], "reason": reason, "cancellation": "confirmed"})

    async def _failed(self, error: Exception) -> None:
        category = error.category if isinstance(error, LanguageModelError) else "internal"
        log.error("room %s: %s failed to answer %s: %s", self._reply.room_id, self._source.channel_id, self._trigger.id, category)
        spoken = bool(self._reply.text.strip())
        try:
            await self._save_text({"failed": True})
            if not spoken and self._means.apology:
                self._reply.write(self._means.apology)
                await self._save(TextContent(self._means.apology), EventType.MESSAGE, {"failed": True})
        except StoreError:
            log.exception("room %s: what was said of the failed answer is not stored", self._reply.room_id)
        self._publish(
            "generation.failed",
            {
                "input_ids": [self._trigger.id],
                "error_type": type(error).__name__,
                "error_category": category,
                "stage": "model",
                "replayed": False,
                "effects": "not_rolled_back",
            },
        )

    async def _save_text(self, metadata: dict[str, JSON]) -> None:
        text, self._unsaved = self._unsaved, ""
        if text.strip():
            self._publish("assistant.message", {"text": text, "provisional": True, "input_ids": [self._trigger.id]})
            await self._save(TextContent(text.strip()), EventType.MESSAGE, metadata)

    async def _save(self, content: Content, type: EventType, metadata: dict[str, JSON]) -> None:
        event = RoomEvent(
            id="",
            room_id=self._reply.room_id,
            source=self._source,
            content=content,
            created_at=clock.utc(),
            type=type,
            visibility=self._reply.visibility,
            correlation_id=self._reply.id,
            metadata=metadata,
        )
        await self._host.answer(event, self._trigger)

    def _publish(self, type: str, data: dict[str, JSON], *, durable: bool = True) -> None:
        self._feed.publish(
            type,
            data,
            durable=durable,
            channel_id=self._source.channel_id,
            generation_id=self._reply.id,
            responds_to=self._trigger.id,
            audience=self._audience,
        )


def _whole_piece(text: str) -> tuple[str, str]:
    """The text with whole characters only, and the half of one at its end, whose other half may come with the next piece."""
    held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return whole_text(text[: len(text) - len(held)]), held


def _whole_call(call: ToolCall) -> ToolCall:
    return ToolCall(whole_text(call.id), whole_text(call.name), whole_text(call.arguments))


def _audience(room: RoomContext, reply: Reply) -> Audience:
    """Words go to everybody's feed as they come only when everybody may know them."""
    seat = next((binding for binding in room.bindings if binding.channel_id == reply.channel_id), None)
    public = seat is not None and seat.can_write and reply.visibility in (ALL, "transport")
    return "all" if public else "host"


_FINISHED: dict[str, JSON] = {"disposition": "manager_turn_finished", "active_job_ids": [], "accepted_input_ids": []}
