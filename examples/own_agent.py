"""An agent of your own behind the page: a tool that it may call, and whatever model your settings name.

    python examples/own_agent.py [SETTINGS.toml]

With a model that calls tools (say `[llm] brain = "openai"`, `url = "http://localhost:11434/v1"`, `model = "llama3.1"`),
ask it for the number of free seats. `Choices` takes a recognizer (`stt`), a voice (`tts`), a model (`provider`) or a policy in
the same way.
"""

import sys
from pathlib import Path

from voiceagent import config
from voiceagent.app import Choices
from voiceagent.cli.serve import open_door

FREE = {"friday": 12, "saturday": 0}


async def free_seats(day: str) -> str:
    """How many seats are free on a day of the week."""
    seats = FREE.get(day.lower())
    return f"nothing is planned on {day}" if seats is None else f"{seats} seats are free on {day}"


if __name__ == "__main__":
    settings = config.load(Path(sys.argv[1]) if len(sys.argv) > 1 else None, options={"agent.name": "Iris"})
    open_door(settings, Choices(tools=(free_seats,)))
