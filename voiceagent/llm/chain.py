"""Language models in a chain: when the first fails or is late with its first word, the next one answers the same prompt."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from voiceagent import clock
from voiceagent.errors import LanguageModelError
from voiceagent.fallback import COOL_DOWN_MS, Fallback, closed
from voiceagent.llm.model import Chunk, LanguageModel, Prompt, follows_schemas

log = logging.getLogger(__name__)

LATE_MS: Final = 5_000
"""How long a model may take for its first word before the next one is asked; the last of a chain has its own bounds."""


class ModelChain:
    """Asks its models in order. What has begun to answer is not begun again; one that fails is asked last for a while."""

    def __init__(self, models: Sequence[LanguageModel], late_ms: int = LATE_MS, cool_down_ms: int = COOL_DOWN_MS) -> None:
        """Raises ValueError when there is no model."""
        self._chain = Fallback(models, cool_down_ms)
        self._late = late_ms

    @property
    def name(self) -> str:
        """The name of the model that is asked first."""
        return self._chain.order(clock.now())[0].name

    @property
    def schemas(self) -> bool:
        """Whether all of them can be held to a schema."""
        return all(follows_schemas(model) for model in self._chain.engines)

    async def stream(self, prompt: Prompt) -> AsyncIterator[Chunk]:
        """The chunks of one model. Raises what the last one raises, and what one raises that had begun."""
        order = self._chain.order(clock.now())
        for model in order:
            chunks = model.stream(prompt)
            first: Chunk | None = None
            try:
                async with asyncio.timeout(None if model is order[-1] else self._late / 1000):
                    first = await anext(chunks, None)
                if first is None:
                    raise LanguageModelError(f"{model.name} said nothing", category="broke_off")
                yield first
                async for chunk in chunks:
                    yield chunk
            except Exception as error:
                self._failed(model, error)
                if model is order[-1] or first is not None:
                    raise
            else:
                self._chain.worked(model)
                return
            finally:
                if isinstance(chunks, AsyncGenerator):
                    await chunks.aclose()

    async def close(self) -> None:
        """Closes all of them."""
        await closed(*self._chain.engines)

    def _failed(self, model: LanguageModel, error: Exception) -> None:
        told = f"no word within {self._late} ms" if isinstance(error, TimeoutError) else str(error)
        log.warning("a language model failed: %s", told)
        self._chain.failed(model, clock.now())
