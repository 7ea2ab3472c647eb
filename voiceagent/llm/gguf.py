"""A GGUF file of the user's, run in this process by llama.cpp (the extra `gguf`); imported only when it was chosen."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from openai.types.chat import ChatCompletionChunk

from voiceagent import clock
from voiceagent.errors import LanguageModelError
from voiceagent.llm.chat import Answer, request
from voiceagent.llm.model import Chunk, Done, Prompt, TextDelta
from voiceagent.llm.settings import LanguageModelSettings

try:
    import xllamacpp
except ImportError as error:
    raise LanguageModelError(
        "a GGUF model needs the package xllamacpp: pip install 'voiceagent[gguf]'", category="missing"
    ) from error

_MAX_TOKENS = 1024
_SLOTS = 2  # answers at the same time; a third waits


class GgufModel:
    """One model file, loaded once and shared by all rooms.

    Tokens come from a worker thread through a queue that holds a whole answer at most, so the thread never waits for the loop.
    llama.cpp's own HTTP door on loopback is kept shut by a random key.
    """

    schemas = True

    def __init__(self, path: Path, settings: LanguageModelSettings) -> None:
        """Loads the file (seconds; blocks). Raises LanguageModelError when it is missing or no GGUF model."""
        if not path.is_file():
            raise LanguageModelError(f"GGUF model {path}: there is no such file", category="model")
        self.name = path.stem
        self._settings = settings
        self._length = settings.max_tokens or _MAX_TOKENS
        try:
            self._server = xllamacpp.Server(_parameters(path, settings))
        except (RuntimeError, ValueError):
            raise LanguageModelError(f"GGUF model {path}: llama.cpp cannot load it", category="model") from None
        self._executor = ThreadPoolExecutor(max_workers=_SLOTS, thread_name_prefix="gguf")

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """Yields text as it is made, whole tool calls, then Done. Closing it stops the model at its next token.

        Raises LanguageModelError of category timeout, broke_off or failed.
        """
        loop = asyncio.get_running_loop()
        answer = Answer()
        run = _Run(loop, (prompt.max_tokens or self._length) + 16)
        body = request(prompt, self._settings.temperature, self._length)
        work = loop.run_in_executor(self._executor, self._run, body, run)
        try:
            async with contextlib.aclosing(run.chunks(self._settings)) as chunks:
                async for chunk in chunks:
                    text = answer.take(chunk)
                    if text:
                        yield TextDelta(text)
            await self._finished(work)
        finally:
            run.stopped = True
        if answer.reason is None:
            raise LanguageModelError(f"{self.name} broke off", category="broke_off")
        for call in answer.calls():
            yield call
        yield Done(reason=answer.reason, usage=answer.usage)

    async def _finished(self, work: asyncio.Future[None]) -> None:
        try:
            with clock.outside():
                await work
        except (RuntimeError, ValueError):
            raise LanguageModelError(f"{self.name} refuses the prompt or failed on it", category="failed") from None

    def _run(self, body: dict[str, object], run: "_Run") -> None:
        try:
            self._server.handle_chat_completions(body, run.take)
        finally:
            run.end()


class _Run:
    """One answer on its way from the worker thread to the loop. `stopped` is read by the thread at every token."""

    def __init__(self, loop: asyncio.AbstractEventLoop, most: int) -> None:
        self.stopped = False
        self._loop = loop
        self._left = most
        self._queue: asyncio.Queue[dict[str, object] | None] = asyncio.Queue()

    def take(self, chunk: dict[str, object]) -> bool:
        """Called in the worker thread; True stops the model."""
        self._left -= 1
        if self.stopped or self._left < 0:
            return True
        self._loop.call_soon_threadsafe(self._queue.put_nowait, chunk)
        return False

    def end(self) -> None:
        """Called in the worker thread when nothing more comes."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    async def chunks(self, settings: LanguageModelSettings) -> AsyncGenerator[ChatCompletionChunk]:
        """The chunks in order, until the work is done. Raises LanguageModelError when the next takes too long."""
        wait_ms = settings.first_token_ms
        while True:
            try:
                with clock.outside():
                    async with asyncio.timeout(wait_ms / 1000):
                        chunk = await self._queue.get()
            except TimeoutError:
                raise LanguageModelError("the GGUF model did not answer in time", category="timeout") from None
            if chunk is None:
                return
            wait_ms = settings.between_ms
            yield ChatCompletionChunk.model_validate({"created": 0, "model": "", "id": "", **chunk})


def _parameters(path: Path, settings: LanguageModelSettings) -> "xllamacpp.CommonParams":
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = settings.context_tokens * _SLOTS
    parameters.n_parallel = _SLOTS
    parameters.cpuparams.n_threads = settings.threads
    parameters.cpuparams_batch.n_threads = settings.threads
    parameters.verbosity = -1
    parameters.api_keys = [secrets.token_urlsafe(32)]
    parameters.ui = False
    return parameters
