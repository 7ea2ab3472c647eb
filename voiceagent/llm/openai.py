"""Any server that speaks OpenAI's chat completions (OpenAI, Ollama, vLLM, llama.cpp): streamed, bounded in time, discreet."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import httpx2
import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from voiceagent import clock
from voiceagent.errors import LanguageModelError
from voiceagent.llm.chat import Answer, request
from voiceagent.llm.choosing import chances
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.llm.settings import LanguageModelSettings

_T = TypeVar("_T")

_NO_KEY = "none"
_MOST_CHANCES = 20  # the most that OpenAI and vLLM tell
_FAILURES = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, TimeoutError, ValueError, OSError)
_KINDS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    ((openai.APITimeoutError, httpx2.TimeoutException, TimeoutError), "timeout", "did not answer in time"),
    ((openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError, OSError), "connection", "cannot be reached"),
    ((openai.AuthenticationError, openai.PermissionDeniedError), "auth", "refuses the key"),
    (openai.RateLimitError, "rate_limit", "is out of requests or credit"),
    (openai.InternalServerError, "server", "failed"),
    (openai.APIStatusError, "bad_request", "refuses the request"),
    (Exception, "server", "answered with rubbish"),
)
"""Kinds of failure, the narrower first."""


class OpenAIModel:
    """One model at one server. The client keeps connections open between calls; `close` ends them.

    Nothing is retried: in a conversation a late answer is worth less than a clear failure.
    """

    schemas = True

    def __init__(self, base_url: str, model: str, api_key: str | None, settings: LanguageModelSettings) -> None:
        """`settings` gives the waits, and the temperature and length for prompts that name none."""
        self.name = model
        self._settings = settings
        self._renames_length = "//api.openai.com" in base_url  # its newer models refuse max_tokens, others know nothing else
        waits = openai.Timeout(
            max(settings.first_token_ms, settings.between_ms) / 1000 + 1,  # the waits below are the ones that count
            connect=settings.connect_ms / 1000,
        )
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or _NO_KEY, timeout=waits, max_retries=0)
        self._completions = self._client.chat.completions  # here, where it may block: the first use takes 47 ms to import it,
        ChatCompletionChunk.model_rebuild()  # and the first chunk 11 to build this

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields text as it arrives, then the whole tool calls, then Done with the counted tokens. Closing it ends the request.

        Raises LanguageModelError of category auth, rate_limit, bad_request, server, timeout, connection or broke_off.
        """
        answer = Answer()
        first_by = clock.now() + self._settings.first_token_ms
        stream = await self._open(prompt, first_by)
        try:
            while (chunk := await self._next(stream, answer, first_by)) is not None:
                text = answer.take(chunk)
                if text:
                    yield TextDelta(text)
        finally:
            with clock.outside():
                await stream.close()
        if answer.reason is None:
            raise LanguageModelError(f"{self.name} broke off", category="broke_off")
        for call in answer.calls():
            yield call
        yield Done(reason=answer.reason, usage=answer.usage)

    async def choose(self, prompt: Prompt, options: Sequence[str]) -> Mapping[str, float]:
        """How probable each of `options`, texts of one token each, is as the answer; they add up to 1.

        Raises LanguageModelError, of category no_chances when the server tells no probabilities.
        """
        asked = replace(prompt, max_tokens=1, temperature=1.0, schema=None, tools=())  # 1 leaves the probabilities as they are
        body = self._request(asked) | {"stream": False, "logprobs": True, "top_logprobs": _MOST_CHANCES}
        del body["stream_options"]
        create = self._completions.create
        try:
            asking = cast(Awaitable[ChatCompletion], create(**body))  # type: ignore[call-overload]
            answer = await _within(asking, self._settings.first_token_ms)
        except _FAILURES as error:
            raise self._failure(error, began=False) from None
        return chances(self._first_token(answer), options)

    def _first_token(self, answer: ChatCompletion) -> list[tuple[str, float]]:
        """What the model might have begun with, and the logarithm of how probably."""
        try:
            told = answer.choices[0].logprobs
            tokens = [(top.token, float(top.logprob)) for top in told.content[0].top_logprobs] if told and told.content else []
        except (AttributeError, IndexError, TypeError, ValueError):
            tokens = []
        if not tokens:
            raise LanguageModelError(f"{self.name} does not tell how probable its words are", category="no_chances")
        return tokens

    async def _open(self, prompt: Prompt, by_ms: int) -> AsyncStream[ChatCompletionChunk]:
        request = self._request(prompt)
        create = self._completions.create
        opening = cast(Awaitable[AsyncStream[ChatCompletionChunk]], create(**request))  # type: ignore[call-overload]
        try:
            return await _within(opening, by_ms - clock.now())
        except _FAILURES as error:
            raise self._failure(error, began=False) from None

    async def _next(self, stream: AsyncStream[ChatCompletionChunk], answer: Answer, first_by: int) -> ChatCompletionChunk | None:
        wait_ms = self._settings.between_ms if answer.began else first_by - clock.now()
        try:
            return await _within(anext(stream), wait_ms)
        except StopAsyncIteration:
            return None
        except _FAILURES as error:
            raise self._failure(error, began=answer.began) from None

    def _request(self, prompt: Prompt) -> dict[str, object]:
        body = request(prompt, self._settings.temperature, self._settings.max_tokens)
        if self._renames_length and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        return {"model": self.name, **body}

    def _failure(self, error: Exception, began: bool) -> LanguageModelError:
        """The error without the server's words: a body may hold the key or the prompt."""
        category, what = _category(error)
        if began and category in ("connection", "server"):
            return LanguageModelError(f"{self.name} broke off", category="broke_off")
        status = f" (HTTP {error.status_code})" if isinstance(error, openai.APIStatusError) else ""
        return LanguageModelError(f"{self.name} {what}{status}", category=category)


async def _within(wait: Awaitable[_T], wait_ms: int) -> _T:
    with clock.outside():
        async with asyncio.timeout(max(0, wait_ms) / 1000):
            return await wait


def _category(error: Exception) -> tuple[str, str]:
    return next((category, what) for kinds, category, what in _KINDS if isinstance(error, kinds))
