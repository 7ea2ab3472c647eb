"""One whole JSON value from a model that is held to a schema."""

import json
from contextlib import aclosing

from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import LanguageModel, Prompt, TextDelta
from voiceagent.values import JSON


async def written(model: LanguageModel, prompt: Prompt) -> dict[str, JSON]:
    """The JSON object that a model writes for a prompt with a schema. Raises LanguageModelError when it writes anything else."""
    async with aclosing(model.stream(prompt)) as chunks:  # type: ignore[type-var]
        pieces = [chunk.text async for chunk in chunks if isinstance(chunk, TextDelta)]
    try:
        value = json.loads("".join(pieces))
    except ValueError as error:
        raise LanguageModelError(f"{model.name} was asked for JSON and wrote something else", "bad_output") from error
    if not isinstance(value, dict):
        raise LanguageModelError(f"{model.name} was asked for a JSON object and wrote a {type(value).__name__}", "bad_output")
    return value
