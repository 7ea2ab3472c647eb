"""A request to a model that is begun before it is sure to be wanted: its stream, kept within bounds until somebody takes it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Final

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Chunk, Done, LanguageModel, Prompt, TextDelta
from voiceagent.room.bounded import contained, from_within
from voiceagent.room.frozen import whole_text
from voiceagent.room.reply import GIVEN, Reply

MOST_CHUNKS: Final = 256
"""How many chunks are kept; a model that has more waits until they are read."""

CLOSING_MS: Final = 1_000
"""How long a reader waits for the model to have stopped."""


class HeadStart:
    """One request. Its words go to `draft` as they come, until it is taken or dropped; a call of a tool is a chunk like others.

    `chunks()` gives what came and then what comes, once. `drop()` stops the model at its source; so does leaving `chunks()`.
    """

    def __init__(self, model: LanguageModel, prompt: Prompt, draft: Reply) -> None:
        self.prompt = prompt
        self._model = model
        self._draft = draft
        self._chunks: deque[Chunk] = deque()
        self._characters = 0
        self._usage: Mapping[str, int] = {}
        self._error: Exception | None = None
        self._over = False
        self._more = asyncio.Event()
        self._space = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.taken = False

    @property
    def fits(self) -> bool:
        """Whether it can still be taken: nobody has, and the model has not failed at it."""
        return not self.taken and self._error is None

    @property
    def cost(self) -> dict[str, int]:
        """What it has cost so far: characters written, and tokens by kind where the model has said."""
        return {"characters": self._characters, **self._usage}

    def begin(self, spawn: Callable[[Coroutine[object, object, None], str], asyncio.Task[None]]) -> None:
        """Asks the model, in a task of `spawn`."""
        self._task = spawn(self._run(), f"head start of {self._draft.id}")
        self._task.add_done_callback(self._ended)

    def drop(self) -> None:
        """Nobody wants it."""
        self._draft.cancel("forgone")
        if self._task is not None:
            self._task.cancel()

    async def chunks(self) -> AsyncIterator[Chunk]:
        """The model's chunks from the first one on. Raises what the model raised."""
        self.taken = True
        self._draft.cancel(GIVEN)
        try:
            while self._chunks or not self._over:
                if self._chunks:
                    self._space.set()
                    yield self._chunks.popleft()
                else:
                    self._more.clear()
                    await self._more.wait()
            if self._error is not None:
                raise self._error
        finally:
            await self._stop()

    async def _run(self) -> None:
        try:
            with contained():
                async with aclosing(self._model.stream(self.prompt)) as chunks:  # type: ignore[type-var]
                    async for chunk in chunks:
                        await asyncio.sleep(0)  # a model that waits for nothing must not stop everybody else
                        await self._keep(chunk)
        except asyncio.CancelledError:
            if not from_within():
                raise
            self._error = LanguageModelError("the model gave itself up")
        except Exception as error:  # noqa: BLE001 - told to whoever takes it, and to nobody else
            self._error = error

    async def _keep(self, chunk: Chunk) -> None:
        while len(self._chunks) >= MOST_CHUNKS:
            self._space.clear()
            await self._space.wait()
        self._chunks.append(chunk)
        self._more.set()
        match chunk:
            case TextDelta(text):
                self._characters += len(text)
                self._draft.write(whole_text(text))
            case Done(usage=usage):
                self._usage = dict(usage)
            case _:
                pass

    def _ended(self, task: "asyncio.Task[None]") -> None:
        if task.cancelled() and self._error is None:
            self._error = LanguageModelError("the request was stopped")
        self._over = True
        self._more.set()
        self._draft.pause()  # its last sentence is whole

    async def _stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait((self._task,), timeout=CLOSING_MS / 1000)
