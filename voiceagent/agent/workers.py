"""Those who work on an event in place of the agent that answers it."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import LanguageModel, Message, Prompt, TextDelta

LONGEST = 4_000
"""How many characters of a worker's words are read."""


@runtime_checkable
class Works(Protocol):
    """Somebody who can be asked: `answer` is cancelled when it takes too long, and may raise."""

    @property
    def name(self) -> str:
        """What the others call it."""
        ...

    async def answer(self, messages: Sequence[Message]) -> str:
        """Its words on a conversation whose last message is what to answer."""
        ...


@dataclass(frozen=True, slots=True)
class Worker:
    """A language model with a name and a part of its own; it reads what is said in the conversation that the agent may know."""

    name: str
    provider: LanguageModel
    system_prompt: str = ""

    async def answer(self, messages: Sequence[Message]) -> str:
        """The model's text. Raises LanguageModelError."""
        head = (Message("system", self.system_prompt),) if self.system_prompt else ()
        said = [message for message in messages if message.role != "tool" and not message.tool_calls]
        text = ""
        async with aclosing(self.provider.stream(Prompt((*head, *said)))) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                if isinstance(chunk, TextDelta):
                    text += chunk.text
                if len(text) > LONGEST:
                    break
        if not text.strip():
            raise LanguageModelError(f"worker {self.name} said nothing")
        return text.strip()[:LONGEST]


def as_workers(given: Sequence[Works | LanguageModel]) -> tuple[Works, ...]:
    """Workers as they are, and models under their own names. Raises ValueError when there are none, or two of one name."""
    made = tuple(one if isinstance(one, Works) else Worker(one.name, one) for one in given)
    if not made:
        raise ValueError("name at least one worker")
    if len({one.name for one in made}) != len(made):
        raise ValueError("two workers have the same name: rename one (Worker(name, model))")
    return made
