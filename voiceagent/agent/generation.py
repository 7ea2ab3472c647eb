"""One answer in the making: the model's stream, its tools, what is said to it meanwhile, and its end, whichever it is."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, Literal

from voiceagent.agent.account import Account
from voiceagent.agent.announcer import Announcer, Opening, category_of, reason_of
from voiceagent.agent.context import AIContext, prompt_of
from voiceagent.agent.filler import Filler
from voiceagent.agent.headstart import HeadStart
from voiceagent.agent.inbox import Given, Inbox
from voiceagent.agent.native import Attempt, Native
from voiceagent.agent.rows import Rows
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Tool, Toolbox, ToolOutcome, Tools
from voiceagent.errors import LanguageModelError, StoreError
from voiceagent.llm.model import Chunk, Done, LanguageModel, Message, Prompt, Steered, TextDelta, ToolCall
from voiceagent.room.bounded import contained
from voiceagent.room.cause import by_agent
from voiceagent.room.channel import Host
from voiceagent.room.events import EventType, ToolCallContent
from voiceagent.room.frozen import whole_text
from voiceagent.room.reply import Reply
from voiceagent.values import JSON

log = logging.getLogger(__name__)

LONGEST_ANSWER: Final = 200_000
"""How many characters a model may write for one answer, and how many pieces it may send."""

YIELDS: Final = 3
"""Steps of the loop that an answer waits at its end, for what the room has taken to reach it."""


@dataclass(frozen=True, slots=True)
class Means:
    """What an agent makes answers with."""

    model: LanguageModel
    tools: Tools
    apology: str
    filler: str
    filler_after_ms: int
    max_tool_rounds: int
    max_tool_calls: int


def means_of(model: LanguageModel, tools: Iterable[Tool | Callable[..., Awaitable[object]]], settings: AgentSettings) -> Means:
    """A model and its tools within an agent's limits."""
    toolbox = Toolbox(tools, settings.tool_timeout_ms)
    filler = (settings.filler, settings.filler_after_ms)
    return Means(model, toolbox, settings.apology, *filler, settings.max_tool_rounds, settings.max_tool_calls)


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended, and why. `error` is what broke it; `left` was to be taken in and was not, `unsure` is what its model
    took while it answered and is not known to have used."""

    kind: Literal["finished", "failed", "detached"]
    inputs: tuple[str, ...]
    reason: str = ""
    error: Exception | None = None
    left: tuple[Given, ...] = ()
    unsure: tuple[str, ...] = ()


def _none() -> Sequence[str]:
    return ()


class Generation:
    """Answers what opened it, and what it takes in later. `cancel` is the reply's: text so far is kept as cancelled, no tool
    starts, a running one finishes. `jobs` names the background jobs that still run when it ends, `asked` the questions that were
    asked in it; `start` is the first request, where it was begun ahead, and `spent` what was begun for nothing."""

    def __init__(
        self,
        host: Host,
        means: Means,
        reply: Reply,
        opening: Opening,
        *,
        jobs: Callable[[], Sequence[str]] = _none,
        asked: Callable[[], Sequence[str]] = _none,
        start: HeadStart | None = None,
        spent: Mapping[str, int] | None = None,
    ) -> None:
        self.inbox = Inbox()
        self.native = Native(means.model)
        self.boundary = False
        self._account = Account(opening.inputs)
        self._told = Announcer(host, reply, opening, self._account)
        self._rows = Rows(host, reply, opening.trigger, self._account)
        self._host = host
        self._means = means
        self._reply = reply
        self._opening = opening
        self._jobs = jobs
        self._asked = asked
        self._streaming = False
        self._unsaved = ""
        self._unsaved_at = 0
        self._final = ""
        self._usage: dict[str, JSON] = dict(spent or {})
        self._start = start
        self._left = LONGEST_ANSWER
        self._filler = Filler(reply, means.filler, means.filler_after_ms, self._say)
        self._task: asyncio.Task[None] | None = None

    @property
    def steerable(self) -> bool:
        """Whether a request runs that takes input, and nothing waits that came before."""
        return self._streaming and self.native.ready and not self.inbox

    def begin(self) -> None:
        """Tells hosts that the answer is being made, before anything is."""
        self._told.started()

    def stop(self) -> None:
        """Ends the stream at its next step; the rows are closed before run() returns."""
        if self._task is not None:
            self._task.cancel()

    def abandon(self, reason: str) -> Ending:
        """Ends the answer here and now, whatever of it still runs: the room or the engine ends."""
        left = self.inbox.close()
        self._rows.shut(self._told.abandoned(reason_of(reason)))
        return Ending("detached", self._account.inputs, reason_of(reason), left=left, unsure=self.native.pending())

    def snapshot(self) -> dict[str, JSON]:
        """The answer as far as it is made."""
        return {
            "generation_id": self._reply.id,
            "channel_id": self._reply.channel_id,
            "responds_to": self._opening.trigger.id,
            "purpose": self._opening.purpose,
            "text": self._reply.text,
            "audience": self._told.audience,
            **self._account.listed(),
        }

    async def run(self, context: AIContext) -> Ending:
        """Makes the whole answer."""
        self._task = asyncio.current_task()
        try:
            if self._reply.cancelled is not None:
                return await self._given_up(self._reply.cancelled)
            with contained():
                await self._rounds(context)
        except asyncio.CancelledError:
            if self._task is not None and not self._task.cancelling():
                return await self._failed(LanguageModelError("the model gave itself up"))
            if self._reply.cancelled is None or self._task is None:
                raise
            self._task.uncancel()
            return await self._given_up(self._reply.cancelled)
        except Exception as error:  # noqa: BLE001 - the turn ends here, the call goes on
            return await self._failed(error)
        else:
            self._told.finished(self._final, self._jobs(), self._asked(), self._usage)
            return Ending("finished", self._account.inputs, unsure=self.native.pending())
        finally:
            self._task = None
            self._reply.end()

    async def steer(self, given: Given) -> Attempt:
        """Hands an input to the model while its request runs."""
        self._told.steering("sent", given.input_id)
        attempt = await self.native.attempt(given)
        if attempt != "sent":
            self._told.steering("failed", given.input_id, reason=attempt)
        return attempt

    async def _rounds(self, context: AIContext) -> None:
        messages = list(context.messages)
        tools_left = self._means.max_tool_rounds
        while True:
            calls = await self._stream(context, messages, with_tools=tools_left > 0)
            said = self._unsaved
            stored = await self._save_text({})
            if calls and tools_left > 0:
                tools_left -= 1
                await self._call_tools(messages, said, calls)
            elif await self._goes_on():
                messages.append(Message("assistant", said))
            else:
                self._final = stored
                return
            self._take_in(messages)

    async def _goes_on(self) -> bool:
        """Whether something came that this answer has to take in; if not, nothing more is admitted."""
        for _ in range(YIELDS):
            await asyncio.sleep(0)
        if self.inbox:
            self._reply.pause()
            return True
        self.inbox.close()
        return False

    def _take_in(self, messages: list[Message]) -> None:
        """What waits goes into the next request, before anything that comes later can."""
        self.boundary = False
        for given in self.inbox.take():
            messages.append(given.message)
            self._account.took(given.input_id)
            self._told.delivered(given.input_id, "request_boundary")

    async def _stream(self, context: AIContext, messages: list[Message], *, with_tools: bool) -> list[ToolCall]:
        """One call of the model; its text goes to whoever sounds it as it comes."""
        prompt = prompt_of(context, messages, with_tools=with_tools)
        calls: list[ToolCall] = []
        half = ""
        request = self._told.asks(self._means.model.name)
        spent: Mapping[str, int] | None = None
        self._streaming = True
        try:
            async with aclosing(self._ask(prompt)) as chunks:  # type: ignore[type-var]
                async for chunk in chunks:
                    await asyncio.sleep(0)  # a model that waits for nothing must not stop everybody else
                    match chunk:
                        case TextDelta(text):
                            text, half = _whole_piece(half + text)
                            self._say(text)
                        case ToolCall():
                            self._spend(len(chunk.arguments))
                            calls.append(_whole_call(chunk))
                        case Steered():
                            await self._steered(chunk)
                        case Done():
                            self._count(chunk)
                            spent = chunk.usage
        finally:
            self._streaming = False
            request.over(spent)
        if half:
            self._say(whole_text(half))
        return calls

    def _ask(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """The model's stream: the one that was begun ahead, if it is this request's."""
        start, self._start = self._start, None
        if start is not None and start.fits and start.prompt == prompt:
            return start.chunks()
        return self._means.model.stream(prompt)

    async def _steered(self, told: Steered) -> None:
        """The model tells how an input fares that was handed to it."""
        if not self.native.knows(told.input_id):
            return
        again = self.native.read(told)
        self._told.steering(told.state, told.input_id, told.response_id)
        match told.state:
            case "accepted":
                self._account.accepts(told.input_id)
            case "applied":
                await self._save_text({})
                self._account.took(told.input_id)
                self._told.delivered(told.input_id, "native")
            case "failed":
                self._account.dropped(told.input_id)
                if again is not None:
                    self.inbox.offer(again)
                    self._host.ledger(self._reply.room_id).queued(
                        again.input_id, self._reply.channel_id or "", "request_boundary", self._reply.id
                    )

    def _count(self, done: Done) -> None:
        for kind, tokens in done.usage.items():
            before = self._usage.get(kind)
            self._usage[kind] = tokens + (before if isinstance(before, int) else 0)

    def _say(self, text: str) -> None:
        """Words go to whoever sounds them as they come. Raises LanguageModelError when they are too many."""
        text, rest = text[: self._left], text[self._left :]
        at = self._reply.length
        if not self._unsaved:
            self._unsaved_at = at
        self._unsaved += text
        self._reply.write(text)
        if text:
            self._told.delta(text, at)
        self._spend(len(text) + len(rest))

    def _spend(self, characters: int) -> None:
        self._left -= max(1, characters)
        if self._left < 0:
            raise LanguageModelError(f"the answer did not end within {LONGEST_ANSWER} characters", "length")

    async def _call_tools(self, messages: list[Message], said: str, calls: list[ToolCall]) -> None:
        """A round of tools; what is said to the agent meanwhile is in the request that follows."""
        self.boundary = True
        self._reply.pause()
        messages.append(Message("assistant", said, tool_calls=tuple(calls)))
        for number, call in enumerate(calls):
            outcome = await self._run_tool(call) if number < self._means.max_tool_calls else self._one_too_many(call)
            messages.append(Message("tool", outcome.text, tool_call_id=call.id))

    def _one_too_many(self, call: ToolCall) -> ToolOutcome:
        log.warning("room %s: %s: tool %s is one too many", self._reply.room_id, self._reply.channel_id, call.name)
        return ToolOutcome(error=f"not run: at most {self._means.max_tool_calls} tools may be called at once")

    async def _run_tool(self, call: ToolCall) -> ToolOutcome:
        """Runs a tool in a task of its own, so that a cut lets it finish and keeps its result."""
        content = ToolCallContent(call.id, call.name, call.arguments)
        try:
            await self._rows.call(content, EventType.TOOL_CALL_START)
        except asyncio.CancelledError:
            await self._close_tool(content, ToolOutcome(error="not started: the answer was stopped"))
            raise
        self._told.tool_started(call.id, call.name)
        done: asyncio.Future[ToolOutcome] = asyncio.get_running_loop().create_future()

        async def work() -> None:
            with by_agent():
                outcome = await self._means.tools.run(call)
            if not done.cancelled():
                done.set_result(outcome)

        # When the engine ends under a tool, nobody must wait for what it would have said.
        self._host.spawn(work(), f"tool {call.name}").add_done_callback(lambda _: done.cancel())
        try:
            outcome = await self._filler.over(done)
        except asyncio.CancelledError:
            if self._reply.cancelled is None:
                raise
            await self._close_tool(content, await done)
            raise
        await self._close_tool(content, outcome)
        return outcome

    async def _close_tool(self, content: ToolCallContent, outcome: ToolOutcome) -> None:
        ended = ToolCallContent(content.call_id, content.tool, content.arguments, outcome.result, outcome.error)
        await self._rows.call(ended, EventType.TOOL_CALL_END)
        self._told.tool_ended(content.call_id, content.tool, "error" if outcome.error else "ok")

    async def _given_up(self, reason: str) -> Ending:
        left = self.inbox.close()
        await self._save_text({"cancelled": True, "cancellation_reason": reason})
        self._told.detached(reason_of(reason))
        return Ending("detached", self._account.inputs, reason_of(reason), left=left, unsure=self.native.pending())

    async def _failed(self, error: Exception) -> Ending:
        self._task = None  # nothing is left to stop, and whoever gives the answer up now must not lose its end
        left = self.inbox.close()
        stage, category = _stage(error), category_of(error)
        room_id, trigger_id = self._reply.room_id, self._opening.trigger.id
        log.error("room %s: %s failed to answer %s: %s", room_id, self._reply.channel_id, trigger_id, category)
        spoken = bool(self._reply.text.strip())
        try:
            await self._save_text({"failed": True})
            if not spoken and self._means.apology and self._reply.cancelled is None:
                self._reply.write(self._means.apology)
                await self._rows.text(self._means.apology, {"failed": True})
        except StoreError:
            log.exception("room %s: what was said of the failed answer is not stored", room_id)
        self._told.failed(error, stage)
        return Ending("failed", self._account.inputs, stage, error, left, self.native.pending())

    async def _save_text(self, metadata: dict[str, JSON]) -> str:
        """Stores the words of a model's call; returns them as the room has them."""
        text, self._unsaved = self._unsaved, ""
        if not text.strip():
            return ""
        self._told.message(text, self._unsaved_at)
        return await self._rows.text(text.strip(), metadata)


def _stage(error: Exception) -> str:
    if isinstance(error, StoreError):
        return "store"
    return "native" if category_of(error) == "protocol" else "model"


def _whole_piece(text: str) -> tuple[str, str]:
    """The text with whole characters only, and the half of one at its end, whose other half may come with the next piece."""
    held = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return whole_text(text[: len(text) - len(held)]), held


def _whole_call(call: ToolCall) -> ToolCall:
    return ToolCall(whole_text(call.id), whole_text(call.name), whole_text(call.arguments))
