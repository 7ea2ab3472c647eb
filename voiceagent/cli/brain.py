"""How a brain is named on the command line: `--llm KIND` or `--llm KIND:WHAT`."""

from pathlib import Path

from voiceagent.errors import ConfigError
from voiceagent.values import JSON

HELP = "Brain: notes, notes:FILE, echo, canned:FILE, gguf:FILE or openai:MODEL; without it the settings' one."
_TAKES = {"notes": "llm.notes", "echo": None, "canned": "llm.canned", "gguf": "llm.gguf", "openai": "llm.model"}
_NEEDS = ("canned", "gguf")


def brain_options(llm: str | None) -> dict[str, JSON]:
    """The settings that the option stands for; none when it was not given. Raises ConfigError, naming what is wrong."""
    if llm is None:
        return {}
    kind, _, what = llm.partition(":")
    if kind not in _TAKES:
        raise ConfigError(f"--llm {llm}: unknown brain `{kind}`; known: {', '.join(_TAKES)}")
    key = _TAKES[kind]
    if what and key is None:
        raise ConfigError(f"--llm {llm}: {kind} takes nothing after it")
    if not what and kind in _NEEDS:
        raise ConfigError(f"--llm {kind}: name a file, as in {kind}:FILE")
    if kind in _NEEDS and not Path(what).is_file():
        raise ConfigError(f"--llm {llm}: there is no file {what}")
    return {"llm.brain": kind, **({key: what} if key is not None and what else {})}
